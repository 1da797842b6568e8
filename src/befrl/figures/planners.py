"""Planners by features against exact planning: value error, regret and seconds over the number of features."""

import numpy as np

from befrl.figures import style

SCOPE = "library"
COLUMNS = ("instance", "planner", "features", "repetition", "value_error", "regret", "seconds")
# Same family, same colour; the marker tells its members apart.
LOOKS = {
    "rff-printed": (style.GREY, "x"),
    "rff": (style.BLUE, "o"),
    "rff-balanced": (style.BLUE, "s"),
    "rff-paired": (style.BLUE, "^"),
    "rff-normalised": (style.SKY, "o"),
    "rff-combined": (style.SKY, "s"),
    "positive": (style.VERMILION, "o"),
    "positive-normalised": (style.VERMILION, "s"),
    "chebyshev": (style.GREEN, "D"),
    "jacobi-anger": (style.PURPLE, "D"),
}
# Errors are drawn between these; medians beyond them stand at the rim.
RIMS = {"value_error": (1e-13, 1e5), "regret": (1e-5, 30), "seconds": (None, None)}
NAMES = {"value_error": "value error", "regret": "regret per episode", "seconds": "seconds per plan"}


def look(planner):
    return LOOKS.get(planner, ("black", "v"))


def draw(tables):
    size = (2 * style.WIDTH, 2.0 * len(tables) + 0.6)
    figure, axes = style.subplots(len(tables), len(NAMES), figsize=size, squeeze=False)
    drawn = {}
    for line, table in zip(axes, tables, strict=True):
        exact = table[table["planner"] == "exact"]
        for axis, (column, name) in zip(line, NAMES.items(), strict=True):
            low, high = RIMS[column]
            for planner, part in table[table["planner"] != "exact"].groupby("planner", sort=False):
                middle = part.groupby("features")[column].median()
                colour, marker = look(planner)
                (drawn[planner],) = axis.plot(
                    middle.index, np.clip(middle, low, high), color=colour, marker=marker, markersize=3, linewidth=0.9
                )
            if column != "value_error":
                level = max(exact[column].median(), low or 0.0)
                drawn["exact"] = axis.axhline(level, color="black", linestyle=(0, (4, 1.5)))
            axis.set(xscale="log", yscale="log", ylabel=name)
            if low is not None:
                axis.set_ylim(low / 2, high * 3)
        line[1].set_title(table["instance"].iloc[0])
    for axis in axes[-1]:
        axis.set_xlabel("number of features")
    figure.legend(drawn.values(), drawn, loc="outside lower center", ncols=4, columnspacing=1.2)
    return figure


def describe(tables):
    repetitions = min(int(table["repetition"].nunique()) for table in tables)
    low, high = RIMS["value_error"]
    return {
        "title": "Planners by features against exact planning",
        "caption": (
            f"Medians over {repetitions} draws of the features, planning once in the true model. Left: largest error "
            f"of V_1, drawn between {low:g} and {high:g}; middle: regret of the plan's policy, zero and what is below "
            f"{RIMS['regret'][0]:g} drawn there; right: seconds of a plan. Dashed: exact planning by quadrature, the "
            "line to beat; where features vary within cells its policy, constant on cells, has a regret too. "
            "rff-printed is the paper's appendix to the letter."
        ),
        "seeds": repetitions,
    }
