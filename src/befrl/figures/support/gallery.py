"""A gallery of figures as Markdown: title, alternative text and picture of each, by section of the report."""

import math
from pathlib import Path

from befrl.common import storage
from befrl.common.errors import InputError

SECTIONS = {
    "answer": "The answer",
    "winners": "Who wins",
    "theorem": "Theorem 1",
    "repair": "The repair",
    "cases": "Cases",
    "components": "Components",
    "cost": "Cost",
}
PICTURES = "../figures"  # seen from a page in docs/


def markdown(folder) -> str:
    """The gallery of the figures that have a JSON in a folder, those that open a section of the report first."""
    figures = [storage.read_json(path) for path in sorted(Path(folder).glob("*.json"))]
    if not figures:
        raise InputError(f"{folder}: no figures: give a folder with their JSON files, such as figures")
    figures.sort(key=lambda figure: (list(SECTIONS).index(figure["section"]), figure["lead"] or math.inf))
    lines, section = [], ""
    for figure in figures:
        lines += [f"## {SECTIONS[figure['section']]}", ""] if figure["section"] != section else []
        section, picture = figure["section"], f"{PICTURES}/{figure['name']}"
        text = figure["alternative"].replace("[", "(").replace("]", ")")
        lines += [f"### {figure['title']}", "", f"`{figure['name']}`: {figure['alternative']}", ""]
        lines += [f"[![{text}]({picture}.png)]({picture}.svg)", ""]
    return "\n".join(lines)
