"""Drawing figures to files: SVG, PNG and a JSON with its words and contents, the same bytes every time."""

import io
from pathlib import Path

from befrl import figures
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.figures.support import newcomers, style
from befrl.figures.support.contents import contents

SUFFIXES = ("svg", "png", "json")


def read_tables(kind, paths) -> list[dict]:
    """The tables of figure `kind`: `paths` holds, for each thing shown, one file for each of the module's TABLES."""
    tables = figures.registry.module(kind).TABLES
    if not paths or len(paths) % len(tables):
        raise InputError(f"figure '{kind}' takes one file for each of its tables: {', '.join(tables)}")
    groups = [paths[i : i + len(tables)] for i in range(0, len(paths), len(tables))]
    return [
        {name: tidy.read(path, columns) for (name, columns), path in zip(tables.items(), group, strict=True)}
        for group in groups
    ]


def render(kind, paths, out, command, headline=False, agents=()):
    """Draw figure `kind` from the tables at `paths` and write out.svg, out.png and out.json."""
    module = figures.registry.module(kind)
    tables = read_tables(kind, paths)
    style.apply()
    newcomers.start(style.numbered(dict(agents)))
    figure = module.draw(tables)
    out = Path(out)
    for suffix, options in (
        ("svg", {"metadata": {"Date": None}}),
        ("png", {"dpi": 200, "metadata": {"Software": None}}),
    ):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix, **options)
        # The layout, which takes as long as drawing, is found once and serves both files.
        figure.set_layout_engine("none")
        with storage.replacing(f"{out}.{suffix}") as file:
            file.write(buffer.getvalue())
    about = {"name": out.name, **module.describe(tables), "command": command, "headline": headline}
    about |= {"section": figures.section(kind), "measured": figures.measured(kind), "plotted": contents(figure)}
    storage.write_json(f"{out}.json", about)
    style.close(figure)
