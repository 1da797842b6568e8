"""The ledger: every checkable statement of the paper, and ours about bef-seed, tested by computation.

A claim is a page of docs/claims (`pages`) and a function in `sections` that searches for violations of what it says; a
new page needs no registration. `judge` derives the verdict from the violations, `ledger` and `errata` collect them.
"""

from importlib import import_module

from befrl.claims.judge import judge
from befrl.claims.pages import Page, pages, wording
from befrl.common.errors import InputError, unknown

__all__ = ["by_section", "describe", "evaluate", "modules", "names", "wording"]


def names() -> list[str]:
    """The ids of all claims, by number."""
    return list(pages())


def by_section() -> dict[str, list[str]]:
    """The ids of the claims by the section of the code that tests them."""
    found = {}
    for id, page in pages().items():
        found.setdefault(page.section, []).append(id)
    return found


def describe(id: str) -> Page:
    """The page of a claim."""
    if id not in pages():
        raise unknown("claim", id, names())
    return pages()[id]


def modules(section: str) -> list[str]:
    """A section's module and those of agents and instances that it names in USES, since it finds them by name."""
    name = f"{__name__}.sections.{section}"
    return ["befrl.claims", name, *getattr(import_module(name), "USES", ())]


def evaluate(id: str, trials: int, seed: int) -> dict:
    """Test a claim and return its record, ready for `json.dump`; the same seed gives the same record."""
    page = describe(id)
    if trials < 1:
        raise InputError(f"claim {id}: trials = {trials} is not allowed: it must be a whole number from 1")
    return judge(page, trials, seed)
