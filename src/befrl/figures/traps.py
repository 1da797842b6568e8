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
CURVES = {  # agent and setting, with random ties: line style
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
    for left, right, table in zip(axes[::2], axes[1::2], tables, strict=True):
        _shares(left, table["never"])
        _regrets(right, table["never"], table["points"])
    return figure


def _shares(axis, table):
    for line, row in enumerate(table.itertuples()):
        colour = style.colour(row.agent)
        axis.plot([row.low, row.high], [line, line], color=colour)
        axis.plot(row.never, line, color=colour, marker="o", markersize=3.5)
    axis.set_yticks(range(len(table)), [_label(row) for row in table.itertuples()], fontsize=6)
    axis.set(xlim=(-0.03, 1.03), ylim=(len(table) - 0.5, -0.5))
    axis.set(xlabel="share that never tried the best action", title=table["instance"].iloc[0])


def _regrets(axis, shares, points):
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
    """The agent, with x for BEF-RLSVI, or with what differs from its usual setting."""
    setting = row.setting if isinstance(row.setting, str) else ""
    unusual = ["noise by step"] * ("noise=step" in setting) + ["ties first"] * (row.ties == "first")
    if row.x > 0 and not unusual:
        theory = " (theory)" if "scale=1" in setting.split() else ""
        unusual = [f"x = {row.x:.0e}{theory}".replace("e-0", "e-").replace("e+0", "e")]
    elif setting and not unusual:
        unusual = [setting.replace("=", " = ")]
    return ", ".join([row.agent, *unusual])


def describe(tables):
    never = [table["never"] for table in tables]
    return style.sizes(never) | {"range": style.span(never, "seeds")}
