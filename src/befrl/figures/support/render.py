"""Drawing figures to files: SVG, PNG and a JSON with its words and contents, the same bytes every time."""

import io
from pathlib import Path

from befrl import figures
from befrl.common import storage, tidy
from befrl.figures.support import names, style
from befrl.figures.support.captions import CAPTIONS
from befrl.figures.support.contents import contents

FORMATS = {"svg": {"Date": None}, "png": {"Software": None}}  # metadata: nothing that changes from run to run
DPI = 300
WORDS = ("title", "heading", "caption", "alternative")


def read_tables(sources) -> list[dict]:
    """The tables of a figure from its sources, see `figures.sources`."""
    return [{name: tidy.read(*source) for name, source in each.items()} for each in sources]


def describe(kind, tables) -> dict:
    """Title, heading, caption and alternative text of a figure, its number of seeds, and whether it is empty."""
    module, values = figures.registry.module(kind), {"empty": False, "seeds": None}
    if hasattr(module, "describe"):
        values |= module.describe(tables)
    words = {"heading": ""} | CAPTIONS[kind]
    if values["empty"]:
        words["caption"] = words["alternative"] = words["empty"]
    return {key: words[key].format(**values) for key in WORDS} | {key: values[key] for key in ("seeds", "empty")}


def render(kind, sources, out, command="", agents=()):
    """Write out.svg, out.png and out.json of a figure; `agents` of the study, {name: algorithm}, fix its styles."""
    tables = read_tables(sources)
    words = describe(kind, tables)
    style.theme()
    # The styles of estimators and planners do not depend on the agents.
    style.start({} if figures.scope(kind) == "component" else agents)
    figure = style.sentence(words["caption"]) if words.pop("empty") else figures.registry.module(kind).draw(tables)
    if heading := words.pop("heading"):
        figure.suptitle(heading, fontsize=style.HEADING)
    names.give(figure)
    for suffix, metadata in FORMATS.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix, dpi=DPI, metadata=metadata | {"Title": words["alternative"]})
        figure.set_layout_engine("none")  # the layout takes as long as drawing: find it once
        with storage.replacing(f"{out}.{suffix}") as file:
            file.write(buffer.getvalue())
    about = {"name": Path(out).name, **words, "command": command}
    about |= figures.place(kind) | {"measured": figures.measured(kind), "plotted": contents(figure)}
    storage.write_json(f"{out}.json", about)
