"""The columns of every table of a study: their meanings and units, and the command that makes the table."""

from dataclasses import dataclass

from befrl.analysis import (
    benchmark,
    components,
    coverage,
    improvement,
    instance_table,
    published,
    regret_columns,
    table1,
)
from befrl.claims import ledger
from befrl.common.errors import InputError
from befrl.common.layout import PUBLISHED_TABLES, REGRET_TABLES, Layout

COLUMNS = {
    "table": "path of the table; {instance}, {track} and {source} stand for names of the study",
    "column": "name of the column",
    "meaning": "meaning of the column, and its unit",
    "made_by": "command that makes the table",
}


@dataclass(frozen=True)
class Table:
    """A table: its path with wildcards, {column: meaning} and the command that makes it."""

    path: str
    columns: dict[str, str]
    made_by: str


def tables() -> list[Table]:
    """All tables that befrl writes."""
    layout = Layout()
    regret = {name: getattr(regret_columns, name.upper()) for name in REGRET_TABLES}
    found = [
        Table(layout.instances(), instance_table.COLUMNS, "befrl job instances"),
        *(Table(layout.regret(name), columns, "befrl job aggregate") for name, columns in regret.items()),
        Table(layout.regret_timings(), regret_columns.TIMINGS, "befrl job aggregate"),
        Table(layout.table1(), table1.COLUMNS, "befrl job table1"),
        Table(layout.table1_timings(), table1.TIMINGS, "befrl job table1"),
        Table(layout.improvement(), improvement.COLUMNS, "befrl job improvement"),
        Table(layout.significance(), improvement.SIGNIFICANCE, "befrl job improvement"),
        Table(layout.coverage(), coverage.COLUMNS, "befrl job coverage"),
        *(Table(layout.published(name), published.COLUMNS, "befrl job published") for name in PUBLISHED_TABLES),
        Table(layout.published_timings(), published.COLUMNS, "befrl job published"),
        Table(layout.ledger(), ledger.COLUMNS, "befrl job ledger"),
        Table(layout.columns(), COLUMNS, "befrl job columns"),
        Table(layout.bench(), benchmark.COLUMNS, "befrl bench"),
    ]
    for kind in components.registry.names():
        for name, columns in components.tables(kind).items():
            path = layout.component_timings(kind) if name == "timings" else layout.component(kind, name)
            found.append(Table(path, columns, f"befrl job component --component {kind}"))
    return found


def rows() -> list[dict]:
    """One row for each column of each table."""
    return [
        {"table": table.path, "column": name, "meaning": meaning, "made_by": table.made_by}
        for table in tables()
        for name, meaning in table.columns.items()
    ]


def of(names) -> Table:
    """The table with these columns, in this order."""
    for table in tables():
        if list(table.columns) == list(names):
            return table
    raise InputError(f"no table of befrl has the columns {', '.join(map(str, names))}")
