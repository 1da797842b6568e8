"""The section on the claims: the ledger by part of the paper, with the claims that each one uses."""

from befrl.claims.ledger import adjudicated, headline, ours, rows, standing
from befrl.claims.pages import UNTRIED, VERDICTS, pages
from befrl.report import wording

KEYS = (
    *(
        "id",
        "kind",
        "where",
        "title",
        "quote",
        "inference",
        "statement",
        "derivation",
        "attack",
        "grade",
        "worst_case",
        "meaning",
    ),
    *("instance", "rule", "inherits", "class", "correction", "corrected", "correction_derivation", "counterexample"),
    *("undecided", "adjudication", "objections", "answer", "trials", "seed", "details"),
)
READINGS = ("repairs", "lighter", "steps", "others", "mutants", "weak")


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
        "grades": counts(entries, "known"),
        "mutants": sum(len(entry["mutants"]) for entry in entries),
        "weak": sum(len(entry["weak"]) for entry in entries),
        "adjudicated": sum(map(adjudicated, ordered)),
    }


def counts(entries, key, first=()) -> dict[str, int]:
    """The number of claims with each value of a key, the values `first` before the others."""
    met = [entry[key] for entry in entries]
    return {value: met.count(value) for value in [*first, *sorted(set(met) - set(first))] if value in met}


def _entry(claim, verdicts, anchors):
    rests = standing(claim["id"], verdicts)
    return {key: claim.get(key) for key in (*KEYS, *READINGS, "part", "second", "third")} | {
        "anchor": anchors.new("claim", claim["id"]),
        "verdict": verdicts[claim["id"]],
        "shown": {"remark": "remark", "ours": f"ours, {claim['verdict']}"}.get(claim["kind"], claim["verdict"]),
        "known": claim["grade"].split(" over ")[0],
        "rests_on": [{"id": used, "verdict": verdict, "tried": verdict != UNTRIED} for used, verdict in rests.items()],
    }
