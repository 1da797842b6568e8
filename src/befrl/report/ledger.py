"""The section on the claims: the ledger by part of the paper, with the claims that each one uses."""

import json

from befrl.claims.ledger import READINGS, headline, ours, rows, standing
from befrl.claims.pages import UNTRIED, VERDICTS, pages
from befrl.report import wording

KEYS = (
    "id",
    "kind",
    "title",
    "statement",
    "grade",
    "inherits",
    "correction",
    "corrected",
    "counterexample",
    "undecided",
)
EVIDENCE = {  # key of a record: its name on the page
    "where": "place", "quote": "quotation", "inference": "reading", "derivation": "derivation",
    "correction_derivation": "the correction", "objections": "objections", "attack": "test", "rule": "rule",
    "worst_case": "worst case", "meaning": "which is", "instance": "its instance", "repairs": "repairs",
    "lighter": "lighter corrections, which do not suffice", "steps": "its steps",
    "others": "true statements nearby", "mutants": "falsified variants", "weak": "the test is too weak",
    "second": "second derivation", "third": "third derivation", "adjudication": "adjudication",
    "answer": "answer of the authors", "details": "details",
}  # fmt: skip


def prepared(claims, anchors) -> dict:
    """The claims by part of the paper, in the order of their numbers, and the counts for the filters."""
    ordered = sorted(claims, key=lambda claim: wording.by_number(claim["id"]))
    verdicts = {claim["id"]: claim["verdict"] for claim in ordered}
    entries = [_entry(claim, verdicts, anchors) for claim in ordered]
    places = pages()
    parts = [
        {
            "name": name,
            "anchor": anchors.new("claims", name),
            "claims": [entry for entry in entries if entry["part"] == name],
            "untried": [page for id, page in places.items() if page.part == name and id not in verdicts],
        }
        for name in dict.fromkeys(page.part for page in places.values())
    ]
    return {
        "claims": entries,
        "headline": headline(rows(ordered)) if entries else "",
        "ours": ours(rows(ordered)),
        "parts": [part for part in parts if part["claims"] or part["untried"]],
        "untried": sum(len(part["untried"]) for part in parts),
        "verdicts": counts(entries, "shown", VERDICTS),
        "sizes": {part["name"]: len(part["claims"]) for part in parts if part["claims"]},
        "mutants": sum(len(entry["mutants"]) for entry in entries),
        "weak": sum(len(entry["weak"]) for entry in entries),
    }


def counts(entries, key, first=()) -> dict[str, int]:
    """The number of claims with each value of a key, the values `first` before the others."""
    met = [entry[key] for entry in entries]
    return {value: met.count(value) for value in [*first, *sorted(set(met) - set(first))] if value in met}


def _entry(claim, verdicts, anchors):
    rests = standing(claim["id"], verdicts)
    asked = [f"--{key} {claim[key]}" for key in ("trials", "seed") if claim.get(key) is not None]
    return {key: claim.get(key) for key in (*KEYS, "part", "steps", "mutants", "weak")} | {
        "anchor": anchors.new("claim", claim["id"]),
        "figures": [],
        "verdict": verdicts[claim["id"]],
        "shown": {"remark": "remark", "ours": f"ours, {claim['verdict']}"}.get(claim["kind"], claim["verdict"]),
        "rests_on": [{"id": used, "verdict": verdict, "tried": verdict != UNTRIED} for used, verdict in rests.items()],
        "evidence": list(_evidence(claim)),
        "command": " ".join(["befrl claim", claim["id"], "--explain", *asked]),
    }


def _evidence(claim):
    """The name and the compact text of everything that is known of a claim."""
    for key, name in EVIDENCE.items():
        value = claim.get(key)
        if value in (None, "", [], {}):
            continue
        if key in (*READINGS, "weak"):
            value = "\n- ".join(["", *map(_reading, value)])
        elif key in ("second", "third"):
            value = f"{value['verdict']}\n\n{value['argument']}"
        yield name, json.dumps(value, ensure_ascii=False) if key in ("instance", "details") else wording.compact(value)
    if reason := claim["class"].get("why"):
        yield "why this class", wording.compact(f"{reason} Decided by {claim['class']['by']}.")


def _reading(value):
    if isinstance(value, str):
        return value
    verdict = "survives" if value["survives"] else "refuted"
    distance = f" distance: {value['distance']}" if value["distance"] else ""
    return f"{verdict} ({wording.number(value['violation'])}): {value['words']}{distance}"
