"""The judge: runs the test of a claim on all its readings and derives the verdict from the violations."""

import json
import re
import time
from importlib import import_module

import numpy as np

from befrl.claims.pages import GROUPS, Page, number_of

NOTHING = {"survives": None, "violation": None, "grade": "argument", "instance": {}}


def verdict_of(printed_survives: bool, repair: dict | None, undecided: str, settled: bool) -> str:
    """The verdict, by the rule of the ledger; `repair` is the first that survives.

    settled: the derivations agree on whether the printed statement is true, or the page says why one of them is wrong.
    """
    if undecided or not settled:
        return "open"
    if printed_survives:
        return "holds"
    return repair["takes"] if repair else "fails"


def function_of(page: Page):
    """The function that tests a claim."""
    return getattr(import_module(f"befrl.claims.sections.{page.section}"), page.test)


def judge(page: Page, trials: int, seed: int, extra=None) -> dict:
    """Test all readings of a claim, with the same random numbers, and return its record, ready for `json.dump`.

    extra: a function (evidence, reading) -> evidence with what a contest adds, see `contest`.
    """
    start = time.perf_counter()
    outcomes = {group: [_words(reading) | NOTHING for reading in getattr(page, group)] for group in GROUPS}
    printed, undecided, details = NOTHING, "", {}
    if page.test:
        test = function_of(page)

        def outcome(given):
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=number_of(page.id)))
            evidence = test(rng, trials, **given)
            evidence = extra(evidence, given) if extra else evidence
            return evidence, _outcome(page, evidence, "" if given else page.refuted)

        evidence, printed = outcome({})
        undecided, details = evidence.undecided, evidence.details
        for group in GROUPS:
            outcomes[group] = [_words(reading) | outcome(reading.given)[1] for reading in getattr(page, group)]
    repair = next((each for each in outcomes["repairs"] if each["survives"]), None)
    verdict = page.argued or verdict_of(printed["survives"], repair, undecided, _settled(page, printed["survives"]))
    corrected = verdict not in ("holds", "open") and repair
    record = {
        **{key: getattr(page, key) for key in ("id", "kind", "part", "where", "title", "uses", "stands")},
        **{
            key: page.texts.get(key, "")
            for key in ("quote", "inference", "statement", "corrected", "derivation", "attack")
        },
        "verdict": verdict,
        "survives": printed["survives"],
        "inherits": repair["inherits"] if verdict == "inherits" else "",
        "class": _class(verdict, repair, outcomes["lighter"]) if corrected else {},
        "grade": printed["grade"],
        "worst_case": printed["violation"],
        "meaning": page.meaning,
        "instance": printed["instance"],
        "rule": _rule(page),
        "correction": repair["words"] if corrected else "",
        "correction_derivation": page.texts.get("correction_derivation", ""),
        "undecided": undecided,
        **outcomes,
        "weak": _misjudged(outcomes),
        "second": page.derivation("second"),
        "third": page.derivation("third"),
        **{key: page.texts.get(key, "") for key in ("adjudication", "objections", "answer")},
        "details": details,
        "trials": trials,
        "seed": seed,
        "seconds": time.perf_counter() - start,
    }
    record["counterexample"] = _powers(page.counterexample.format(**record)) if page.counterexample else ""
    return json.loads(json.dumps(record, default=_plain, allow_nan=False))


def _powers(text):
    """The text with 3.8e+11 outside of formulas written as a power of ten."""
    parts = text.split("$")
    parts[::2] = [
        re.sub(r"(\d\.?\d*)e([+-]\d+)", lambda m: rf"${m[1]}\cdot10^{{{int(m[2])}}}$", part) for part in parts[::2]
    ]
    return "$".join(parts)


def _settled(page, printed_survives):
    """Whether all derivations agree on the printed statement, or the page adjudicates."""
    verdicts = {page.second, page.third} - {""}
    agreed = all((verdict == "holds") == printed_survives for verdict in verdicts)
    return agreed or "adjudication" in page.texts


def _words(reading):
    return {key: getattr(reading, key) for key in ("words", "takes", "inherits", "why", "distance")}


def _outcome(page, evidence, refuted):
    return {
        "survives": bool(evidence.violation <= page.tolerance),
        "violation": float(evidence.violation),
        "grade": evidence.known_by(page.tolerance, refuted),
        "instance": evidence.instance,
    }


def _class(verdict, repair, lighter):
    """What the correction takes, and who says so: a computation that refuted all lighter ones, or a person."""
    refuted = [each["words"] for each in lighter if each["survives"] is False]
    by = "computation" if refuted and len(refuted) == len(lighter) else "a person"
    return {"takes": verdict, "by": by, "why": repair["why"], "lighter": refuted}


def _misjudged(outcomes) -> list[str]:
    """The false statements that the test did not refute, and the true ones that it did."""
    false = [each for group in ("mutants", "lighter") for each in outcomes[group] if each["survives"]]
    true = [each for each in outcomes["others"] if each["survives"] is False]
    return [f"false, but not refuted: {each['words']}" for each in false] + [
        f"true, but refuted: {each['words']}" for each in true
    ]


def _rule(page):
    """The rule of the verdict in words, with the claim's own tolerance."""
    if page.argued:
        return "no computation decides it: the derivation argues the verdict"
    rule = f"holds if the worst case is at most {page.tolerance:g}"
    if page.repairs:
        rule += "; else what the first repair takes whose worst case under the same test is at most that number, too"
    return rule + "; fails otherwise; open if the derivations disagree and the page does not adjudicate"


def _plain(value):
    """Convert numpy numbers and arrays and fractions to what json knows."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if hasattr(value, "numerator"):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as json")
