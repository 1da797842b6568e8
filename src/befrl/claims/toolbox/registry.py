"""Claims, findings, and the rule that turns violations into a verdict.

A claim is a function `(rng, trials) -> Finding` with the decorator `@claim(...)`. It attacks one statement of
the paper with `trials` random instances and a search; the verdict follows from the violations that it finds.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

VERDICTS = ("holds", "corrected", "fails", "open")


@dataclass(frozen=True)
class Finding:
    """The outcome of one attack.

    verdict     one of VERDICTS
    worst_case  the deciding number, at the worst instance found
    meaning     what that number is, with its threshold
    instance    JSON-able: enough to recompute the worst case
    rule        one sentence: how the verdict follows from the numbers
    correction  the statement that replaces the printed one, or ''
    details     further numbers
    """

    verdict: str
    worst_case: float
    meaning: str
    instance: dict
    rule: str
    correction: str = ""
    details: dict = field(default_factory=dict)

    def __post_init__(self):
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict '{self.verdict}' is not one of {', '.join(VERDICTS)}")
        if not math.isfinite(self.worst_case):
            raise ValueError(f"worst case {self.worst_case} is not a finite number")


@dataclass(frozen=True)
class Claim:
    """One row of the ledger and the function that attacks it."""

    id: str
    section: str
    where: str
    statement: str
    module: str
    check: Callable


CLAIMS: dict[str, Claim] = {}


def claim(id: str, *, section: str, where: str, statement: str):
    """Enter the decorated function in the ledger under `id`."""
    number_of(id)

    def enter(check):
        known = CLAIMS.get(id)
        if known is not None and known.check.__qualname__ != check.__qualname__:
            raise ValueError(f"claim {id} is defined twice: in {known.module} and in {check.__module__}")
        CLAIMS[id] = Claim(id, section, where, statement, check.__module__, check)
        return check

    return enter


def number_of(id: str) -> tuple[int, ...]:
    """The id as numbers, for sorting and for seeds: C46 -> (46,), C45b -> (45, 2)."""
    match = re.fullmatch(r"C(\d+)([a-z]?)", id)
    if match is None:
        raise ValueError(f"'{id}' is not a claim id such as C46 or C45b")
    number, letter = match.groups()
    return (int(number),) if not letter else (int(number), ord(letter) - ord("a") + 1)


def decide(printed: float, corrected: float | None = None, *, tolerance: float) -> str:
    """The verdict, given the violations of the printed statement and of its best correction.

    A violation is a number that is at most 0 if the statement is true; `tolerance` allows for rounding and for
    the stated error of the numerical method.
    """
    if printed <= tolerance:
        return "holds"
    if corrected is not None and corrected <= tolerance:
        return "corrected"
    return "fails"


@dataclass
class Worst:
    """Keeps the largest value seen and the instance that attains it; of equal values (to 1e-9), the first."""

    value: float = -math.inf
    instance: dict | None = None

    def see(self, value: float, instance: dict) -> bool:
        better = self.instance is None or value > self.value + 1e-9 * abs(self.value)
        if better:
            self.value, self.instance = float(value), instance
        return better
