"""Does exploration matter? Regret of greedy and of the best tuned agent on every instance."""

from befrl.figures import style

SCOPE = "library"
COLUMNS = ("instance", "role", "agent", "mean", "low", "high", "seeds", "episodes")
# Below this share of random play's regret there is nothing to see.
FLOOR = 3e-4


def shares(table):
    """Rows of the evaluation seeds by role, as shares of the regret of random play."""
    by_role = table[table["role"] != "tried"].set_index("role")
    scaled = by_role.copy()
    scaled[["mean", "low", "high"]] = by_role[["mean", "low", "high"]] / by_role.loc["random", "mean"]
    return scaled


def draw(tables):
    figure, axis = style.subplots(figsize=(style.WIDTH, 0.55 + 0.27 * len(tables)))
    for line, table in enumerate(tables):
        row = shares(table)
        for role, offset in (("greedy", -0.13), ("best", 0.13)):
            mean, low, high = (max(row.loc[role, key], FLOOR) for key in ("mean", "low", "high"))
            colour = style.colour(row.loc[role, "agent"])
            axis.plot([low, high], [line + offset] * 2, color=colour)
            hollow = {"markerfacecolor": "white"} if role == "greedy" else {}
            axis.plot(mean, line + offset, color=colour, marker="o", markersize=4, linestyle="none", **hollow)
    axis.axvline(1.0, color=style.colour("random"), linestyle=style.LINES["baseline"])
    matters = [bool(table.loc[table["role"] == "difference", "low"].iloc[0] > 0) for table in tables]
    labels = [f"{t['instance'].iloc[0]}{'' if m else ' (no)'}" for t, m in zip(tables, matters, strict=True)]
    axis.set_yticks(range(len(tables)), labels)
    axis.invert_yaxis()
    axis.set(xscale="log", xlabel="regret, as a share of that of random play")
    agents = ["greedy", *dict.fromkeys(shares(table).loc["best", "agent"] for table in tables)]
    for agent in agents:
        hollow = {"markerfacecolor": "white"} if agent == "greedy" else {}
        axis.plot([], [], color=style.colour(agent), marker="o", markersize=4, linestyle="none", label=agent, **hollow)
    figure.legend(loc="outside upper center", ncols=len(agents), handletextpad=0.1, columnspacing=1.0)
    return figure


def describe(tables):
    seeds = min(int(shares(table).loc["best", "seeds"]) for table in tables)
    return {
        "title": "Does exploration matter?",
        "caption": (
            "Mean regret, reward unknown, of greedy (hollow) and of the best of twelve agents and settings (full, in "
            f"the agent's colour), which was chosen on other seeds; {seeds} seeds; bars: bootstrap intervals of the "
            "means. Dotted: random play. (no): the paired interval of the difference does not lie above zero, "
            f"exploration does not pay there. Shares below {FLOOR:g} are drawn at {FLOOR:g}."
        ),
        "seeds": seeds,
    }
