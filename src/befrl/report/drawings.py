"""The figures of each section of the page."""

import math

from markupsafe import Markup

from befrl.report import svg

# What the page shows of a figure, with default values.
FIGURE = {"title": "", "caption": "", "alternative": "", "command": "", "measured": False, "seeds": None}
FIGURE |= {"section": "components", "lead": 0, "tables": (), "plotted": None}


def figures_by_section(figures, anchors) -> dict[str, list[dict]]:
    """The figures of each section, those that open it first. They are inline, but for those of closed cases."""
    found: dict[str, list[dict]] = {}
    for number, figure in enumerate(figures, start=1):
        made = FIGURE | {"title": figure["name"], "kind": figure["name"].partition("_")[0]} | figure
        made |= {"anchor": anchors.new("figure", figure["name"]), "scope": f"f{number}"}
        made["alternative"] = made["alternative"] or made["title"]
        found.setdefault(made["section"], []).append(made)
    for section, listed in found.items():
        listed.sort(key=lambda figure: figure["lead"] or math.inf)
        seen = set()
        for figure in listed:  # of several figures of one kind the first leads
            figure["lead"] = bool(figure["lead"]) and section != "cases" and figure["kind"] not in seen
            seen.add(figure["kind"])
            if figure["lead"]:
                text = svg.inline(figure["svg"], figure["alternative"], figure["scope"], source=figure["name"])
            else:
                text = svg.image(figure["svg"], figure["scope"], source=figure["name"])
            figure["drawing"] = Markup(text)
    return found
