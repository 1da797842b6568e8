"""Steps of the proof of Theorem 1 that fail as printed, and the weakest known hypothesis under which each one holds.

`proof_steps.csv` has the columns

    claim        number of the step in the ledger of claims
    fails        what fails
    hypothesis   a function of `hypotheses.py`; empty where the corrected formula needs none
    needed       yes: no correction without a hypothesis serves the proof; no: with it the printed form holds, and
                 without it a corrected one
    reading_of   the claim of the ledger with the reading below, mostly the same claim
    reading      the reading of the ledger that survives under the hypothesis; a test holds the two together
"""

import csv
import functools
from importlib import resources


@functools.cache
def steps() -> list[dict]:
    """The rows of `proof_steps.csv`; `needed` is a truth value."""
    text = resources.files("befrl.analysis").joinpath("proof_steps.csv").read_text(encoding="utf-8")
    return [row | {"needed": row["needed"] == "yes"} for row in csv.DictReader(text.splitlines())]


def needed() -> list[str]:
    """The hypotheses without which the proof has a gap, in the order of the steps."""
    return list(dict.fromkeys(step["hypothesis"] for step in steps() if step["needed"]))


def claims_of(hypothesis) -> list[str]:
    """The claims that hold under a hypothesis."""
    return [step["claim"] for step in steps() if step["hypothesis"] == hypothesis]
