"""Error of planners by features against their cost, beside exact planning."""

from befrl.figures import estimators
from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "planners"
TABLES = {
    "medians": ("instance", "planner", "features", "repetitions", "value_error", "regret"),
    "timings": ("instance", "planner", "features", "seconds"),
}
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
    "exact": ("black", "h"),
}
ERRORS = {"value_error": "largest error of V₁", "regret": "regret of the plan"}
EXACT, LARGEST = 1e-12, 1e6  # smaller errors are rounding, drawn at zero; larger ones are drawn at LARGEST


def draw(tables):
    size = (style.WIDTH, 1.75 * len(tables) + 0.5)
    figure, axes = style.subplots(len(tables), len(ERRORS), figsize=size, squeeze=False)
    handles = {}
    for line, table in zip(axes, tables, strict=True):
        rows = timed(table)
        for axis, (column, name) in zip(line, ERRORS.items(), strict=True):
            handles |= style.paths(axis, rows, "planner", column, STYLES)
            axis.set(ylabel=name, title=rows["instance"].iloc[0])
            style.with_zero(axis, "y", rows[column], least=EXACT)
            axis.set_ylim(0, 3 * rows[column].max())
    for axis in axes[-1]:
        axis.set_xlabel("seconds of a plan")
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4, **style.TIGHT)
    return figure


def timed(table):
    """The medians of a study with their seconds, their errors as drawn."""
    rows = estimators.timed(table, ["planner", "features"])
    errors = {column: rows[column].clip(upper=LARGEST) for column in ERRORS}
    return rows.assign(**{column: values.where(values > EXACT, 0.0) for column, values in errors.items()})


def describe(tables):
    words = []
    for table in tables:
        rows = timed(table)
        best = rows[rows["planner"] != "exact"].sort_values(["value_error", "seconds"], kind="stable").iloc[0]
        words.append(f"{best['planner']} on {best['instance']}")
    seeds = min(int(table["medians"]["repetitions"].min()) for table in tables)
    return {"seeds": seeds, "best": " and ".join(words), "least": style.power(EXACT), "largest": style.power(LARGEST)}
