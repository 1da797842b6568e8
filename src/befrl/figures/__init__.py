"""Figures: one module each. A figure computes nothing; it draws what the tables say.

A module has `SCOPE`, "case" (one figure per instance and track), "study" (one for all cases), "library" (one for the
library's study of the same name) or "published" (one for each published experiment), `draw(tables) -> Figure` and
`describe(tables) -> {title, caption}`. The `tables` are {"summary", "curves"} of each case, the library's table for
each instance, or that of the experiment, as data frames; the last two kinds of figures name the `COLUMNS` that they
read, and their description the number of `seeds`.
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


def wanted(cases, library=(), published=()) -> dict:
    """Every figure of a study by name, with its kind and what it shows: cases, instances of a library study, a source.

    `regret_chain-8_U` shows one case, `noise-scale` all of them, `planners` the instances that planners are compared
    on, `published_li` an experiment; `library` lists (study, instance), `published` the sources.
    """
    found = {}
    for kind in kinds():
        if scope(kind) == "published":
            found |= {f"{kind}_{source}": (kind, [source]) for source in published}
        elif scope(kind) == "library":
            shown = [instance for study, instance in library if study == kind]
            if shown:
                found[kind] = (kind, shown)
        elif scope(kind) == "study":
            found[kind] = (kind, list(cases))
        else:
            found |= {f"{kind}_{instance}_{track}": (kind, [(instance, track)]) for instance, track in cases}
    return found


def scope(kind: str) -> str:
    return module(kind).SCOPE
