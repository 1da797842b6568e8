"""The facts stored in an instance file, read without building the instance."""

from befrl.common import storage
from befrl.common.errors import InputError

NUMBERS = ("horizon", "d", "n_cells", "n_anchors", "n_actions", "optimal_value", "uniform_value", "gap", "cell_loss")
TYPES = dict.fromkeys(NUMBERS, int | float) | {"name": str, "family": str, "parameters": dict, "constants": dict}


def read(path, name) -> dict:
    """The `facts` of the instance `name` from its file."""
    meta = storage.read_meta(path, "instance")
    check(path, meta)
    if meta["name"] != name:
        raise InputError(f"{path}: it is the file of '{meta['name']}', not of '{name}': delete it and run again")
    return meta


def check(path, meta):
    """Raise if the metadata of a file are not the facts of an instance."""
    storage.require(path, meta, "a befrl instance file", TYPES)
