"""Cost of planners by features against exact planning, over the number of features."""

from befrl.figures.planners import panel
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
    columns = 2 * min(2, len(tables))
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=columns, columnspacing=1.2)
    return figure
