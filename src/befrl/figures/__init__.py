"""Figures: one module each. A figure computes nothing; it draws what the tables say.

A module has `SCOPE`, "case" (one figure per instance and track) or "study" (one for all), `draw(tables) -> Figure` and
`describe(tables) -> {title, caption}`, where `tables` is a list of {"summary", "curves"} data frames.
A new file here is a new figure, in the workflow and in the report.
"""

import importlib
import pkgutil

from befrl.errors import unknown

SUPPORT = {"style", "render"}


def kinds() -> list[str]:
    return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(__path__) if m.name not in SUPPORT)


def module_name(kind: str) -> str:
    if kind not in kinds():
        raise unknown("figure", kind, kinds())
    return f"{__name__}.{kind.replace('-', '_')}"


def module(kind: str):
    return importlib.import_module(module_name(kind))


def parse(name: str, cases) -> tuple[str, list]:
    """Kind of a figure and the cases that it shows: `regret_chain-8_U` is of one case, `noise-scale` of all."""
    known = wanted(cases)
    if name not in known:
        raise unknown("figure", name, known)
    return known[name]


def wanted(cases) -> dict:
    """Every figure of a study by name, with its kind and its cases."""
    found = {}
    for kind in kinds():
        if scope(kind) == "study":
            found[kind] = (kind, list(cases))
        else:
            found |= {f"{kind}_{instance}_{track}": (kind, [(instance, track)]) for instance, track in cases}
    return found


def scope(kind: str) -> str:
    return module(kind).SCOPE
