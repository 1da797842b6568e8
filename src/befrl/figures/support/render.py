"""Drawing figures to files: SVG, PNG and a JSON with its words and contents, the same bytes every time."""

import io
from pathlib import Path

from befrl import figures
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.figures.support import names, style
from befrl.figures.support.captions import CAPTIONS
from befrl.figures.support.contents import contents

FORMATS = {"svg": {"metadata": {"Date": None}}, "png": {"dpi": 200, "metadata": {"Software": None}}}
SUFFIXES = (*FORMATS, "json")


def read_tables(kind, paths) -> list[dict]:
    """The tables of a figure: `paths` has, for each thing shown, one file for each of the module's TABLES."""
    tables = figures.registry.module(kind).TABLES
    if not paths or len(paths) % len(tables):
        raise InputError(f"figure '{kind}' takes one file for each of its tables: {', '.join(tables)}")
    groups = [paths[i : i + len(tables)] for i in range(0, len(paths), len(tables))]
    return [
        {name: tidy.read(path, columns) for (name, columns), path in zip(tables.items(), group, strict=True)}
        for group in groups
    ]


def describe(kind, tables) -> dict:
    """Title, heading and caption of a figure in words, and its number of seeds."""
    module, values = figures.registry.module(kind), {"empty": False, "seeds": None}
    if hasattr(module, "describe"):
        values |= module.describe(tables)
    words = {"heading": ""} | CAPTIONS[kind]
    words["caption"] = words["empty" if values["empty"] else "caption"]
    return {key: words[key].format(**values) for key in ("title", "heading", "caption")} | {"seeds": values["seeds"]}


def render(kind, paths, out, command="", headline=False, agents=()):
    """Write out.svg, out.png and out.json of a figure; `agents` of the study, {name: algorithm}, fix its styles."""
    tables = read_tables(kind, paths)
    words = describe(kind, tables)
    style.theme()
    # The styles of estimators and planners do not depend on the agents.
    style.start({} if figures.scope(kind) == "component" else agents)
    figure = figures.registry.module(kind).draw(tables)
    if heading := words.pop("heading"):
        figure.suptitle(heading, fontsize=8 if figures.scope(kind) == "component" else 8.5)
    names.give(figure)
    for suffix, options in FORMATS.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix, **options)
        figure.set_layout_engine("none")  # the layout takes as long as drawing: find it once
        with storage.replacing(f"{out}.{suffix}") as file:
            file.write(buffer.getvalue())
    about = {"name": Path(out).name, **words, "command": command, "headline": headline}
    about |= {"section": figures.section(kind), "measured": figures.measured(kind), "plotted": contents(figure)}
    storage.write_json(f"{out}.json", about)
