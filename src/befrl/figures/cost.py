"""Cost of the agents of Table 1: time of an episode, and its growth."""

from befrl.common.printed import PRINTED
from befrl.figures.support import style

SCOPE = "table"
SUBJECT = "table1"
TABLES = {"timings": ("instance", "track", "agent", "algorithm", "seconds", "exponent_k", "exponent_d", "exponent_H")}


def shown(table):
    """The agents of the first case: those of the paper's Table 1 in its order, then the others."""
    first = table.iloc[0]
    rows = table[(table["instance"] == first["instance"]) & (table["track"] == first["track"])]
    order = dict(zip(PRINTED, range(len(PRINTED)), strict=True))
    return rows.sort_values("algorithm", key=lambda names: names.map(order).fillna(len(order)), kind="stable")


def draw(tables):
    rows = shown(tables[0]["timings"])
    size = (style.WIDTH, 0.9 + 0.125 * len(rows))
    figure, (cost, growth) = style.subplots(1, 2, figsize=size, sharey=True, width_ratios=(2.4, 1))
    for line, row in enumerate(rows.itertuples()):
        colour = style.colour(row.agent, row.algorithm)
        cost.plot(1000 * row.seconds, line, linestyle="none", color=colour, marker="o", markersize=3)
        for place, power in enumerate((row.exponent_k, row.exponent_d, row.exponent_H)):
            words = f"{power:z.1f}" if power == power else ""
            growth.text(place, line, words, ha="center", va="center", fontsize=style.SMALL)
    cost.set_yticks(range(len(rows)), rows["agent"])
    cost.set(ylim=(len(rows) - 0.5, -0.5), xscale="log", xlabel="ms per episode and seed")
    cost.xaxis.set_minor_formatter("")
    cost.tick_params(axis="y", length=0)
    cost.grid(axis="y", linewidth=0.3)
    growth.set(xlim=(-0.6, 2.6), xlabel="power with which\nthe time grows")
    growth.set_xticks(range(3), ["k", "d", "H"])
    growth.tick_params(length=0)
    growth.spines[:].set_visible(False)
    return figure


def describe(tables):
    rows = shown(tables[0]["timings"])
    first, least, most = rows.iloc[0], rows["seconds"].idxmin(), rows["seconds"].idxmax()
    extremes = {"cheapest": rows["agent"][least], "most_expensive": rows["agent"][most]}
    ratio = rows["seconds"][most] / rows["seconds"][least]
    return {"instance": first["instance"], "reward": style.TRACKS[first["track"]], "ratio": ratio} | extremes
