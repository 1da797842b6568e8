"""Claims: a statement of the paper, the function that attacks it, and the other statements that meet the same attack.

A claim is a function `(rng, trials, *, ...) -> Evidence` with the decorator `@claim(...)`. The defaults of its keywords
are the printed statement; other values of them are other *readings*, which meet the same attack with the same random
numbers:

    repairs   statements that may replace the printed one if it is false; the first that survives is the correction
    steps     statements that the paper's proof uses on the way; each gets a verdict of its own
    others    true statements nearby that are no replacement
    mutants   false statements nearby

The attack has to refute every mutant and none of the others; otherwise the record says that the attack is too weak.
"""

import csv
import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import resources

VERDICTS = ("holds", "corrected", "fails", "open")
UNTRIED = "not tried"
# What stands behind a statement that was not refuted; `grade` of an Evidence.
SURVIVED = {
    "identity": "symbolic identity",
    "enumeration": "exhaustive enumeration",
    "search": "search",
    "test": "statistical test",
}


@dataclass(frozen=True)
class Evidence:
    """The outcome of one attack on one statement.

    violation  above the claim's tolerance if the statement is false; a Fraction or an int if it is exact
    instance   JSON-able: the worst instance, enough to compute the violation again
    grade      a key of SURVIVED: how the attack would establish a true statement
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

    def known_by(self, tolerance) -> str:
        """How the outcome is known, in words."""
        thing = "run" if self.grade == "test" else "instance"
        count = f"{self.number:,} {thing}{'' if self.number == 1 else 's'}" if self.number else ""
        if self.violation > tolerance and self.grade != "test":
            return "exact counterexample" if isinstance(self.violation, Fraction | int) else "numerical counterexample"
        return f"{SURVIVED[self.grade]} over {count}" if count else SURVIVED[self.grade]


@dataclass(frozen=True)
class Claim:
    """One statement of the paper with its attack; the words of the readings lead to their keywords."""

    id: str
    statement: str
    meaning: str
    tolerance: float
    repairs: Mapping[str, dict]
    steps: Mapping[str, dict]
    others: Mapping[str, dict]
    mutants: Mapping[str, dict]
    module: str
    attack: Callable

    @property
    def explanation(self) -> dict[str, str]:
        """The docstring in three parts: the derivation, then what follows `Correction:` and `Attack:`."""
        parts = {"derivation": [], "correction": [], "attack": []}
        current = "derivation"
        for paragraph in inspect.cleandoc(self.attack.__doc__).split("\n\n"):
            head, colon, rest = paragraph.partition(": ")
            if colon and head.lower() in parts:
                current, paragraph = head.lower(), rest
            parts[current].append(paragraph)
        return {name: "\n\n".join(paragraphs) for name, paragraphs in parts.items()}


CLAIMS: dict[str, Claim] = {}


def claim(id, *, statement, meaning, tolerance=0.0, repairs=None, steps=None, others=None, mutants=None):
    """Enter the decorated function in the ledger under `id`; `meaning` says what the violation is."""
    number_of(id)
    readings = [repairs or {}, steps or {}, others or {}, mutants or {}]

    def enter(attack):
        known = CLAIMS.get(id)
        if known is not None and known.attack.__qualname__ != attack.__qualname__:
            raise ValueError(f"claim {id} is defined twice: in {known.module} and in {attack.__module__}")
        parameters = list(inspect.signature(attack).parameters.values())[2:]
        keywords = {parameter.name for parameter in parameters}
        passed_on = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        for words, reading in (item for group in readings for item in group.items()):
            if not reading or not (passed_on or set(reading) <= keywords):
                raise ValueError(f"claim {id}, reading '{words}': its keywords must be some of {sorted(keywords)}")
        CLAIMS[id] = Claim(id, statement, meaning, tolerance, *readings, attack.__module__, attack)
        return attack

    return enter


def number_of(id: str) -> tuple[int, ...]:
    """The id as numbers, for sorting and for seeds: C46 -> (46,), C45b -> (45, 2)."""
    match = re.fullmatch(r"C(\d+)([a-z]?)", id)
    if match is None:
        raise ValueError(f"'{id}' is not a claim id such as C46 or C45b")
    number, letter = match.groups()
    return (int(number),) if not letter else (int(number), ord(letter) - ord("a") + 1)


@functools.cache
def paper() -> dict[str, dict]:
    """All statements of the paper by id: part, where, title, and `uses`, the claims that the paper's proof rests on."""
    text = resources.files("befrl.claims").joinpath("paper.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {row["id"]: row | {"uses": row["uses"].split()} for row in rows}
