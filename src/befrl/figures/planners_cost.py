"""Cost of planners by features against exact planning, over the number of features."""

from befrl.figures.planners import legend, panel
from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "planners"
TABLES = {"timings": ("instance", "planner", "features", "seconds")}


def draw(tables):
    figure, axes = style.panels(len(tables), height=2.4)
    handles = {}
    for axis, table in zip(axes, tables, strict=False):
        handles |= panel(axis, table["timings"], "seconds", (None, None))
        axis.set(xlabel="number of features", ylabel="seconds per plan", title=table["timings"]["instance"].iloc[0])
    legend(figure, handles, columns=2 * min(2, len(tables)))
    return figure


def describe(tables):
    return {
        "title": "Cost of planners by features against exact planning",
        "caption": (
            "Median seconds of one plan in the true model, against the number of features. Dashed: exact planning by "
            "quadrature. A planner by features is cheaper than exact planning where its line lies below the dashed one."
        ),
        "seeds": None,
    }
