"""Error of the estimators of theta: KL to the truth over the number of transitions."""

from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "estimators"
TABLES = {"medians": ("instance", "estimator", "transitions", "repetitions", "kl", "kl_low", "kl_high")}
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


def draw(tables):
    figure = panels([table["medians"] for table in tables], "kl", "KL to the truth", shaded=True)
    figure.suptitle(f"medians over {repetitions(tables)} samples; shaded: 10 to 90 % of them", fontsize=8)
    return figure


def panels(tables, column, label, shaded=False):
    """One panel for each instance, with a line for each estimator."""
    figure, axes = style.panels(len(tables), height=2.4)
    handles = {}
    for axis, table in zip(axes, tables, strict=False):
        handles |= style.lines(axis, table, "estimator", "transitions", column, LOOKS, shaded=shaded)
        axis.set(xlabel="number of transitions n", ylabel=label, title=table["instance"].iloc[0])
    figure.legend(
        handles.values(), handles, loc="outside lower center", ncols=min(3, 2 * len(tables)), columnspacing=1.2
    )
    return figure


def repetitions(tables):
    """The number of samples behind each median, the least of all tables."""
    return min(int(table["medians"]["repetitions"].min()) for table in tables)


def describe(tables):
    samples = repetitions(tables)
    return {
        "title": "Error of the estimators of theta",
        "caption": (
            "KL from the true next-state law to the estimated one, averaged over visited (s, a), against the number "
            f"of transitions: medians over {samples} samples of random play, the same for all estimators; shaded: "
            "10 to 90 % of the samples. The penalty is weak, eta = 0.01. Estimators that do not apply to an instance "
            "are left out. The distance to mle, in black, is what another estimator loses."
        ),
        "seeds": samples,
    }
