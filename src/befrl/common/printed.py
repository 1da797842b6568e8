"""Table 1 of the paper as printed (printed.csv): marks, rates and assumptions by the name of the algorithm here.

Its last row, bef-seed, is ours: the rate is the leading term of Theorem 2 of docs/repair-proof.md, where m is the size
of the largest block of parameters that share data. It holds for the width bernstein; where psi orders the states, the
default width is interval, for which that of Theorem 1 is proved.
"""

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Printed:
    """A row of the paper's Table 1."""

    printed: str = ""
    rate: str = ""
    tractable_exploration: str = ""
    tractable_planning: str = ""
    free_of_clipping: str = ""
    assumes: str = ""
    rewards: str = ""


with open(Path(__file__).with_suffix(".csv"), encoding="utf-8", newline="") as file:
    PRINTED = {row.pop("algorithm"): Printed(**row) for row in csv.DictReader(file)}
