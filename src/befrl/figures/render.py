"""Drawing a figure to files: SVG, PNG and a small JSON for the report, the same bytes every time."""

import io
from pathlib import Path

from befrl import figures
from befrl.common import storage, tidy
from befrl.figures import style

TABLES = {"summary": tidy.SUMMARY, "curves": tidy.CURVES, "paired": tidy.PAIRED}


def read_tables(kind, paths):
    """The tables in each case's folder, or the table at each path."""
    if figures.scope(kind) not in ("case", "study"):
        return [tidy.read(path, figures.module(kind).COLUMNS) for path in paths]
    return [
        {name: tidy.read(Path(folder) / f"{name}.csv", columns) for name, columns in TABLES.items()} for folder in paths
    ]


def render(kind, paths, out, command, headline=False):
    """Draw figure `kind` from the tables at `paths` and write out.svg, out.png and out.json."""
    module = figures.module(kind)
    tables = read_tables(kind, paths)
    style.apply()
    figure = module.draw(tables)
    out = Path(out)
    for suffix, options in (
        ("svg", {"metadata": {"Date": None}}),
        ("png", {"dpi": 200, "metadata": {"Software": None}}),
    ):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix, **options)
        with storage.replacing(f"{out}.{suffix}") as file:
            file.write(buffer.getvalue())
    about = module.describe(tables)
    if "seeds" not in about:
        about["seeds"] = min(int(n) for table in tables for n in table["summary"]["seeds"])
    storage.write_json(f"{out}.json", {"name": out.name, **about, "command": command, "headline": headline})
