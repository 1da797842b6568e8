"""The section on the claims: the ledger by part of the paper, with what rests on what."""

from befrl.claims.toolbox.ledger import standing
from befrl.claims.toolbox.registry import UNTRIED, VERDICTS, paper
from befrl.report import wording

KEYS = (
    "id", "part", "where", "title", "statement", "derivation", "attack", "verdict", "grade", "worst_case", "meaning",
    "instance", "rule", "correction", "correction_derivation", "undecided", "second", "trials", "seed", "details",
)  # fmt: skip
READINGS = ("repairs", "steps", "others", "mutants", "weak")
ELSEWHERE = "Other statements"


def prepared(claims, anchors) -> dict:
    """The claims by part of the paper, in the order of their numbers, and the counts for the filters."""
    ordered = sorted(claims, key=lambda claim: wording.by_number(claim["id"]))
    verdicts = {claim["id"]: str(claim.get("verdict") or "none") for claim in ordered}
    entries = [_entry(claim, verdicts, anchors) for claim in ordered]
    names = list(dict.fromkeys([*(place["part"] for place in paper().values()), *(e["part"] for e in entries)]))
    parts = [
        {
            "name": name,
            "anchor": anchors.new("claims", name),
            "claims": [entry for entry in entries if entry["part"] == name],
            "untried": [p for id, p in paper().items() if p["part"] == name and id not in verdicts],
        }
        for name in names
    ]
    return {
        "claims": entries,
        "parts": [part for part in parts if part["claims"] or part["untried"]],
        "untried": sum(len(part["untried"]) for part in parts),
        "verdicts": counts(entries, "verdict", VERDICTS),
        "grades": counts(entries, "kind"),
        "mutants": sum(len(entry["mutants"]) for entry in entries),
        "weak": sum(len(entry["weak"]) for entry in entries),
    }


def counts(entries, key, first=()) -> dict[str, int]:
    """The number of claims with each value of a key, the values `first` before the others."""
    met = [entry[key] for entry in entries]
    order = [*first, *sorted(set(met) - set(first))]
    return {value: met.count(value) for value in order if value in met}


def _entry(claim, verdicts, anchors):
    """A claim with every key, the kind of its grade, and the sentence on what its proof rests on."""
    id = claim["id"]
    place = paper().get(id, {})
    entry = {key: claim.get(key) for key in KEYS} | {key: _dicts(claim.get(key)) for key in READINGS}
    entry["part"] = claim.get("part") or place.get("part") or ELSEWHERE
    entry["verdict"] = verdicts[id]
    entry["kind"] = str(claim.get("grade") or "none").split(" over ")[0]
    entry["anchor"] = anchors.new("claim", id)
    entry["second"] = claim["second"] if isinstance(claim.get("second"), dict) else None
    rests = standing(id, verdicts) if place else {}
    entry["rests_on"] = [
        {"id": used, "verdict": verdict, "tried": verdict != UNTRIED} for used, verdict in rests.items()
    ]
    return entry


def _dicts(value):
    return value if isinstance(value, list) else []
