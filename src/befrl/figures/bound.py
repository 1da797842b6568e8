"""From how many episodes on Theorem 1's bound is below the trivial one, on every instance, beside our K."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "theorem"
TABLES = {"facts": ("instance", "quantity", "value")}
BESIDE = ("table", "instances", {"table": ("name", "longest")})
FIRST = "first K, trivial"


def fact(table, quantity):
    """One number of a table of facts."""
    return float(table["facts"].set_index("quantity")["value"][quantity])


def name_of(table):
    """The instance that a table of facts is about."""
    return table["facts"]["instance"].iloc[0]


def rows(tables) -> list[tuple]:
    """Instance, first K and our K, in the order of the first K."""
    *facts, last = tables
    ours = last["table"].set_index("name")["longest"]
    found = [(name_of(table), fact(table, FIRST), float(ours[name_of(table)])) for table in facts]
    return sorted(found, key=lambda row: row[1])


def draw(tables):
    found = rows(tables)
    figure, axis = style.subplots(figsize=(style.WIDTH, 0.75 + 0.125 * len(found)))
    axis.hlines(range(len(found)), *zip(*((ours, first) for _, first, ours in found), strict=True), color="0.8", lw=0.8)
    look = {"linestyle": "none", "clip_on": False}
    ours = [row[2] for row in found]
    axis.plot(ours, range(len(found)), color="black", marker="|", markersize=6, label="our K", **look)
    colour = style.colour("bef-rlsvi")
    firsts = [row[1] for row in found]
    axis.plot(firsts, range(len(found)), color=colour, marker="o", markersize=3.5, label="first K of Theorem 1", **look)
    axis.set_yticks(range(len(found)), [name for name, *_ in found])
    axis.set(xscale="log", xlabel="episodes K", ylim=(len(found) - 0.5, -0.5), xlim=(1, None))
    axis.tick_params(axis="y", length=0)
    style.legend(figure, [axis], 3)
    return figure


def describe(tables):
    *facts, _ = tables
    found = rows(tables)
    (low, least, _), (high, most, _) = found[0], found[-1]
    share = min(fact(table, "share, noise") + fact(table, "share, learning") for table in facts)
    values = {"low": low, "high": high, "least": least, "most": most, "share": share}
    values |= {"random": min(fact(table, "first K, random") for table in facts)}
    values |= {"short": min((first / ours for _, first, ours in found if ours == ours), default=float("nan"))}
    return values | {"eta": fact(facts[0], "eta"), "delta": fact(facts[0], "delta")}
