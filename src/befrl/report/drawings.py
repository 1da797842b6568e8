"""The figures of each section of the page."""

from markupsafe import Markup

from befrl.report import svg

WIDE = 360.0  # points: wider drawings take the whole width of the page
# Figures by section, leading ones inline; a name is that of a figure, or of its kind if there is one for each case.
LEAD = {
    "answer": ("noise-scale",),
    "winners": ("who-wins",),
    "theorem": ("claims-map", "bound", "rates"),
    "repair": ("certificate", "certified"),
    "cases": ("regret",),
}
MORE = {
    "theorem": ("traps", "noise-forms", "coverage-regions", "bad-rounds", "optimism", "optimism-episodes"),
    "repair": ("repairs",),
    "cases": ("ordering", "tuning"),
}
# What the page shows of a figure, with default values.
FIGURE = {"title": "", "caption": "", "alternative": "", "command": "", "measured": False, "seeds": None}


def figures_by_section(figures, anchors) -> dict[str, list[dict]]:
    """The figures of each section, in the order of LEAD and MORE; figures not named there come with the components."""
    found: dict[str, list[dict]] = {}
    places = [
        (section, kind, lead)
        for listed in (LEAD, MORE)
        for section, kinds in listed.items()
        for kind in kinds
        for lead in [listed is LEAD]
    ]
    known = {kind: (section, lead, number) for number, (section, kind, lead) in enumerate(places)}
    for number, figure in enumerate(figures, start=1):
        kind = figure["name"].partition("_")[0]
        section, lead, place = known.get(kind, (figure.get("section") or "components", False, len(known)))
        section = "cost" if figure.get("measured") else section
        made = FIGURE | {"title": figure["name"]} | figure | {"lead": lead, "place": place, "kind": kind}
        made |= {"anchor": anchors.new("figure", figure["name"]), "scope": f"f{number}"}
        made["alternative"] = made["alternative"] or made["title"]
        made["wide"] = svg.width(made["svg"]) > WIDE
        found.setdefault(section, []).append(made)
    for section, listed in found.items():
        listed.sort(key=lambda figure: figure["place"])
        seen = set()
        for figure in listed:  # of several figures of one kind the first leads; each case has its own
            figure["lead"] = figure["lead"] and (section == "cases" or figure["kind"] not in seen)
            seen.add(figure["kind"])
            if figure["lead"]:
                text = svg.inline(figure["svg"], figure["alternative"], figure["scope"], source=figure["name"])
            else:
                text = svg.image(figure["svg"], source=figure["name"])
            figure["drawing"] = Markup(text)
    return found
