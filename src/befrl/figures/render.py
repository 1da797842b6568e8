"""Drawing a figure to files: SVG, PNG and a small JSON for the report, the same bytes every time."""

import io
from pathlib import Path

from befrl import aggregation, figures, results
from befrl.figures import style

TABLES = {"summary": aggregation.SUMMARY, "curves": aggregation.CURVES}


def read_tables(folders):
    """The tables of each case's folder."""
    return [
        {name: aggregation.read_table(Path(folder) / f"{name}.csv", columns) for name, columns in TABLES.items()}
        for folder in folders
    ]


def render(kind, folders, out, command, headline=False):
    """Draw figure `kind` from the tables in `folders` and write out.svg, out.png and out.json."""
    module = figures.module(kind)
    tables = read_tables(folders)
    style.apply()
    figure = module.draw(tables)
    out = Path(out)
    for suffix, options in (
        ("svg", {"metadata": {"Date": None}}),
        ("png", {"dpi": 200, "metadata": {"Software": None}}),
    ):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix, **options)
        with results.replacing(f"{out}.{suffix}") as file:
            file.write(buffer.getvalue())
    seeds = {int(n) for table in tables for n in table["summary"]["seeds"]}
    about = module.describe(tables)
    results.write_json(
        f"{out}.json",
        {"name": out.name, **about, "command": command, "headline": headline, "seeds": min(seeds)},
    )
