"""Figures: one module each. A figure computes nothing; it draws the numbers of its tables. A module has:

    SCOPE     what one figure shows, see below
    SUBJECT   name of the component study or of the table, in the scopes `component` and `table`
    SECTION   the section of the report that shows the figure; by default, the one on components
    LEAD      its place among the figures that open the section; by default, it is in the list of further figures
    TABLES    {name of a table: columns that it must have}; "timings" are measured seconds
    BESIDE    (scope, subject, tables): in the scopes `study` and `component`, a second subject and its tables; optional
    draw(tables) -> Figure
    describe(tables) -> {name: value}: the number of `seeds`, and the values that its caption names; optional

and a title, heading and caption in `captions.yaml`. `tables` has one {name of a table: data frame} per thing shown:

    case        one figure for each instance and track, of the tables of `befrl.analysis.aggregation`
    certified   one figure for each case in which an agent gives certificates, of the same tables
    study       one figure for all instances and tracks, of the same tables
    component   one figure for all instances of the component study SUBJECT, of the tables of that study
    published   one figure for each source of published experiments, of its values and curves
    table       one figure of the table SUBJECT (table1 or ledger), under the name "table", or of its timings

A new module here is a new figure in the workflow and in the report.
"""

from befrl.common.registry import Registry

registry = Registry("figure", __name__, __path__)
ENDINGS = ("svg", "png", "json")  # of the files of a figure


def scope(kind: str) -> str:
    return registry.module(kind).SCOPE


def place(kind: str) -> dict:
    """Where the report shows a figure: its section, and its place among those that open it, or 0."""
    module = registry.module(kind)
    section = "cost" if measured(kind) else getattr(module, "SECTION", "components")
    return {"section": section, "lead": getattr(module, "LEAD", 0)}


def measured(kind: str) -> bool:
    """Whether a figure shows measured seconds, which differ from run to run."""
    return "timings" in registry.module(kind).TABLES


class Beside(str):
    """The name of a thing of a figure's second subject."""


def wanted(cases, components=(), published=(), certified=()) -> dict:
    """{name: (kind, things shown)} of all figures; `cases` are (instance, track), `components` (study, instance).

    `certified` are the cases with certificates. Things of a second subject come last.
    """
    found = {}
    for kind in registry.names():
        module = registry.module(kind)
        second = getattr(module, "BESIDE", None)
        beside = [Beside(name) for name in _things(*second[:2], components)] if second else []
        match module.SCOPE:
            case "case" | "certified" as which:
                drawn = cases if which == "case" else certified
                found |= {f"{kind}_{instance}_{track}": (kind, [(instance, track)]) for instance, track in drawn}
            case "study":
                found[kind] = (kind, [*cases, *beside])
            case "published":
                found |= {f"{kind}_{source}": (kind, [source]) for source in published}
            case which:
                shown = _things(which, module.SUBJECT, components)
                if shown:
                    found[kind] = (kind, [*shown, *beside])
    return found


def _things(which, subject, components):
    """The instances of a component study, or a single table."""
    return [subject] if which == "table" else [instance for study, instance in components if study == subject]


def sources(layout, kind, shown) -> list[dict]:
    """For each thing shown, {name of a table: (its path, columns that it must have)}."""
    module, found = registry.module(kind), []
    for thing in shown:
        own = module.SCOPE, getattr(module, "SUBJECT", ""), module.TABLES
        which, subject, tables = module.BESIDE if isinstance(thing, Beside) else own
        found.append({name: (_path(layout, which, subject, thing, name), cols) for name, cols in tables.items()})
    return found


def tables(layout, kind, shown) -> list[str]:
    """The paths of the tables of a figure."""
    return [path for source in sources(layout, kind, shown) for path, _ in source.values()]


def _path(layout, which, subject, thing, table):
    timings = table == "timings"
    match which:
        case "case" | "certified" | "study":
            return layout.regret_timings(*thing) if timings else layout.regret(table, *thing)
        case "component":
            return layout.component_timings(subject, thing) if timings else layout.component(subject, table, thing)
        case "published":
            return layout.published_timings(thing) if timings else layout.published(table, thing)
        case "table":
            return getattr(layout, f"{subject}_timings" if timings else subject)()
