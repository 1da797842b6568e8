"""Which extra hypotheses of the proof of Theorem 1 hold on which instance: a matrix of filled and empty squares."""

import numpy as np

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "repairs"
TABLES = {
    "hypotheses": ("instance", "H", "hypothesis", "needed", "holds", "claims", "meaning"),
    "answers": ("instance", "H", "proof", "printed"),
}
# Colour of a square by whether the proof needs the hypothesis.
COLOURS = {True: style.VERMILION, False: style.BLUE}


def draw(tables):
    cases = [case for table in tables for case in _cases(table)]
    first = tables[0]["hypotheses"]
    rows = first[first["H"] == first["H"].iloc[0]]
    size = (2 * style.WIDTH / 1.25 + 0.2, 0.2 * len(rows) + 2.2)
    figure, axis = style.subplots(figsize=size)
    for column, (_, held, answer) in enumerate(cases):
        for line, (_, row) in enumerate(rows.iterrows()):
            colour = COLOURS[bool(row["needed"])]
            face = colour if held[row["hypothesis"]] else "white"
            axis.plot(column, line, marker="s", markersize=7, color=colour, markerfacecolor=face, linestyle="none")
        for line, (key, shape) in enumerate((("proof", "o"), ("printed", "D")), start=len(rows) + 1):
            face = "black" if answer[key] else "white"
            axis.plot(column, line, marker=shape, markersize=6, color="black", markerfacecolor=face, linestyle="none")
    axis.set_xticks(range(len(cases)), [name for name, _, _ in cases], rotation=90)
    labels = [f"{row['meaning'].split(':')[0].rstrip('.')}  {_numbers(row['claims'])}" for _, row in rows.iterrows()]
    ticks = [*range(len(rows)), len(rows) + 1, len(rows) + 2]
    axis.set_yticks(ticks, [*labels, "all that the proof needs", "all"])
    axis.set(xlim=(-0.6, len(cases) - 0.4), ylim=(len(rows) + 2.7, -0.7))
    axis.tick_params(length=0)
    figure.suptitle("filled: the hypothesis holds; red: the proof needs it; blue: for the printed form", fontsize=8)
    return figure


def _cases(table):
    """The name, the hypotheses and the answer of each horizon of an instance."""
    for _, answer in table["answers"].iterrows():
        rows = table["hypotheses"]
        rows = rows[rows["H"] == answer["H"]]
        held = dict(zip(rows["hypothesis"], np.asarray(rows["holds"], dtype=bool), strict=True))
        yield f"{answer['instance']}, H = {answer['H']}", held, answer


def _numbers(claims):
    """The claims in brackets; only the first three of many."""
    found = str(claims).split()
    return f"({', '.join(found[:3])}{', …' if len(found) > 3 else ''})"


def describe(tables):
    answers = [answer for table in tables for _, answer in table["answers"].iterrows()]
    proof = [f"{answer['instance']} with H = {answer['H']}" for answer in answers if answer["proof"]]
    printed = [f"{answer['instance']} with H = {answer['H']}" for answer in answers if answer["printed"]]
    return {
        "title": "Where the proof of Theorem 1 can be repaired",
        "caption": (
            "Hypotheses, computed on each instance at its own and other horizons H, under which steps of the proof "
            "hold that fail as printed (claims in brackets). Red: without it the proof has a gap. Blue: a corrected "
            "formula does without it, the printed one needs it. Circles: all red ones hold; diamonds: all of them do. "
            f"All that the proof needs holds together on: {', '.join(proof) or 'no instance'}. All hold together on: "
            f"{', '.join(printed) or 'no instance'}."
        ),
        "seeds": None,
    }
