"""The judge: runs the attack of a claim on all its readings and derives the verdict from the violations."""

import json
import time

import numpy as np

from befrl.claims import second
from befrl.claims.toolbox.registry import CLAIMS, Claim, number_of, paper


def verdict_of(printed_survives: bool, surviving_repairs: list, undecided: str, second: str | None) -> str:
    """The verdict, by the rule of the ledger.

    The second derivation, made without sight of the first, must agree on whether the printed statement is true.
    """
    if undecided:
        return "open"
    if second is not None and (second == "holds") != printed_survives:
        return "open"
    if printed_survives:
        return "holds"
    return "corrected" if surviving_repairs else "fails"


def judge(id: str, trials: int, seed: int) -> dict:
    """Attack all readings of a claim, with the same random numbers, and return its record, ready for `json.dump`."""
    entry = CLAIMS[id]
    start = time.perf_counter()
    printed = _attacked(entry, trials, seed, {})
    groups = {
        name: [
            {"words": words} | _outcome(entry, _attacked(entry, trials, seed, reading))
            for words, reading in getattr(entry, name).items()
        ]
        for name in ("repairs", "steps", "others", "mutants")
    }
    outcome = _outcome(entry, printed)
    surviving = [repair for repair in groups["repairs"] if repair["survives"]]
    again = second.derivations().get(id)
    verdict = verdict_of(outcome["survives"], surviving, printed.undecided, again and again["verdict"])
    correction = surviving[0]["words"] if surviving and not outcome["survives"] else ""
    place = paper()[id]
    record = {
        "id": id,
        "part": place["part"],
        "where": place["where"],
        "title": place["title"],
        "uses": place["uses"],
        "statement": entry.statement,
        "derivation": entry.explanation["derivation"],
        "attack": entry.explanation["attack"],
        "verdict": verdict,
        "grade": outcome["grade"],
        "worst_case": float(printed.violation),
        "meaning": entry.meaning,
        "instance": printed.instance,
        "rule": _rule(entry),
        "correction": correction,
        "correction_derivation": entry.explanation["correction"],
        "undecided": printed.undecided,
        **groups,
        "weak": _misjudged(groups),
        "second": again,
        "details": printed.details,
        "trials": trials,
        "seed": seed,
        "seconds": time.perf_counter() - start,
    }
    return json.loads(json.dumps(record, default=_plain, allow_nan=False))


def _attacked(entry: Claim, trials, seed, reading):
    """The evidence on one reading; every reading starts from the same state of the generator."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=number_of(entry.id)))
    return entry.attack(rng, trials, **reading)


def _outcome(entry, evidence):
    return {
        "survives": bool(evidence.violation <= entry.tolerance),
        "violation": float(evidence.violation),
        "grade": evidence.known_by(entry.tolerance),
        "instance": evidence.instance,
    }


def _misjudged(groups) -> list[str]:
    """The mutants that the attack did not refute, and the true statements that it did."""
    missed = [f"false, but not refuted: {mutant['words']}" for mutant in groups["mutants"] if mutant["survives"]]
    return missed + [f"true, but refuted: {other['words']}" for other in groups["others"] if not other["survives"]]


def _rule(entry):
    """The rule of the verdict in words, with the claim's own tolerance."""
    limit = f"at most {entry.tolerance:g}"
    rule = f"holds if the worst case is {limit}"
    if entry.repairs:
        rule += "; corrected if it is larger but that of a repair under the same attack is not"
    return rule + "; fails otherwise; open if the second derivation disagrees on the printed statement"


def _plain(value):
    """Convert numpy numbers and arrays and fractions to what json knows."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if hasattr(value, "numerator"):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as json")
