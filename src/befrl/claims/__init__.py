"""The ledger: every checkable statement of the paper, attacked by computation.

One module per section of the paper, one function per claim (see `toolbox.registry`); a new module in this folder needs
no registration. Verdicts: `holds`: true as printed; `corrected`: false or ill-posed as printed, but a stated repair
survives the same attack; `fails`: there is a counterexample and no repair of the statement survives; `open`: not
decidable by computation, or two independent derivations disagree.
"""

import functools
import hashlib
import sys

from befrl.claims.toolbox.judge import judge
from befrl.claims.toolbox.registry import CLAIMS, number_of, paper
from befrl.common.errors import InputError, unknown
from befrl.common.registry import Registry

registry = Registry("section of claims", __name__, __path__)


@functools.cache
def _load() -> None:
    """Import every section, which enters its claims in the ledger."""
    for section in registry.names():
        registry.module(section)


def names() -> list[str]:
    """The ids of all claims that have an attack, by number."""
    _load()
    return sorted(CLAIMS, key=number_of)


def sections() -> dict[str, list[str]]:
    """The ids of the claims by the module that attacks them."""
    found = {}
    for id in names():
        found.setdefault(CLAIMS[id].module, []).append(id)
    return found


def describe(id: str) -> dict:
    """A claim's place in the paper, its statement, and the module that attacks it."""
    entry = _entry(id)
    return paper()[id] | {"statement": entry.statement, "module": entry.module}


def modules(section: str) -> list[str]:
    """A section's module and those of agents and instances that it names in USES, since it finds them by name."""
    return [section, *getattr(sys.modules[section], "USES", ())]


def wording(ids) -> str:
    """Hash of the derivations in the docstrings, which the hash of the code leaves out."""
    return hashlib.sha256("\n".join(_entry(id).attack.__doc__ for id in ids).encode()).hexdigest()[:16]


def evaluate(id: str, trials: int, seed: int) -> dict:
    """Attack a claim and return its record, ready for `json.dump`; the same seed gives the same record."""
    _entry(id)
    if trials < 1:
        raise InputError(f"claim {id}: trials = {trials} is not allowed: it must be a whole number from 1")
    return judge(id, trials, seed)


def _entry(id):
    if id not in names():
        raise unknown("claim", id, names())
    return CLAIMS[id]
