"""The outcome of one test of one statement, and how it is known."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

# What stands behind a statement that was not refuted; `grade` of an Evidence.
SURVIVED = {
    "identity": "symbolic identity",
    "inequality": "inequality in exact arithmetic",
    "enumeration": "exhaustive enumeration",
    "search": "search",
    "test": "statistical test",
}
# What stands behind a refutation.
REFUTED = {
    "exact": "counterexample in exact arithmetic",
    "by hand": "counterexample by hand",
    "numerical": "counterexample in floating point",
    "test": "significant counterexample",
}


@dataclass(frozen=True)
class Evidence:
    """The outcome of one test of one statement.

    violation  above the claim's tolerance if the statement is false; a Fraction or an int if it is exact
    instance   JSON-able: the worst instance, enough to compute the violation again
    grade      a key of SURVIVED: how the test would establish a true statement
    number     how many instances or runs were tried
    undecided  '', or the reason why no computation can decide the statement
    details    further numbers
    """

    violation: float | Fraction
    instance: dict
    grade: str = "search"
    number: int = 0
    undecided: str = ""
    details: dict = field(default_factory=dict)

    def __post_init__(self):
        if self.grade not in SURVIVED:
            raise ValueError(f"grade '{self.grade}' is not one of {', '.join(SURVIVED)}")
        if not math.isfinite(self.violation):
            raise ValueError(f"violation {self.violation} is not a finite number")

    def known_by(self, tolerance, refuted="") -> str:
        """How the outcome is known, in words; `refuted`, a key of REFUTED, where the numbers alone do not say it."""
        thing = "run" if self.grade == "test" else "instance"
        count = f" over {self.number:,} {thing}{'' if self.number == 1 else 's'}" if self.number else ""
        if self.violation <= tolerance:
            return SURVIVED[self.grade] + count
        exact = isinstance(self.violation, Fraction | int)
        how = refuted or ("test" if self.grade == "test" else "exact" if exact else "numerical")
        return REFUTED[how] + (count if how == "test" else "")
