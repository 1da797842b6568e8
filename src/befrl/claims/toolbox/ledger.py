"""The ledger: the records of all claims in one table, with what rests on what."""

import csv
import io
import json
from collections import Counter

from befrl.claims.toolbox.registry import UNTRIED, VERDICTS, number_of, paper
from befrl.common import storage
from befrl.common.errors import InputError

COLUMNS = {
    "id": "number of the claim in the ledger",
    "part": "part of the paper",
    "where": "label and section of the paper",
    "title": "what the claim is about",
    "verdict": f"holds, corrected, fails or open, computed by the rule in the claim's json; '{UNTRIED}': no attack yet",
    "grade": "how the verdict on the printed statement is known",
    "worst_case": "the deciding number at the worst instance; unit and threshold: 'meaning' and 'rule' in the json",
    "instance": "json: the instance that attains the worst case",
    "correction": "what is true instead; empty where the printed statement holds or no repair survives",
    "uses": "claims that the paper's proof of this one uses",
    "rests_on": "those of them that do not hold as printed or were not tried, with their verdicts",
    "second": "verdict of the second derivation, made from the paper alone; empty where there is none",
}


# The keys of a record that tables and the report use.
RECORD = {"id": str, "statement": str, "verdict": str, "grade": str, "worst_case": int | float, "correction": str}
RECORD |= {"instance": dict | list | str | int | float | None, "second": dict | None, "seconds": int | float}
# Other statements under the same test, and the keys of each.
READINGS = ("steps", "repairs", "others", "mutants")
RECORD |= dict.fromkeys(READINGS, list)
READING = {"words": str, "survives": bool, "violation": int | float}


def record(value, where) -> dict:
    """The value read from the file `where`; raise if it is not the record of a claim."""
    storage.require(where, value, "the record of a claim", RECORD)
    for reading in (reading for key in READINGS for reading in value[key]):
        storage.require(where, reading, "the record of a claim", READING)
    if value["id"] not in paper():
        raise InputError(f"{where}: '{value['id']}' is not the number of a claim of the paper: delete it and run again")
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
    """The claims, not true as printed or not tried, that the paper's proof of a claim uses, with their verdicts."""
    found = {used: verdicts.get(used, UNTRIED) for used in paper()[id]["uses"]}
    return {used: verdict for used, verdict in found.items() if verdict != "holds"}


def rows(records) -> list[dict]:
    """One row for every claim of the paper, in the order of their numbers, the untried ones included."""
    known = {record["id"]: record for record in records}
    verdicts = {id: record["verdict"] for id, record in known.items()}
    found = []
    for id in sorted(paper(), key=number_of):
        place = {key: paper()[id][key] for key in ("id", "part", "where", "title")}
        rests = "; ".join(f"{used} {verdict}" for used, verdict in standing(id, verdicts).items())
        row = dict.fromkeys(COLUMNS, "") | place | {"verdict": UNTRIED, "uses": " ".join(paper()[id]["uses"])}
        row["rests_on"] = rests
        if id in known:
            record = known[id]
            row |= {key: record[key] for key in ("verdict", "grade", "worst_case", "correction")}
            row["instance"] = json.dumps(record["instance"], separators=(",", ":"))
            row["second"] = record["second"]["verdict"] if record["second"] else ""
        found.append(row)
    return found


def table(records) -> str:
    """The ledger as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(records))
    return text.getvalue()


def counts(frame) -> str:
    """The number of claims with each verdict, by part of the paper: a Markdown table from the ledger's data frame."""
    found = Counter(zip(frame["part"], frame["verdict"], strict=True))
    parts = list(dict.fromkeys(part for part, _ in found))
    columns = [verdict for verdict in (*VERDICTS, UNTRIED) if any(found[part, verdict] for part in parts)]
    body = [[part, *(str(found[part, verdict]) for verdict in columns)] for part in parts]
    body.append(["all", *(str(sum(found[part, verdict] for part in parts)) for verdict in columns)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (["part", *columns], ["---"] * (1 + len(columns)), *body))
