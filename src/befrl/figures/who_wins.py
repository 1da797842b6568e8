"""Who wins: the regret of every agent in every case, tuned and with theoretical constants, and how often it wins."""

from befrl.analysis import columns, regret_columns
from befrl.analysis.statistics import NO_REGRET
from befrl.figures.support import style

SCOPE = "study"
SECTION = "winners"
LEAD = 1
TABLES = {"summary": regret_columns.SUMMARY, "order": regret_columns.ORDER}
BESIDE = ("table", "improvement", {"table": columns.TABLES["improvement"]})
FAMILIES = {"tuned": "tuned", "theory": "theoretical constants"}
ALL = "all others"
LEAST = 1.0  # percent of the regret of random play, at the lower end of the colours
DARK = 15.0  # percent above which numbers are white
PAPER = "bef-rlsvi"  # the algorithm of the paper


def compared(tables) -> dict:
    """The tables of each case with random play by its name."""
    cases = [table for table in tables if "summary" in table and "random" in set(table["summary"]["variant"])]
    return {", ".join(each["summary"].iloc[0][["instance", "track"]]): each for each in cases}


def winning(tables):
    """The probability of improvement of each agent over all others, the largest first."""
    (table,) = (table["table"] for table in tables if "table" in table)
    return table[table["second"] == ALL].set_index("first")


def agents(tables) -> list[str]:
    """All agents, in the order of their probability of improvement; those without one come last, as in their case."""
    orders = [table["order"][table["order"]["family"] == "tuned"]["agent"] for table in compared(tables).values()]
    return list(dict.fromkeys([*winning(tables).index, *(agent for order in orders for agent in order)]))


def cells(table, family) -> dict:
    """{agent: (regret in percent of that of random play, whether it does not differ significantly from the best)}."""
    means = table["summary"].set_index("variant")["mean"]
    order = table["order"][table["order"]["family"] == family]
    best = set(order["group"].iloc[0]) if len(order) else set()
    return {
        row.agent: (100 * means[row.variant] / means["random"], bool(best & set(row.group)))
        for row in order.itertuples()
    }


def draw(tables):
    from matplotlib.colors import LogNorm

    cases, names = compared(tables), agents(tables)
    size = style.WIDTH, 1.0 + 0.098 * len(names)
    widths = (max(1, len(cases)), max(1, len(cases)), 2)
    figure, (*maps, right) = style.subplots(1, 3, figsize=size, sharey=True, width_ratios=widths)
    figure.get_layout_engine().set(w_pad=0.02, wspace=0.01)
    shades = {"norm": LogNorm(LEAST, 100, clip=True), "cmap": "cividis_r", "edgecolor": "white", "linewidth": 0.3}
    for axis, (family, title) in zip(maps, FAMILIES.items(), strict=True):
        grid = [[float("nan")] * len(cases) for _ in names]
        for column, table in enumerate(cases.values()):
            for agent, (share, leads) in cells(table, family).items():
                line = names.index(agent)
                grid[line][column] = share
                ink = "white" if share > DARK else "black"
                place = {"ha": "center", "va": "center", "color": ink, "fontsize": style.LEAST, "in_layout": False}
                axis.text(column + 0.5, line + 0.5, number(share), **place)
                if leads:
                    frame = {"fill": False, "edgecolor": style.VERMILION, "linewidth": 0.9, "zorder": 3}
                    axis.add_patch(_square(column, line, frame))
        axis.pcolormesh(grid, **shades)
        axis.set_title(title)
        axis.set_xticks([place + 0.5 for place in range(len(cases))], cases, rotation=90)
        axis.tick_params(length=0, top=False)
        axis.spines[:].set_visible(False)
    _wins(right, winning(tables), names)
    maps[0].set_ylim(len(names), 0)
    maps[0].set_yticks([line + 0.5 for line in range(len(names))], names, fontsize=style.LEAST)
    for label in maps[0].get_yticklabels():
        label.set_fontweight("bold" if label.get_text() == PAPER else "normal")
    return figure


def in_both(tables) -> list[str]:
    """The agents with one setting alone, which stands among the tuned and among the others."""
    orders = [table["order"] for table in compared(tables).values()]
    found = (order.loc[order.duplicated("variant", keep=False), "agent"] for order in orders)
    return list(dict.fromkeys(agent for names in found for agent in names))


def number(share) -> str:
    """A share in percent with two or three digits; "0" if there is no regret at all."""
    return "0" if share <= NO_REGRET else f"{share:.1f}" if share < 9.95 else f"{share:.0f}"


def _square(column, line, options):
    from matplotlib.patches import Rectangle

    return Rectangle((column + 0.07, line + 0.07), 0.86, 0.86, **options)


def _wins(axis, wins, names):
    """The probabilities of improvement with their intervals, on the lines of the agents."""
    for line, agent in enumerate(names):
        if agent in wins.index:
            row, dot = wins.loc[agent], {"color": style.colour(agent), "markersize": 2.2}
            axis.plot([row["low"], row["high"]], [line + 0.5] * 2, linewidth=1, color=dot["color"])
            axis.plot(row["probability"], line + 0.5, marker="o", linestyle="none", clip_on=False, **dot)
    axis.axvline(0.5, color="black", linestyle=style.LINES["baseline"], linewidth=0.7)
    axis.set(xlim=(0, 1), xticks=[0, 1], xlabel="tuned:\nshare\nof wins")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)


def describe(tables):
    cases, wins = compared(tables), winning(tables)
    if not cases or wins.empty:
        return {"empty": True, "heading": ""}
    summaries = [table["summary"] for table in cases.values()]
    leading = [agent for table in cases.values() for agent, (_, leads) in cells(table, "tuned").items() if leads]
    counts = {agent: leading.count(agent) for agent in agents(tables)}
    most = [agent for agent, count in counts.items() if count == max(counts.values())]
    values = {"least": f"{LEAST:g}", "cases": len(cases), "best": " and ".join(most), "times": max(counts.values())}
    values |= {"first": wins.index[0], "probability": wins["probability"].iloc[0], "paper": counts.get(PAPER, 0)}
    values |= {"both": ", ".join(in_both(tables))}
    values |= style.sizes(summaries) | {"range": style.span(summaries, "seeds")}
    return values | {"heading": "Regret in % of random play; K = {episodes}, {range} seeds".format(**values)}
