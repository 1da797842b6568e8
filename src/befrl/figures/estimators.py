"""Error of the estimators of theta: KL to the truth over the number of transitions."""

from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "estimators"
TABLES = {"medians": ("instance", "estimator", "transitions", "repetitions", "kl", "kl_low", "kl_high")}
STYLES = {
    "mle": ("black", "o"),
    "gaussian": (style.GREY, "s"),
    "online-newton": (style.BLUE, "^"),
    "ais": (style.SKY, "o"),
    "mcmc-mle": (style.SKY, "s"),
    "contrastive-divergence": (style.VERMILION, "v"),
    "score-matching": (style.GREEN, "D"),
    "shah": (style.ORANGE, "P"),
    "dual-embedding": (style.PURPLE, "X"),
}


def draw(tables):
    return panels([table["medians"] for table in tables], "kl", "KL to the truth", shaded=True)


def panels(tables, column, label, shaded=False):
    """One panel for each instance, with a line for each estimator."""
    figure, axes = style.panels(len(tables), height=2.4)
    handles = {}
    for axis, table in zip(axes, tables, strict=False):
        handles |= style.lines(axis, table, "estimator", "transitions", column, STYLES, shaded=shaded)
        axis.set(xlabel="number of transitions n", ylabel=label, title=table["instance"].iloc[0])
    columns = min(3, 2 * len(tables))
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=columns, columnspacing=1.2)
    return figure


def describe(tables):
    """The smallest number of repetitions behind a median."""
    return {"seeds": min(int(table["medians"]["repetitions"].min()) for table in tables)}
