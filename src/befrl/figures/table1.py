"""Table 1 of the paper, measured: its marks beside the regret, optimism and plans of our runs."""

from befrl.analysis.printed import PRINTED
from befrl.analysis.statistics import NO_REGRET
from befrl.figures.support import style

SCOPE = "table"
SUBJECT = "table1"
MEASURED = ("mean", "low", "high", "q10", "q90", "failed", "optimistic")
TABLES = {
    "table": (
        *("instance", "track", "agent", "algorithm", "specification", "constants", "seeds", "episodes"),
        *("rate", "tractable_exploration", "tractable_planning", "free_of_clipping", "plans"),
        *(f"{prefix}_{name}" for prefix in ("theory", "tuned") for name in MEASURED),
    )
}
MARKS = {"yes": "✓", "no": "✗", "n.a.": "–", "": ""}
RATES = {" K": "K", " H": "H", "sqrt": "√", "^2": "²", "^3": "³", "^4": "⁴", "^5": "⁵", ", Bayesian": " (B)"}


def shown(table):
    """The agents of the first case: those of the paper's Table 1 in its order, then the others."""
    first = table.iloc[0]
    rows = table[(table["instance"] == first["instance"]) & (table["track"] == first["track"])]
    order = {name: place for place, name in enumerate(PRINTED)}
    return rows.sort_values("algorithm", key=lambda names: names.map(lambda n: order.get(n, len(order))), kind="stable")


def draw(tables):
    rows = shown(tables[0]["table"])
    names = style.names(rows)
    figure, (words, regret, optimism, plans) = style.subplots(
        1, 4, figsize=(2 * style.WIDTH, 1.0 + 0.2 * len(rows)), sharey=True, width_ratios=(2.7, 2.9, 1.4, 0.6)
    )
    for line, row in enumerate(rows.itertuples()):
        colour = style.colour(row.agent, row.algorithm)
        texts(words, line, ((0.0, names[row.agent], "left"), (1.0, _rate(row.rate), "left")), colour=colour)
        marks = (row.tractable_exploration, row.tractable_planning, row.free_of_clipping)
        texts(words, line, [(1.95 + 0.25 * i, MARKS.get(mark, ""), "center") for i, mark in enumerate(marks)])
        for prefix, filled, offset in (("theory", False, -0.15), ("tuned", True, 0.15)):
            value = {name: getattr(row, f"{prefix}_{name}") for name in MEASURED}
            if not value["mean"] > NO_REGRET:
                continue
            look = {"color": colour, "marker": "o", "markersize": 3.5, "markerfacecolor": colour if filled else "white"}
            regret.plot([value["q10"], value["q90"]], [line + offset] * 2, color=colour, linewidth=0.6, alpha=0.6)
            regret.plot([value["low"], value["high"]], [line + offset] * 2, color=colour, linewidth=1.8)
            regret.plot(value["mean"], line + offset, linestyle="none", **look)
            if value["failed"] > 0:
                regret.annotate(
                    f"{value['failed']:.0%}", (1.0, line + offset), xycoords=("axes fraction", "data"), fontsize=5,
                    ha="right", va="center", color="0.3",
                )  # fmt: skip
            optimism.plot(value["optimistic"], line + offset, linestyle="none", clip_on=False, **look)
        texts(plans, line, ((0.5, f"{row.plans:.3g}", "center"),))
    words.set(xlim=(0, 2.55), ylim=(len(rows) - 0.5, -0.5), yticks=[])
    heads(words, ((0.0, "agent", "left"), (1.0, "printed rate", "left")))
    heads(words, ((1.95, "explore", "left"), (2.2, "plan", "left"), (2.45, "no clip", "left")), angle=30)
    regret.set(xscale="log", xlabel="regret after K episodes\n(right: failed seeds)")
    # Room for the numbers at the right; powers of ten are ticks enough.
    regret.set_xlim(right=regret.get_xlim()[1] * 3.0)
    regret.xaxis.set_minor_formatter("")
    optimism.set(xlim=(0, 1), xticks=[0, 0.5, 1], xlabel="optimistic\nepisodes")
    plans.set(xlim=(0, 1), xlabel="plans per\nepisode")
    for axis in (words, plans):
        bare(axis)
    for axis in (regret, optimism):
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="y", linewidth=0.3)
    first = rows.iloc[0]
    figure.suptitle(style.heading(first), fontsize=8.5)
    return figure


def texts(axis, line, entries, colour="black"):
    """Write texts, each given with its place and alignment, into a line of a panel."""
    for x, text, side in entries:
        axis.text(x, line, text, ha=side, va="center", fontsize=6, color=colour)


def heads(axis, entries, angle=0):
    """Write the names of columns above the first line."""
    for x, text, side in entries:
        axis.text(x, -0.75, text, ha=side, va="bottom", fontsize=6, rotation=angle, rotation_mode="anchor")


def bare(axis):
    """Take ticks and frame off a panel of texts."""
    axis.set(xticks=[])
    axis.tick_params(axis="y", length=0)
    for side in axis.spines.values():
        side.set_visible(False)


def _rate(text):
    """The printed bound in mathematical signs, without its alternative, for which there is no room."""
    text = text.split(", or")[0] if isinstance(text, str) else ""
    for word, sign in RATES.items():
        text = text.replace(word, sign)
    return text


def describe(tables):
    rows = shown(tables[0]["table"])
    first = rows.iloc[0]
    return {
        "title": "Table 1, measured",
        "caption": (
            f"Entries of the paper's Table 1 (rate without logarithms, (B): Bayesian; tractable exploration, tractable "
            f"planning, free of clipping) beside our measurements on {first['instance']}, "
            f"{style.track(first['track'])}, over {first['seeds']} seeds and {first['episodes']} episodes. Hollow: "
            f"constants of the theory, or none. Full: best point of a grid, chosen on other seeds. Regret: thick: "
            f"bootstrap interval of the mean, thin: 10 to 90 % of the seeds, at the right the share of seeds that "
            f"failed to learn; zero regret is not drawn. Plans: backward inductions. Agents without a rate are not in "
            f"the paper's table. Compare the order of the regrets with that of the rates."
            f"{style.explained(rows)}"
        ),
        "seeds": int(first["seeds"]),
    }
