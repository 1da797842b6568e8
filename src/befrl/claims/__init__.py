"""The ledger: every checkable statement of the paper, attacked by computation.

One module per section of the paper, one function per claim (see `toolbox.registry.claim`); a new module in this
folder needs no registration. Verdicts: `holds`: true as printed; `corrected`: false or ill-posed as printed, but
the stated correction survives the same attack; `fails`: there is a counterexample and no repair of the statement
survives; `open`: not decidable by computation.
"""

import csv
import functools
import io
import json
import time

import numpy as np

from befrl.claims.toolbox.registry import CLAIMS, number_of
from befrl.common.catalogue import Catalogue
from befrl.common.errors import InputError, unknown

catalogue = Catalogue("section of claims", __name__, __path__)

COLUMNS = {
    "id": "number of the claim in the ledger",
    "section": "part of the paper",
    "statement": "the claim as printed",
    "verdict": "holds, corrected, fails or open; computed, see the claim's json for the rule",
    "worst_case": "the deciding number at the worst instance; unit and threshold: 'meaning' in the json",
    "instance": "json: the instance that attains the worst case",
    "correction": "what is true instead; empty where the printed statement holds",
}


@functools.cache
def _load() -> None:
    """Import every section, which enters its claims in the ledger."""
    for section in catalogue.names():
        catalogue.module(section)


def names() -> list[str]:
    """The ids of all claims, by number."""
    _load()
    return sorted(CLAIMS, key=number_of)


def describe(id: str) -> dict:
    """The statement of a claim, its place in the paper, and the module that attacks it."""
    entry = _entry(id)
    return {key: getattr(entry, key) for key in ("id", "section", "where", "statement", "module")}


def evaluate(id: str, trials: int, seed: int) -> dict:
    """Attack a claim and return its record, ready for `json.dump`; the same seed gives the same record."""
    entry = _entry(id)
    if trials < 1:
        raise InputError(f"claim {id}: trials = {trials} is not allowed: it must be a whole number from 1")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=number_of(id)))
    start = time.perf_counter()
    finding = entry.check(rng, trials)
    seconds = time.perf_counter() - start
    record = {
        "id": id,
        "section": entry.section,
        "where": entry.where,
        "statement": entry.statement,
        "verdict": finding.verdict,
        "worst_case": finding.worst_case,
        "meaning": finding.meaning,
        "instance": finding.instance,
        "correction": finding.correction,
        "rule": finding.rule,
        "trials": trials,
        "seed": seed,
        "seconds": seconds,
        "details": finding.details,
    }
    return json.loads(json.dumps(record, default=_plain, allow_nan=False))


def record(value, where) -> dict:
    """The value read from the file `where`; raise if it is not the record of a claim."""
    if not isinstance(value, dict) or any(name not in value for name in COLUMNS):
        raise InputError(f"{where}: not the record of a claim, which has the keys {', '.join(COLUMNS)}")
    return value


def table(records) -> str:
    """The records as CSV text, with the meaning of each column in '# ' lines before the header."""
    text = io.StringIO()
    for name, meaning in COLUMNS.items():
        text.write(f"# {name}: {meaning}\n")
    writer = csv.DictWriter(text, list(COLUMNS), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for record in sorted(records, key=lambda r: number_of(r["id"])):
        writer.writerow({**record, "instance": json.dumps(record["instance"], separators=(",", ":"))})
    return text.getvalue()


def _entry(id):
    if id not in names():
        raise unknown("claim", id, names())
    return CLAIMS[id]


def _plain(value):
    """Convert numpy numbers and arrays to Python numbers and lists."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as json")
