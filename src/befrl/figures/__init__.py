"""Figures: one module each. A figure computes nothing; it draws what the tables say.

A module has `SCOPE`, `draw(tables) -> Figure` and `describe(tables) -> {title, caption}`. The scope says what `tables`
is a list of:

    case       one figure for each instance and track: its {"summary", "curves", "paired"}
    study      one for all cases: those of each
    library    one for the library's study of the same name: its table for each instance
    published  one for each published experiment: its values and its curves
    table      one for the table `results/<name>.csv`

as data frames; the last three kinds name the `COLUMNS` that they read, and their description the number of `seeds`.
A new file here is a new figure, in the workflow and in the report.
"""

import importlib
import pkgutil

from befrl.common.errors import unknown

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
    on, `published_li` an experiment, `table1` a table; `library` lists (study, instance), `published` the sources.
    """
    found = {}
    for kind in kinds():
        match scope(kind):
            case "case":
                found |= {f"{kind}_{instance}_{track}": (kind, [(instance, track)]) for instance, track in cases}
            case "study":
                found[kind] = (kind, list(cases))
            case "library":
                shown = [instance for study, instance in library if study == kind]
                if shown:
                    found[kind] = (kind, shown)
            case "published":
                found |= {f"{kind}_{source}": (kind, [source]) for source in published}
            case "table":
                found[kind] = (kind, [kind])
    return found


def scope(kind: str) -> str:
    return module(kind).SCOPE
