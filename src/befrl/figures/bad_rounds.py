"""Bad rounds: the example of claim C45c, whose imagined ones grow with K, and those of BEF-RLSVI on our instances."""

import numpy as np

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "proof"
COLUMNS = ("instance", "eta", "multiple", "episodes", "seeds", "rounds", "k", "mean", "low", "high", "most", "printed")
TABLES = {"example": ("K", "imagined", "played", "printed", "corrected"), "bad_rounds": COLUMNS}
CURVES = {  # of the example
    "imagined": ("imagined", {"color": style.BLUE, "marker": "o", "markerfacecolor": "white", "markersize": 3}),
    "printed": ("printed bound", {"color": "black", "linestyle": "dashed"}),
    "corrected": ("corrected, played", {"color": "black", "linestyle": "dotted"}),
    "played": ("played, at most", {"color": style.BLUE, "marker": "o", "markersize": 3}),
}
APART = {"played": -0.15, "imagined": 0.15}  # on a line


def last(tables) -> list:
    """The bad rounds after all episodes of each instance."""
    return [rows[rows["k"] == rows["episodes"]] for rows in (table["bad_rounds"] for table in tables)]


def draw(tables):
    example, runs = tables[0]["example"], last(tables)
    figure, (left, right) = style.subplots(1, 2, figsize=(style.WIDTH, 2.3))
    for column, (label, options) in CURVES.items():
        left.plot(example["K"], example[column], label=label, linewidth=0.9, clip_on=False, **options)
    left.set(xscale="log", xlabel="episodes K", ylabel="expected bad rounds", title="example of C45c,\nno seeds")
    left.set(xlim=example["K"].iloc[[0, -1]])
    style.with_zero(left, "y", np.array([0.1]))
    left.set_ylim(0, 2 * example["imagined"].max())
    colour = style.colour("bef-rlsvi")
    labels = []
    for row in (row for rows in runs for row in rows.itertuples()):
        labels += [name for name in [f"{row.instance}, {style.power(row.multiple)} x"] if name not in labels]
        at = len(labels) - 1 + APART[row.rounds]
        face = "white" if row.rounds == "imagined" else colour
        right.plot([row.low, row.high], [at, at], color=colour, linewidth=1)
        right.plot(row.mean, at, color=colour, marker="o", markersize=3, markerfacecolor=face, linestyle="none")
        right.plot(row.printed, len(labels) - 1, color="black", marker="|", markersize=6, linestyle="none")
    right.set_yticks(range(len(labels)), labels)
    sizes = style.sizes(runs)
    right.set(xscale="log", xlabel="bad rounds", xlim=(1, None), ylim=(len(labels) - 0.5, -0.5))
    right.set_title(f"BEF-RLSVI,\nK = {sizes['episodes']}, {style.span(runs, 'seeds')} seeds")
    style.legend(figure, [left], 4, **style.TIGHT)
    return figure


def describe(tables):
    example, runs = tables[0]["example"].iloc[-1], last(tables)
    slack = min(float((rows["printed"] / rows["most"].clip(lower=1)).min()) for rows in runs)
    values = {"slack": slack, "K": int(example["K"]), "range": style.span(runs, "seeds")}
    return style.sizes(runs) | values | {key: float(example[key]) for key in ("imagined", "printed")}
