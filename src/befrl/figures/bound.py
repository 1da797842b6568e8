"""Theorem 1's bound, relative to the trivial one, against the number of episodes, on every instance."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "theorem"
TABLES = {"bound": ("instance", "K", "term", "ratio"), "facts": ("instance", "quantity", "value")}
MOST = 6  # curves in a panel
ROOM = 300.0  # factor by which the vertical axis is longer than the curves, for the legend
COLOURS = (style.BLUE, style.VERMILION, style.GREEN, style.ORANGE, style.PURPLE, style.SKY)


def fact(table, quantity):
    """One number of a table of facts."""
    return float(table["facts"].set_index("quantity")["value"][quantity])


def name_of(table):
    """The instance that a table of facts is about."""
    return table["facts"]["instance"].iloc[0]


def draw(tables):
    ordered = sorted(tables, key=lambda table: fact(table, "first K, trivial"))
    count = -(-len(ordered) // MOST)
    size = -(-len(ordered) // count)
    figure, axes = style.panels(count, height=2.7)
    for axis, start in zip(axes, range(0, len(ordered), size), strict=False):
        for colour, table in zip(COLOURS, ordered[start : start + size], strict=False):
            whole = table["bound"][table["bound"]["term"] == "all"]
            first = fact(table, "first K, trivial")
            axis.plot(whole["K"], whole["ratio"], color=colour, label=f"{name_of(table)}: {first:.1e}")
            axis.plot(first, 1.0, color=colour, marker="o", markersize=4, linestyle="none")
        axis.axhline(1.0, color="black", linewidth=0.8, linestyle=style.LINES["baseline"])
        axis.set(xscale="log", yscale="log", xlabel="episodes K")
        axis.legend(title="first K below 1", title_fontsize=6.5, loc="upper right")
    lows, highs = zip(*(axis.get_ylim() for axis in axes[:count]), strict=True)
    for axis in axes[:count]:
        axis.set_ylim(min(lows), ROOM * max(highs))
    axes[0].set_ylabel("bound / trivial bound")
    return figure


def describe(tables):
    first = {name_of(table): fact(table, "first K, trivial") for table in tables}
    low, high = min(first, key=first.get), max(first, key=first.get)
    share = min(fact(table, "share, noise") + fact(table, "share, learning") for table in tables)
    random = min(fact(table, "first K, random") for table in tables)
    values = {"low": low, "high": high, "least": first[low], "most": first[high], "random": random, "share": share}
    return values | {"eta": fact(tables[0], "eta"), "delta": fact(tables[0], "delta")}
