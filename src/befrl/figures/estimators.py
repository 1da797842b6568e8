"""Estimators of theta: KL to the truth and seconds of an update, over the number of transitions."""

from befrl.figures import style

SCOPE = "library"
COLUMNS = ("instance", "estimator", "transitions", "repetition", "kl", "seconds")
LOOKS = {
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
NAMES = {"kl": "KL to the truth", "seconds": "seconds per update"}


def draw(tables):
    size = (1.6 * style.WIDTH, 2.0 * len(tables) + 0.6)
    figure, axes = style.subplots(len(tables), len(NAMES), figsize=size, squeeze=False)
    drawn = {}
    for line, table in zip(axes, tables, strict=True):
        for axis, (column, name) in zip(line, NAMES.items(), strict=True):
            for estimator, part in table.groupby("estimator", sort=False):
                by_size = part.groupby("transitions")[column]
                middle = by_size.median()
                colour, marker = LOOKS.get(estimator, ("black", "v"))
                if column == "kl":
                    low, high = by_size.quantile(0.1), by_size.quantile(0.9)
                    axis.fill_between(middle.index, low, high, color=colour, alpha=0.12, linewidth=0)
                (drawn[estimator],) = axis.plot(
                    middle.index, middle, color=colour, marker=marker, markersize=3, linewidth=0.9
                )
            axis.set(xscale="log", yscale="log", ylabel=name, title=table["instance"].iloc[0])
    for axis in axes[-1]:
        axis.set_xlabel("number of transitions n")
    figure.legend(drawn.values(), drawn, loc="outside lower center", ncols=3, columnspacing=1.2)
    return figure


def describe(tables):
    repetitions = min(int(table["repetition"].nunique()) for table in tables)
    return {
        "title": "Estimators of theta",
        "caption": (
            f"Medians over {repetitions} samples of random play, the same for all estimators; shaded: 10 to 90 % of "
            "the samples. Left: KL from the true next-state law to the estimated one, averaged over visited (s, a); "
            "right: seconds of one update, flat in n as only statistics are kept. The penalty is weak, eta = 0.01. "
            "Estimators that do not apply to an instance are left out."
        ),
        "seeds": repetitions,
    }
