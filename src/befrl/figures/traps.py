"""Traps: the share of seeds that never try the best first action, and how the regret grows."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "traps"
SETTING = ("instance", "agent", "setting", "ties", "seeds")
TABLES = {
    "never": (*SETTING, "x", "episodes", "never", "low", "high"),
    "points": (*SETTING, "episode", "regret", "low", "high"),
}
# The curves of regret: agent, setting and line style; ties are broken at random.
CURVES = {
    ("bef-rlsvi", "scale=1"): "solid",
    ("bef-rlsvi", "scale=0.0001"): "dashed",
    ("greedy", ""): "solid",
    ("exp-psrl", ""): "solid",
    ("exp-ucrl", ""): "solid",
    ("rlsvi", "sigma=1"): "solid",
}


def draw(tables):
    rows = max(len(table["never"]) for table in tables)
    figure, axes = style.panels(2 * len(tables), height=0.75 + 0.15 * rows)
    for number, table in enumerate(tables):
        _shares(axes[2 * number], table["never"])
        _regrets(axes[2 * number + 1], table["never"], table["points"])
    episodes, seeds = _sizes(tables)
    figure.suptitle(f"K = {episodes}, {seeds} seeds; bars and shading: 95 % intervals", fontsize=8)
    return figure


def _shares(axis, table):
    """One line for each setting: the share of seeds and its interval."""
    for line, row in enumerate(table.itertuples()):
        colour = style.colour(row.agent)
        axis.plot([row.low, row.high], [line, line], color=colour)
        axis.plot(row.never, line, color=colour, marker="o", markersize=3.5)
    axis.set_yticks(range(len(table)), [_label(row) for row in table.itertuples()], fontsize=6)
    axis.set(xlim=(-0.03, 1.03), ylim=(len(table) - 0.5, -0.5))
    axis.set(xlabel="share that never tried the best action", title=table["instance"].iloc[0])


def _regrets(axis, shares, points):
    """Mean regret against the number of episodes, for CURVES."""
    random, shares = (table[table["ties"] == "random"].fillna({"setting": ""}) for table in (points, shares))
    labels = {(row.agent, row.setting): _label(row) for row in shares.itertuples()}
    for (agent, setting), line in CURVES.items():
        part = random[(random["agent"] == agent) & (random["setting"] == setting)]
        colour = style.colour(agent)
        axis.fill_between(part["episode"], part["low"], part["high"], color=colour, alpha=0.15, linewidth=0)
        axis.plot(part["episode"], part["regret"], color=colour, linestyle=line, label=labels[agent, setting])
    axis.set(xlabel="episode k", ylabel="mean regret", title=shares["instance"].iloc[0], ylim=(0, None))
    axis.legend(loc="upper left", fontsize=6)


def _label(row):
    """The agent, with x for BEF-RLSVI, or whatever differs from its usual setting."""
    unusual = ["noise by step"] * ("noise=step" in str(row.setting)) + ["ties first"] * (row.ties == "first")
    theory = "scale=1" in str(row.setting).split()
    if row.x > 0 and not unusual:
        unusual = [f"x = {row.x:.0e}{' (theory)' if theory else ''}".replace("e-0", "e-").replace("e+0", "e")]
    elif not unusual and isinstance(row.setting, str) and row.setting:
        unusual = [row.setting.replace("=", " = ")]
    return ", ".join([row.agent, *unusual])


def _sizes(tables):
    """The numbers of episodes and of seeds, as words."""
    return [style.span([table["never"] for table in tables], column) for column in ("episodes", "seeds")]


def describe(tables):
    episodes, seeds = _sizes(tables)
    return {
        "title": "Can BEF-RLSVI miss the best action forever?",
        "caption": (
            "Left: share of seeds that had not tried the best first action after "
            f"K = {episodes} episodes, of {seeds} seeds, with its exact 95 % "
            "interval; bef-rlsvi at 1e-6 to 100 times the x of Theorem 1, and at that x with independent noise at each "
            "step, or with ties resolved in favour of the first action. "
            "Right: mean cumulative regret, reward unknown, with its 95 % interval (shaded). In these instances noise "
            "on the reward alone does not make the untried best action attractive, whatever x: the share does not "
            "fall as x grows, and regret is linear."
        ),
        "seeds": min(int(table["never"]["seeds"].min()) for table in tables),
    }
