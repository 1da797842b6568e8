"""Whether exploration matters: regret of greedy and of the best tuned agent on every instance."""

from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "exploration"
TABLES = {"shares": ("instance", "role", "agent", "episodes", "seeds", "share", "low", "high", "matters")}
FLOOR = 3e-4  # smaller shares of the regret of random play are drawn here
DOTS = {"marker": "o", "markersize": 4, "linestyle": "none"}
HOLLOW = {"greedy": {"markerfacecolor": "white"}}


def draw(tables):
    tables = [table["shares"] for table in tables]
    figure, axis = style.subplots(figsize=(style.WIDTH, 0.75 + 0.27 * max(2, len(tables))))
    for line, table in enumerate(tables):
        for row in table.itertuples():
            at = line + {"greedy": -0.13, "best": 0.13}[row.role]
            share, low, high = (max(value, FLOOR) for value in (row.share, row.low, row.high))
            colour = style.colour(row.agent)
            axis.plot([low, high], [at, at], color=colour)
            axis.plot(share, at, color=colour, **DOTS, **HOLLOW.get(row.role, {}))
    axis.axvline(1.0, color=style.colour("random"), linestyle=style.LINES["baseline"])
    labels = [f"{table['instance'].iloc[0]}{'' if table['matters'].iloc[0] else ' (no)'}" for table in tables]
    axis.set_yticks(range(len(tables)), labels)
    axis.set(xscale="log", xlabel="regret relative to random play", ylim=(len(tables) - 0.5, -0.5))
    agents = list(dict.fromkeys(["greedy", *(agent for table in tables for agent in table["agent"])]))
    for agent in agents:
        axis.plot([], [], color=style.colour(agent), label=agent, **DOTS, **HOLLOW.get(agent, {}))
    size = "{seeds} seeds, K = {episodes}; bars: intervals of the means".format(**style.sizes(tables))
    where = {"loc": "outside upper center", "ncols": len(agents), "title": size, "title_fontsize": 8}
    figure.legend(**where, handletextpad=0.1, columnspacing=1.0)
    return figure


def describe(tables):
    return style.sizes([table["shares"] for table in tables]) | {"floor": FLOOR}
