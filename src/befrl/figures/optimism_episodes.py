"""Share of optimistic runs of BEF-RLSVI by episode, at multiples of Theorem 1's noise scale."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "proof"
TABLES = {"optimism": ("instance", "multiple", "episodes", "seeds", "k", "share", "low", "high", "promised")}
CURVES = (("o", 1.0), ("^", 0.85), ("s", 0.7), ("D", 0.55), ("v", 0.4))  # marker and opacity: paler for less noise


def draw(tables):
    tables = [table["optimism"] for table in tables]
    figure, axes = style.panels(len(tables))
    colour = style.colour("bef-rlsvi")
    for axis, table in zip(axes, tables, strict=False):
        for (marker, shade), (multiple, part) in zip(CURVES, table.groupby("multiple", sort=False), strict=False):
            axis.fill_between(part["k"], part["low"], part["high"], color=colour, alpha=0.1 * shade, linewidth=0)
            options = {"color": colour, "alpha": shade, "marker": marker, "markersize": 2.5, "linewidth": 0.9}
            axis.plot(part["k"], part["share"], **options, label=f"{style.power(multiple)} xₖ")
        axis.axhline(table["promised"].iloc[0], color="black", linestyle="dotted", linewidth=0.9, label="Φ(−1)")
        axis.set(xscale="log", xlabel="episode k", ylabel="optimistic runs", ylim=(-0.02, 1.02))
        axis.set_title(table["instance"].iloc[0])
    style.legend(figure, axes, 3, **style.TIGHT)
    return figure


def describe(tables):
    tables = [table["optimism"] for table in tables]
    first = tables[0]
    largest, smallest = first["multiple"].max(), first["multiple"].min()
    most, fewest = (
        min(table[table["multiple"] == multiple]["share"].min() for table in tables) for multiple in (largest, smallest)
    )
    values = {"promised": first["promised"].iloc[0], "largest": style.power(largest), "smallest": style.power(smallest)}
    return style.sizes(tables) | values | {"most": most, "fewest": fewest}
