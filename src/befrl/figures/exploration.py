"""Whether exploration matters: regret of greedy and of the best tuned agent on every instance."""

from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "exploration"
TABLES = {"shares": ("instance", "role", "agent", "episodes", "seeds", "share", "low", "high", "matters")}
# Smaller shares of the regret of random play are drawn at this one.
FLOOR = 3e-4
HOLLOW = {"greedy": {"markerfacecolor": "white"}}


def draw(tables):
    tables = [table["shares"] for table in tables]
    figure, axis = style.subplots(figsize=(style.WIDTH, 0.75 + 0.27 * max(2, len(tables))))
    dots = {"marker": "o", "markersize": 4, "linestyle": "none"}
    for line, table in enumerate(tables):
        for row in table.itertuples():
            at = line + {"greedy": -0.13, "best": 0.13}[row.role]
            share, low, high = (max(value, FLOOR) for value in (row.share, row.low, row.high))
            colour = style.colour(row.agent)
            axis.plot([low, high], [at, at], color=colour)
            axis.plot(share, at, color=colour, **dots, **HOLLOW.get(row.role, {}))
    axis.axvline(1.0, color=style.colour("random"), linestyle=style.LINES["baseline"])
    labels = [f"{table['instance'].iloc[0]}{'' if table['matters'].iloc[0] else ' (no)'}" for table in tables]
    axis.set_yticks(range(len(tables)), labels)
    axis.set(xscale="log", xlabel="regret relative to random play", ylim=(len(tables) - 0.5, -0.5))
    agents = dict.fromkeys(agent for table in tables for agent in table["agent"])
    agents = ["greedy", *(agent for agent in agents if agent != "greedy")]
    for agent in agents:
        axis.plot([], [], color=style.colour(agent), label=agent, **dots, **HOLLOW.get(agent, {}))
    seeds, episodes = style.sizes(tables)
    size = f"{seeds} seeds, K = {episodes}; bars: intervals of the means"
    where = {"loc": "outside upper center", "ncols": len(agents), "title": size, "title_fontsize": 8}
    figure.legend(**where, handletextpad=0.1, columnspacing=1.0)
    return figure


def describe(tables):
    seeds, episodes = style.sizes([table["shares"] for table in tables])
    return {
        "title": "Does exploration matter?",
        "caption": (
            "Mean regret, reward unknown, relative to that of random play (dotted). Hollow: greedy. Full, in the "
            "agent's colour: the best of three agents with four settings each, chosen on other seeds. "
            f"{seeds} seeds, {episodes} episodes; bars: intervals of the means. "
            "(no): exploration does not matter there, since the paired interval of greedy minus best reaches zero. "
            f"Shares below {FLOOR:g} are drawn at {FLOOR:g}. Exploration pays most where the two markers lie far apart."
        ),
        "seeds": seeds,
    }
