"""Error of planners by features against exact planning, over the number of features."""

from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "planners"
TABLES = {"medians": ("instance", "planner", "features", "repetitions", "value_error", "regret")}
# Planners of one kind share a colour and differ in the marker.
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
# Errors are drawn between these limits; medians beyond them stand at the limit.
RIMS = {"value_error": (1e-13, 1e5), "regret": (1e-5, 30)}
NAMES = {"value_error": "value error", "regret": "regret per episode"}


def draw(tables):
    size = (1.6 * style.WIDTH, 2.0 * len(tables) + 0.6)
    figure, axes = style.subplots(len(tables), len(NAMES), figsize=size, squeeze=False)
    handles = {}
    for line, table in zip(axes, tables, strict=True):
        for axis, (column, name) in zip(line, NAMES.items(), strict=True):
            low, high = RIMS[column]
            # The value error of exact planning is zero, which a logarithmic axis does not have.
            handles |= panel(axis, table["medians"], column, RIMS[column], exact=column != "value_error")
            axis.set(ylabel=name, ylim=(low / 2, high * 3), title=table["medians"]["instance"].iloc[0])
    for axis in axes[-1]:
        axis.set_xlabel("number of features")
    figure.suptitle(f"medians over {repetitions(tables)} draws of the features", fontsize=8)
    legend(figure, handles, columns=4)
    return figure


def repetitions(tables):
    """The number of draws behind each median, the least of all tables."""
    return min(int(table["medians"]["repetitions"].min()) for table in tables)


def panel(axis, table, column, rims, exact=True):
    """One line for each planner by features and, if wanted, a dashed one for exact planning; handles by name."""
    by_features = table[table["planner"] != "exact"]
    handles = style.lines(axis, by_features, "planner", "features", column, LOOKS, rims)
    if exact:
        level = table[table["planner"] == "exact"][column].clip(*rims).iloc[0]
        handles["exact"] = axis.axhline(level, color="black", linestyle=(0, (4, 1.5)))
    return handles


def legend(figure, handles, columns):
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=columns, columnspacing=1.2)


def describe(tables):
    draws = repetitions(tables)
    low, high = RIMS["value_error"]
    return {
        "title": "Planners by features against exact planning",
        "caption": (
            f"Medians over {draws} draws of the features of one plan in the true model. Left: largest error of "
            f"V_1, drawn between {low:g} and {high:g}. Right: regret of the plan's policy, drawn at "
            f"{RIMS['regret'][0]:g} if it is smaller. Dashed: exact planning by quadrature; where features vary within "
            "cells its policy, constant on cells, has a regret too. rff-printed follows the paper's appendix to the "
            "letter. A planner by features is as good as exact planning where its line meets the dashed one."
        ),
        "seeds": draws,
    }
