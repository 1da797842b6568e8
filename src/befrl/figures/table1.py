"""Table 1 of the paper, measured: its marks beside the regret, optimism and plans of our runs."""

from befrl.analysis.statistics import EVERYWHERE, NO_REGRET
from befrl.common.printed import PRINTED
from befrl.figures.support import style

SCOPE = "table"
SUBJECT = "table1"
MEASURED = ("mean", "low", "high", "q10", "q90", "failed", "optimistic", "tied")
# Smaller regrets are drawn at this share of the smallest positive one.
FLOOR = 0.3
TABLES = {
    "table": (
        *("instance", "track", "agent", "algorithm", "specification", "constants", "seeds", "episodes"),
        *("rate", "tractable_exploration", "tractable_planning", "free_of_clipping", "plans"),
        *("theory_group", "tuned_group", "median_mean", "worst_mean"),
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
    figure, (words, regret, letters, optimism) = style.subplots(
        1, 4, figsize=(2 * style.WIDTH, 1.1 + 0.2 * len(rows)), sharey=True, width_ratios=(2.6, 3.0, 1.2, 1.2)
    )
    means = rows[["theory_mean", "tuned_mean"]].to_numpy()
    floor = FLOOR * means[means > NO_REGRET].min()
    for line, row in enumerate(rows.itertuples()):
        colour = style.colour(row.agent, row.algorithm)
        texts(words, line, ((0.0, names[row.agent], "left"), (1.0, _rate(row.rate), "left")), colour=colour)
        marks = (row.tractable_exploration, row.tractable_planning, row.free_of_clipping)
        texts(words, line, [(1.95 + 0.25 * i, MARKS.get(mark, ""), "center") for i, mark in enumerate(marks)])
        for prefix, filled, offset in (("theory", False, -0.17), ("tuned", True, 0.17)):
            value = {name: getattr(row, f"{prefix}_{name}") for name in MEASURED}
            if value["mean"] != value["mean"]:
                continue
            q10, q90, low, high, mean = (max(value[name], floor) for name in ("q10", "q90", "low", "high", "mean"))
            look = {"color": colour, "marker": "o", "markersize": 3.5, "markerfacecolor": colour if filled else "white"}
            look |= {"marker": "<"} if value["mean"] < floor else {}
            regret.plot([q10, q90], [line + offset] * 2, color=colour, linewidth=0.6, alpha=0.6)
            regret.plot([low, high], [line + offset] * 2, color=colour, linewidth=1.8)
            regret.plot(mean, line + offset, linestyle="none", clip_on=False, **look)
            if value["failed"] > 0:
                regret.annotate(
                    f"{value['failed']:.1%}", (1.0, line + offset), xycoords=("axes fraction", "data"), fontsize=5,
                    ha="right", va="center", color="0.3",
                )  # fmt: skip
            optimism.plot(value["optimistic"], line + offset, linestyle="none", clip_on=False, **look | {"marker": "o"})
            texts(letters, line + offset, ((0.0, _letters(row, prefix), "left"),), size=5)
        if row.median_mean == row.median_mean:
            regret.plot(max(row.median_mean, floor), line + 0.17, color=colour, marker="|", markersize=6)
            regret.plot(max(row.worst_mean, floor), line + 0.17, color=colour, marker="x", markersize=3)
    words.set(xlim=(0, 2.55), ylim=(len(rows) - 0.5, -0.5), yticks=[])
    heads(words, ((0.0, "agent", "left"), (1.0, "printed rate", "left")))
    heads(words, ((1.95, "explore", "left"), (2.2, "plan", "left"), (2.45, "no clip", "left")), angle=30)
    regret.set(xscale="log", xlabel="regret after K episodes\n(right: failed seeds)")
    # Room for the numbers at the right; powers of ten are ticks enough.
    regret.set_xlim(floor, regret.get_xlim()[1] * 3.0)
    regret.xaxis.set_minor_formatter("")
    letters.set(xlim=(0, 1), xlabel="shared letter:\nnot told apart")
    optimism.set(xlim=(0, 1), xticks=[0, 0.5, 1], xlabel="optimistic\nepisodes")
    for axis in (words, letters):
        bare(axis)
    for axis in (regret, optimism):
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="y", linewidth=0.3)
    figure.suptitle(
        f"{style.heading(rows.iloc[0])}; hollow: theory, full: tuned (| median, x worst setting)", fontsize=8.5
    )
    return figure


def _letters(row, prefix):
    """The letters of an agent, none if it is not compared; or that it ties everywhere."""
    if prefix == "theory" and row.theory_tied > EVERYWHERE:
        return "tie"
    found = getattr(row, f"{prefix}_group")
    return found if isinstance(found, str) else ""


def texts(axis, line, entries, colour="black", size=6):
    """Write texts, each given with its place and alignment, into a line of a panel."""
    for x, text, side in entries:
        axis.text(x, line, text, ha=side, va="center", fontsize=size, color=colour)


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
            f"constants of the theory, or defaults. Full: best of the configurations tried, chosen on other seeds; bar "
            f"and cross: the median and the worst of them. Regret: thick: interval of the mean, thin: 10 to 90 % of "
            f"the seeds, at the right the share of seeds that failed to learn; triangles at the left edge: zero. "
            f"Letters: agents that share one cannot be told apart, above among the hollow, below among the full; tie: "
            f"all actions tie in all plans, so the agent plays at random. Agents without a rate are not in the paper's "
            f"table."
            f"{style.explained(rows)}"
        ),
        "seeds": int(first["seeds"]),
    }
