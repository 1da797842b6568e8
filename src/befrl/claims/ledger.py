"""The ledger: the records of all claims in one table, with what rests on what, and how many have which verdict."""

import csv
import io
import json

from befrl.claims.pages import CLASSES, THEOREM, UNTRIED, VERDICTS, number_of, pages
from befrl.common import storage
from befrl.common.errors import InputError
from befrl.common.markdown import markdown_table

COLUMNS = {
    "id": "number of the claim in the ledger",
    "kind": "claim; remark: a statement that the paper does not make, which is not counted; or ours: one of ours about "
    "bef-seed, counted apart",
    "part": "part of the paper, or Ours",
    "where": "place in the paper and lines of its source, or place in our proof",
    "title": "what the claim is about",
    "verdict": f"holds; misprint, constant or hypothesis: what its correction takes; inherits: false only because "
    f"another claim is; fails; open; docs/claims/README.md has the rule; '{UNTRIED}': not in this study",
    "inherits": "the claim whose fault this one inherits",
    "class_by": "what decides what the correction takes: a computation, which refuted lighter ones, or a person",
    "grade": "how the verdict on the printed statement is known",
    "worst_case": "the deciding number at the worst instance; unit and threshold: 'meaning' and 'rule' in the json",
    "instance": "json: the instance that attains the worst case",
    "correction": "what is true instead; empty where the printed statement holds or no repair survives",
    "uses": "claims that the proof of this one uses",
    "rests_on": "those of them that do not hold as printed or were not tried, with their verdicts",
    "second": "verdict of the second derivation, made from the statements alone; empty where there is none",
    "third": "verdict of the third derivation, made from the paper alone; empty where there is none",
    "adjudicated": "1 if the derivations disagreed on the printed statement and the page says which is right, else 0",
}


# The keys of a record that tables and the report use.
RECORD = {
    "id": str,
    "statement": str,
    "verdict": str,
    "grade": str,
    "worst_case": int | float | None,
    "correction": str,
    "inherits": str,
    "class": dict,
    "third": dict | None,
}
RECORD |= {"instance": dict | list | str | int | float | None, "second": dict | None, "seconds": int | float}
# Other statements under the same test, and the keys of each.
READINGS = ("steps", "repairs", "lighter", "others", "mutants")
RECORD |= dict.fromkeys(READINGS, list)
READING = {"words": str, "survives": bool, "violation": int | float, "distance": str}


def record(value, where) -> dict:
    """The value read from the file `where`; raise if it is not the record of a claim."""
    storage.require(where, value, "the record of a claim", RECORD)
    for reading in (reading for key in READINGS for reading in value[key]):
        storage.require(where, reading, "the record of a claim", READING)
    if value["id"] not in pages():
        raise InputError(f"{where}: '{value['id']}' is not the number of a claim: delete it and run again")
    if value["verdict"] not in VERDICTS:
        raise InputError(f"{where}: '{value['verdict']}' is not a verdict: delete it and run again")
    return value


def read(path, id=None) -> dict:
    """The record of a claim from its file; raise if it is that of another claim than `id`."""
    found = record(storage.read_json(path), path)
    if id not in (None, found["id"]):
        raise InputError(f"{path}: it is the record of {found['id']}, not of {id}: delete it and run again")
    return found


def standing(id: str, verdicts: dict[str, str]) -> dict[str, str]:
    """The claims, not true as printed or not tried, that the proof of a claim uses, with their verdicts."""
    found = {used: verdicts.get(used, UNTRIED) for used in pages()[id].uses}
    return {used: verdict for used, verdict in found.items() if verdict != "holds"}


def adjudicated(record) -> bool:
    """Whether the derivations disagreed on the printed statement, so that the page had to say which is right."""
    verdicts = [record[which]["verdict"] for which in ("second", "third") if record[which]] + [record["verdict"]]
    return len({verdict == "holds" for verdict in verdicts}) == 2


def rows(records) -> list[dict]:
    """One row for every claim, in the order of their numbers, the untried ones included."""
    known = {record["id"]: record for record in records}
    verdicts = {id: record["verdict"] for id, record in known.items()}
    found = []
    for id, page in pages().items():
        row = dict.fromkeys(COLUMNS, "") | {key: getattr(page, key) for key in ("id", "kind", "part", "where", "title")}
        row |= {"verdict": UNTRIED, "uses": " ".join(page.uses)}
        row["rests_on"] = "; ".join(f"{used} {verdict}" for used, verdict in standing(id, verdicts).items())
        if id in known:
            record = known[id]
            row |= {key: record[key] for key in ("verdict", "inherits", "grade", "worst_case", "correction")}
            row["class_by"] = record["class"].get("by", "")
            row["instance"] = json.dumps(record["instance"], separators=(",", ":"))
            row |= {key: record[key]["verdict"] if record[key] else "" for key in ("second", "third")}
            row["adjudicated"] = int(adjudicated(record))
        found.append(row)
    return found


def table(records) -> str:
    """The ledger as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(records))
    return text.getvalue()


def split(table) -> tuple[list[dict], list[dict]]:
    """The rows about the paper, and those about our own statements, which are not counted with it."""
    table = list(table)
    return [row for row in table if row["kind"] != "ours"], [row for row in table if row["kind"] == "ours"]


def tally(table) -> dict[str, dict[str, int]]:
    """How many claims of each part have which verdict; remarks are counted apart. `table`: rows."""
    found = {}
    for row in sorted(table, key=lambda row: number_of(row["id"])):
        verdict = "remark" if row["kind"] == "remark" else row["verdict"]
        part = found.setdefault(row["part"], dict.fromkeys((*VERDICTS, UNTRIED, "remark"), 0))
        part[verdict] += 1
    return found


def counts(table) -> str:
    """The tally as a Markdown table, with our own statements below the total of the paper's."""
    paper, own = (tally(rows) for rows in split(table))
    total = {verdict: sum(part[verdict] for part in paper.values()) for verdict in (*VERDICTS, UNTRIED, "remark")}
    parts = paper | {"all": total} | own
    columns = [verdict for verdict in total if any(numbers[verdict] for numbers in parts.values())]
    body = [[part, *(str(numbers[verdict]) for verdict in columns)] for part, numbers in parts.items()]
    head = ["part", *("remark (not counted)" if verdict == "remark" else verdict for verdict in columns)]
    return markdown_table(head, body).rstrip()


def _number(n, one, more):
    return f"{n} {one if n == 1 else more}"


def headline(table) -> str:
    """How many statements of the paper hold, and what the corrections of the others take."""
    table = split(table)[0]
    found = tally(table)
    n = {verdict: sum(part[verdict] for part in found.values()) for verdict in (*VERDICTS, "remark")}
    own = sum(n[verdict] for verdict in ("holds", *CLASSES, "fails", "open"))
    settled = sum(int(row["adjudicated"] or 0) for row in table)
    return (
        f"Of {own} separate statements of the paper {n['holds']} hold as printed, {n['misprint']} once a misprint is "
        f"corrected, {n['constant']} with another constant or logarithm, {n['hypothesis']} with another order or a "
        f"further hypothesis, {_number(n['fails'], 'fails', 'fail')}, and {_number(n['open'], 'is', 'are')} open; "
        f"{n['inherits']} more, not counted here, are false only because one of these is. True or false follows from "
        f"a computed number for the stated reading; readings, classes and repairs are ours. In {settled} cases the "
        f"independent derivations disagreed and we adjudicated."
    )


def counterexample(rows) -> dict:
    """That of the paper's regret bound, from a ledger or from records; empty if the bound is not refuted there."""
    found = next((row["instance"] for row in rows if (row["id"], row["verdict"]) == (THEOREM, "fails")), {})
    return json.loads(found) if isinstance(found, str) else found


def ours(table) -> str:
    """How many of our own statements hold, and the names of all that do not; empty if none was tried."""
    verdicts = {row["id"]: row["verdict"] for row in split(table)[1] if row["verdict"] != UNTRIED}
    if not verdicts:
        return ""
    n = {verdict: list(verdicts.values()).count(verdict) for verdict in VERDICTS}
    wrong = ", ".join(f"{id} {verdict}" for id, verdict in verdicts.items() if verdict != "holds")
    return (
        f"Of {len(verdicts)} statements of ours about bef-seed, judged in the same way, "
        f"{_number(n['holds'], 'holds', 'hold')} as stated, {sum(n[verdict] for verdict in (*CLASSES, 'inherits'))} "
        f"after a correction, {_number(n['fails'], 'fails', 'fail')}, and {_number(n['open'], 'is', 'are')} open"
        f"{f': {wrong}' if wrong else ''}."
    )


def summary(table) -> str:
    """All counts as Markdown: two sentences and a table."""
    return "\n\n".join(filter(None, (headline(table), ours(table), counts(table))))
