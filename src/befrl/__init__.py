"""BEF-RLSVI and other algorithms on MDPs of the bilinear exponential family, and tests of the paper's claims.

    mdp = befrl.instance("chain", bins=8)
    runs = befrl.run(mdp, "bef-rlsvi", x=10, episodes=1000, seeds=30)

The interface is described in `docs/python.md`.
"""

import importlib

# The module of each public name, imported at the first use.
_PUBLIC = {
    "Comparison": "befrl.api.comparison",
    "InputError": "befrl.common.errors",
    "Runs": "befrl.api.runs",
    "compare": "befrl.api.comparison",
    "instance": "befrl.api.validation",
    "read": "befrl.api.files",
    "run": "befrl.api.playing",
    "tune": "befrl.api.tuned",
    "tuned": "befrl.api.tuned",
}


def __getattr__(name):
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name == "__version__":
        from importlib.metadata import version  # takes 40 ms

        return version("befrl")
    raise AttributeError(f"module 'befrl' has no attribute '{name}'")


def __dir__():
    return [*globals(), *_PUBLIC, "__version__"]
