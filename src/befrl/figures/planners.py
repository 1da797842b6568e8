"""Error of planners by features against exact planning, over the number of features."""

from befrl.figures import estimators
from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "planners"
TABLES = {"medians": ("instance", "planner", "features", "repetitions", "value_error", "regret")}
STYLES = {  # a colour for each kind of planner
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
# Name of each error and the limits of its axis, at which medians beyond them are drawn.
ERRORS = {"value_error": ("value error", (1e-13, 1e5)), "regret": ("regret per episode", (1e-5, 30))}


def draw(tables):
    size = (1.6 * style.WIDTH, 2.0 * len(tables) + 0.6)
    figure, axes = style.subplots(len(tables), len(ERRORS), figsize=size, squeeze=False)
    handles = {}
    for line, table in zip(axes, tables, strict=True):
        for axis, (column, (name, (low, high))) in zip(line, ERRORS.items(), strict=True):
            # The value error of exact planning is 0, which a logarithmic axis cannot show.
            handles |= panel(axis, table["medians"], column, (low, high), exact=column != "value_error")
            axis.set(ylabel=name, ylim=(low / 2, high * 3), title=table["medians"]["instance"].iloc[0])
    for axis in axes[-1]:
        axis.set_xlabel("number of features")
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4, columnspacing=1.2)
    return figure


def panel(axis, table, column, limits, exact=True):
    """One line for each planner by features and, if wanted, a dashed one for exact planning; handles by name."""
    by_features = table[table["planner"] != "exact"]
    handles = style.lines(axis, by_features, "planner", "features", column, STYLES, limits)
    if exact:
        level = table[table["planner"] == "exact"][column].clip(*limits).iloc[0]
        handles["exact"] = axis.axhline(level, color="black", linestyle=(0, (4, 1.5)))
    return handles


def describe(tables):
    (low, high), (least, _) = ERRORS["value_error"][1], ERRORS["regret"][1]
    return estimators.describe(tables) | {"low": low, "high": high, "least": least}
