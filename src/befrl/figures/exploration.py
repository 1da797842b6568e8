"""Whether exploration matters: regret of greedy and of the best tuned agent on every instance."""

from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "exploration"
TABLES = {"shares": ("instance", "role", "agent", "episodes", "seeds", "share", "low", "high", "matters")}
LEAST = 1e-3  # share of the regret of random play below which the axis is linear
DOTS = {"marker": "o", "markersize": 3.5, "linestyle": "none"}
HOLLOW = {"greedy": {"markerfacecolor": "white"}}


def draw(tables):
    tables = [table["shares"] for table in tables]
    figure, axis = style.subplots(figsize=(style.WIDTH, 0.85 + 0.19 * max(2, len(tables))))
    for line, table in enumerate(tables):
        for row in table.itertuples():
            at = line + {"greedy": -0.13, "best": 0.13}[row.role]
            colour = style.colour(row.agent)
            axis.plot([row.low, row.high], [at, at], color=colour)
            axis.plot(row.share, at, color=colour, clip_on=False, **DOTS, **HOLLOW.get(row.role, {}))
    axis.axvline(1.0, color=style.colour("random"), linestyle=style.LINES["baseline"])
    labels = [f"{table['instance'].iloc[0]}{'' if table['matters'].iloc[0] else ' (no)'}" for table in tables]
    axis.set_yticks(range(len(tables)), labels)
    axis.set(xlabel="regret relative to random play", ylim=(len(tables) - 0.5, -0.5))
    axis.set_xscale("symlog", linthresh=LEAST, linscale=0.5)
    axis.set_xlim(0, None)
    agents = list(dict.fromkeys(["greedy", *(agent for table in tables for agent in table["agent"])]))
    for agent in agents:
        axis.plot([], [], color=style.colour(agent), label=agent, **DOTS, **HOLLOW.get(agent, {}))
    size = "{seeds} seeds, K = {episodes}; bars: intervals of the means".format(**style.sizes(tables))
    where = {"loc": "outside upper center", "ncols": len(agents), "title": size, "title_fontsize": style.HEADING}
    figure.legend(**where, handletextpad=0.1, columnspacing=1.0)
    return figure


def describe(tables):
    tables = [table["shares"] for table in tables]
    values = {"instances": len(tables), "matters": sum(bool(table["matters"].iloc[0]) for table in tables)}
    return style.sizes(tables) | values
