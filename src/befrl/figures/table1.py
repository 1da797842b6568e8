"""Table 1 of the paper, measured: its marks beside regret, optimism and cost of our runs."""

from befrl.analysis import table1
from befrl.figures import style

SCOPE = "table"
COLUMNS = tuple(table1.COLUMNS)
MARKS = {"yes": "✓", "no": "✗", "n.a.": "–", "": ""}
RATES = {" K": "K", " H": "H", "sqrt": "√", "^2": "²", "^3": "³", "^4": "⁴", "^5": "⁵", ", Bayesian": " (B)"}


def shown(table):
    """The agents of the first case; those of Table 1 first, in its order, then the rest."""
    first = table.iloc[0]
    rows = table[(table["instance"] == first["instance"]) & (table["track"] == first["track"])]
    order = {name: place for place, name in enumerate(table1.PRINTED)}
    return rows.sort_values("algorithm", key=lambda names: names.map(lambda n: order.get(n, len(order))), kind="stable")


def draw(tables):
    rows = shown(tables[0])
    figure, (words, regret, optimism, cost, growth) = style.subplots(
        1, 5, figsize=(2 * style.WIDTH, 1.0 + 0.2 * len(rows)), sharey=True, width_ratios=(2.7, 2.4, 1.1, 1.3, 1.2)
    )
    for line, row in enumerate(rows.itertuples()):
        colour = style.colour(row.agent, row.algorithm)
        _texts(words, line, ((0.0, style.name(row), "left"), (1.0, _rate(row.rate), "left")), colour=colour)
        marks = (row.tractable_exploration, row.tractable_planning, row.free_of_clipping)
        _texts(words, line, [(1.95 + 0.25 * i, MARKS.get(mark, ""), "center") for i, mark in enumerate(marks)])
        for prefix, filled, offset in (("theory", False, -0.15), ("tuned", True, 0.15)):
            value = {name: getattr(row, f"{prefix}_{name}") for name in table1.MEASURED}
            if not value["mean"] > 1e-6:
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
        cost.plot(1000 * row.seconds, line, linestyle="none", color=colour, marker="o", markersize=3.5)
        cost.annotate(
            f"{row.plans:.3g}", (1.0, line), xycoords=("axes fraction", "data"), fontsize=5.5, ha="right", va="center"
        )
        powers = (row.exponent_k, row.exponent_d, row.exponent_H)
        _texts(growth, line, [(i, f"{power:.1f}", "center") for i, power in enumerate(powers) if power == power])
    words.set(xlim=(0, 2.55), ylim=(len(rows) - 0.5, -0.5), yticks=[])
    _heads(words, ((0.0, "agent", "left"), (1.0, "printed rate", "left"), (1.95, "explore", "left"),
                   (2.2, "plan", "left"), (2.45, "no clip", "left")))  # fmt: skip
    _heads(growth, ((0, "k", "center"), (1, "d", "center"), (2, "H", "center")), turned=False)
    growth.set(xlim=(-0.6, 2.6), xticks=[], xlabel="power by which\nseconds grow")
    regret.set(xscale="log", xlabel="regret after K episodes\n(right: failed seeds)")
    optimism.set(xlim=(0, 1), xticks=[0, 0.5, 1], xlabel="optimistic\nepisodes")
    cost.set(xscale="log", xlabel="ms per episode\n(right: plans)")
    for axis, room in ((regret, 3.0), (cost, 4.0)):
        # Room for the numbers at the right; powers of ten are ticks enough.
        axis.set_xlim(right=axis.get_xlim()[1] * room)
        axis.xaxis.set_minor_formatter("")
    words.set(xticks=[], xlabel="")
    for axis in (words, growth):
        for side in axis.spines.values():
            side.set_visible(False)
    for axis in (regret, optimism, cost):
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="y", linewidth=0.3)
    first = rows.iloc[0]
    figure.suptitle(f"{first['instance']}, {style.track(first['track'])}", fontsize=8.5)
    return figure


def _texts(axis, line, texts, colour="black"):
    for x, text, side in texts:
        axis.text(x, line, text, ha=side, va="center", fontsize=6, color=colour)


def _heads(axis, heads, turned=True):
    """Names of columns above the first line."""
    for x, text, side in heads:
        angle = 30 if turned and side == "left" and x > 1 else 0
        axis.text(x, -0.75, text, ha=side, va="bottom", fontsize=6, rotation=angle, rotation_mode="anchor")


def _rate(text):
    """The printed bound with mathematical signs; without its alternative, for which there is no room."""
    text = text.split(", or")[0] if isinstance(text, str) else ""
    for word, sign in RATES.items():
        text = text.replace(word, sign)
    return text


def describe(tables):
    rows = shown(tables[0])
    first = rows.iloc[0]
    return {
        "title": "Table 1, measured",
        "caption": (
            f"What the paper's Table 1 prints (rate without logarithms, (B): Bayesian; tractable exploration, "
            f"tractable planning, free of clipping) beside what we measure on {first['instance']}, "
            f"{style.track(first['track'])}, over {first['seeds']} seeds and {first['episodes']} episodes. Regret: "
            f"hollow at the theory's constants, or untuned where there are none, full at the best of a grid, chosen on "
            f"other seeds; thick: bootstrap interval of the mean, thin: 10 to 90 % of the seeds, at the right the "
            f"share of seeds that failed to learn. Agents without a rate are not in the paper's table. Zero regret is "
            f"not drawn. Powers of seconds: with the episode k, the dimension d and the horizon H."
            f"{style.misspecified(rows)}"
        ),
        "seeds": int(first["seeds"]),
    }
