"""Algorithms: one file each, all with the same parts in the same order.

An agent's module has a `Parameters` dataclass and a class `Agent` (see `base.py`). Putting the file here is enough:
`bef-rlsvi` in a config or on the command line means `befrl/agents/bef_rlsvi.py`.
"""

from befrl.catalogue import Catalogue
from befrl.parameters import read

catalogue = Catalogue("agent", __name__, __path__)


def parameters(algorithm: str, values: dict, where: str | None = None):
    """The checked parameters of an algorithm."""
    return read(catalogue.module(algorithm).Parameters, values, where or f"agent '{algorithm}'")
