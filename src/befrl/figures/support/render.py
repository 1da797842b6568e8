"""Drawing a figure to files: SVG, PNG and a JSON with its words and contents, the same bytes every time."""

import io
from pathlib import Path

from befrl import figures
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.figures.support import style
from befrl.figures.support.contents import contents


def read_tables(kind, paths) -> list[dict]:
    """The tables of figure `kind`: `paths` holds, for each thing shown, one file for each of the module's TABLES."""
    tables = figures.catalogue.module(kind).TABLES
    if not paths or len(paths) % len(tables):
        raise InputError(f"figure '{kind}' takes one file for each of its tables: {', '.join(tables)}")
    groups = [paths[i : i + len(tables)] for i in range(0, len(paths), len(tables))]
    return [
        {name: tidy.read(path, columns) for (name, columns), path in zip(tables.items(), group, strict=True)}
        for group in groups
    ]


def render(kind, paths, out, command, headline=False):
    """Draw figure `kind` from the tables at `paths` and write out.svg, out.png and out.json."""
    module = figures.catalogue.module(kind)
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
    about = {"name": out.name, **module.describe(tables), "command": command, "headline": headline}
    about |= {"measured": figures.measured(kind), "plotted": contents(figure)}
    storage.write_json(f"{out}.json", about)
