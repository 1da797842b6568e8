"""Which extra hypotheses of the proof of Theorem 1 hold on which instance: a matrix of filled and empty squares."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "repairs"
TABLES = {
    "hypotheses": ("instance", "H", "hypothesis", "needed", "holds", "claims", "meaning"),
    "answers": ("instance", "H", "proof", "printed"),
}
COLOURS = {True: style.VERMILION, False: style.BLUE}  # by whether the proof needs the hypothesis


def draw(tables):
    cases = [
        (table["hypotheses"][table["hypotheses"]["H"] == answer["H"]].set_index("hypothesis"), answer)
        for table in tables
        for _, answer in table["answers"].iterrows()
    ]
    first = tables[0]["hypotheses"]
    rows = first[first["H"] == first["H"].iloc[0]]
    size = (2 * style.WIDTH / 1.25 + 0.2, 0.2 * len(rows) + 2.2)
    figure, axis = style.subplots(figsize=size)
    for column, (held, answer) in enumerate(cases):
        squares = [("s", 7, COLOURS[bool(row.needed)], held["holds"][row.hypothesis]) for row in rows.itertuples()]
        answers = [("o", 6, "black", answer["proof"]), ("D", 6, "black", answer["printed"])]
        for line, (marker, width, colour, filled) in zip(_lines(rows), squares + answers, strict=True):
            options = {"marker": marker, "markersize": width, "color": colour, "linestyle": "none"}
            axis.plot(column, line, **options, markerfacecolor=colour if filled else "white")
    names = [f"{answer['instance']}, H = {answer['H']}" for _, answer in cases]
    axis.set_xticks(range(len(cases)), names, rotation=90)
    labels = [f"{row.meaning.split(':')[0].rstrip('.')}  {_numbers(row.claims)}" for row in rows.itertuples()]
    axis.set_yticks(_lines(rows), [*labels, "all that the proof needs", "all"])
    axis.set(xlim=(-0.6, len(cases) - 0.4), ylim=(len(rows) + 2.7, -0.7))
    axis.tick_params(length=0)
    return figure


def _lines(rows):
    return [*range(len(rows)), len(rows) + 1, len(rows) + 2]


def _numbers(claims):
    found = str(claims).split()
    return f"({', '.join(found[:3])}{', …' if len(found) > 3 else ''})"


def describe(tables):
    answers = [answer for table in tables for _, answer in table["answers"].iterrows()]
    found = {}
    for form in ("proof", "printed"):
        held = [f"{answer['instance']} with H = {answer['H']}" for answer in answers if answer[form]]
        found[form] = ", ".join(held) or "no instance"
    return found
