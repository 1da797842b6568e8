"""The section on the claims: the ledger by part of the paper, with the claims that each one uses."""

from befrl.claims.toolbox.ledger import standing
from befrl.claims.toolbox.registry import UNTRIED, VERDICTS, paper
from befrl.report import wording

KEYS = (
    *("id", "where", "title", "statement", "derivation", "attack", "grade", "worst_case", "meaning", "instance"),
    *("rule", "correction", "correction_derivation", "undecided", "trials", "seed", "details"),
)
READINGS = ("repairs", "steps", "others", "mutants", "weak")


def prepared(claims, anchors) -> dict:
    """The claims by part of the paper, in the order of their numbers, and the counts for the filters."""
    ordered = sorted(claims, key=lambda claim: wording.by_number(claim["id"]))
    verdicts = {claim["id"]: str(claim.get("verdict") or "none") for claim in ordered}
    entries = [_entry(claim, verdicts, anchors) for claim in ordered]
    places = paper()
    parts = [
        {
            "name": name,
            "anchor": anchors.new("claims", name),
            "claims": [entry for entry in entries if entry["part"] == name],
            "untried": [place for id, place in places.items() if place["part"] == name and id not in verdicts],
        }
        for name in dict.fromkeys(each["part"] for each in [*places.values(), *entries])
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
    return {value: met.count(value) for value in [*first, *sorted(set(met) - set(first))] if value in met}


def _entry(claim, verdicts, anchors):
    id = claim["id"]
    place = paper().get(id, {})
    rests = standing(id, verdicts) if place else {}
    return {key: claim.get(key) for key in KEYS} | {
        "anchor": anchors.new("claim", id),
        "part": claim.get("part") or place.get("part") or "Other statements",
        "verdict": verdicts[id],
        "kind": str(claim.get("grade") or "none").split(" over ")[0],
        "second": claim["second"] if isinstance(claim.get("second"), dict) else None,
        "rests_on": [{"id": used, "verdict": verdict, "tried": verdict != UNTRIED} for used, verdict in rests.items()],
        **{key: claim[key] if isinstance(claim.get(key), list) else [] for key in READINGS},
    }
