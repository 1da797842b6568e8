"""Error of the estimators of theta against their cost: KL to the truth over seconds of an update."""

from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "estimators"
TABLES = {
    "medians": ("instance", "estimator", "transitions", "repetitions", "kl", "kl_low", "kl_high"),
    "timings": ("instance", "estimator", "transitions", "seconds"),
}
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


def timed(table, keys):
    """The medians of a study with their seconds."""
    return table["medians"].merge(table["timings"].drop(columns="instance"), on=keys, how="inner", sort=False)


def draw(tables):
    figure, axes = style.panels(len(tables), height=2.0)
    handles = {}
    for axis, table in zip(axes, tables, strict=False):
        rows = timed(table, ["estimator", "transitions"])
        handles |= style.paths(axis, rows, "estimator", "kl", STYLES)
        sizes = rows["transitions"]
        title = f"{rows['instance'].iloc[0]}, n = {sizes.min():,} to {sizes.max():,}"
        axis.set(xlabel="seconds of an update", title=title, yscale="log")
    axes[0].set_ylabel("KL to the truth")
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=3, **style.TIGHT)
    return figure


def describe(tables):
    """The smallest number of repetitions behind a median, and the best and the fastest at the largest size."""
    words = []
    for table in tables:
        rows = timed(table, ["estimator", "transitions"])
        rows = rows[rows["transitions"] == rows["transitions"].max()].set_index("estimator")
        name = rows["instance"].iloc[0]
        words.append(
            f"on {name} {rows['kl'].idxmin()} has the least error and {rows['seconds'].idxmin()} is the fastest"
        )
    seeds = min(int(table["medians"]["repetitions"].min()) for table in tables)
    return {"seeds": seeds, "finding": "; ".join(words)}
