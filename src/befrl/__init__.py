"""befrl: BEF-RLSVI and its rivals on MDPs of the bilinear exponential family; the paper's claims put to the test.

    mdp = befrl.instance("chain", bins=8)
    runs = befrl.run(mdp, "bef-rlsvi", x=10, episodes=1000, seeds=30)

`docs/python.md` shows what else there is. Nothing is imported before it is used.
"""

import importlib

_PUBLIC = ("Comparison", "InputError", "Runs", "compare", "instance", "read", "run")


def __getattr__(name):
    if name in _PUBLIC:
        return getattr(importlib.import_module("befrl.api"), name)
    if name == "__version__":
        # Imported here because it takes 40 ms.
        from importlib.metadata import version

        return version("befrl")
    raise AttributeError(f"module 'befrl' has no attribute '{name}'")


def __dir__():
    return [*globals(), *_PUBLIC, "__version__"]
