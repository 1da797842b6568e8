"""Drawing figures to files: SVG, PNG and a JSON with its words and contents, the same bytes every time."""

import io
from pathlib import Path

from befrl import figures
from befrl.common import storage, tidy
from befrl.common.errors import InputError, unknown
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


def render_all(kinds, paths, outs, commands=(), headlines=(), looks=()):
    """Draw several figures that show the same things; `paths` holds the tables of the first kind, then of the next.

    `looks` are the numbers of the newcomers (`newcomers.py`), {name: number}.
    """
    counts = [len(figures.registry.module(kind).TABLES) for kind in kinds]
    things, left = divmod(len(paths), sum(counts))
    if left:
        tables = "; ".join(f"{', '.join(figures.registry.module(kind).TABLES)}" for kind in kinds)
        raise InputError(f"figure '{' '.join(kinds)}' takes one file for each of its tables: {tables}")
    if len(outs) != len(kinds) or len(commands) not in (0, len(kinds)):
        raise InputError(f"give --out, and --command if any, once for each of {', '.join(kinds)}")
    for headline in headlines:
        if headline not in kinds:
            raise unknown("headline", headline, kinds)
    paths = iter(paths)
    for kind, count, out, command in zip(kinds, counts, outs, commands or [""] * len(kinds), strict=True):
        render(kind, [next(paths) for _ in range(things * count)], out, command, kind in headlines, looks)


def render(kind, paths, out, command, headline=False, looks=()):
    """Draw figure `kind` from the tables at `paths` and write out.svg, out.png and out.json."""
    module = figures.registry.module(kind)
    tables = read_tables(kind, paths)
    style.apply()
    newcomers.start(looks)
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
