"""Cost of the agents of Table 1: time of an episode, and its growth."""

from befrl.figures.support import style
from befrl.figures.table1 import bare, heads, shown, texts

SCOPE = "table"
SUBJECT = "table1"
TABLES = {"timings": ("instance", "track", "agent", "algorithm", "seconds", "exponent_k", "exponent_d", "exponent_H")}


def draw(tables):
    rows = shown(tables[0]["timings"])
    figure, (names, cost, growth) = style.subplots(
        1, 3, figsize=(1.3 * style.WIDTH, 1.0 + 0.2 * len(rows)), sharey=True, width_ratios=(1.2, 2.4, 1.4)
    )
    for line, row in enumerate(rows.itertuples()):
        colour = style.colour(row.agent, row.algorithm)
        texts(names, line, ((0.0, row.agent, "left"),), colour=colour)
        cost.plot(1000 * row.seconds, line, linestyle="none", color=colour, marker="o", markersize=3.5)
        powers = (row.exponent_k, row.exponent_d, row.exponent_H)
        texts(growth, line, [(i, f"{power:z.1f}", "center") for i, power in enumerate(powers) if power == power])
    names.set(xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5), yticks=[])
    heads(growth, ((0, "k", "center"), (1, "d", "center"), (2, "H", "center")))
    growth.set(xlim=(-0.6, 2.6), xlabel="power with which\nthe time grows")
    cost.set(xscale="log", xlabel="ms per episode and seed")
    cost.xaxis.set_minor_formatter("")
    cost.tick_params(axis="y", length=0)
    cost.grid(axis="y", linewidth=0.3)
    for axis in (names, growth):
        bare(axis)
    return figure


def describe(tables):
    first = shown(tables[0]["timings"]).iloc[0]
    return {"instance": first["instance"], "reward": style.TRACKS[first["track"]]}
