"""Traps: the share of seeds that never try the best first action, and how the regret grows."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "traps"
SETTING = ("instance", "agent", "setting", "ties", "seeds")
TABLES = {
    "never": (*SETTING, "x", "eta", "episodes", "never", "low", "high"),
    "points": (*SETTING, "episode", "regret", "low", "high"),
}
CURVES = {  # agent and setting, with random ties: line style
    ("bef-rlsvi", "scale=1"): "solid",
    ("bef-rlsvi", "eta=10 x=1"): "dashed",
    ("greedy", ""): "solid",
    ("exp-psrl", ""): "solid",
    ("exp-ucrl", ""): "solid",
    ("rlsvi", "sigma=1"): "solid",
    ("bef-seed", ""): "solid",
}
LINES = ("dotted", "solid", "dashed", "dashdot")  # of the penalties, from small to large
FEWEST = 4  # rows that a panel has room for


def draw(tables):
    rows = max([FEWEST, *(len(_others(table["never"])) for table in tables)])
    figure, axes = style.panels(3 * len(tables), most=3, height=0.75 + 0.15 * rows)
    for sweep, others, regrets, table in zip(axes[::3], axes[1::3], axes[2::3], tables, strict=True):
        _sweep(sweep, table["never"])
        _shares(others, _others(table["never"]))
        _regrets(regrets, table["never"], table["points"])
    return figure


def _swept(table):
    """Whether a row is of the sweep over x and eta."""
    return table["setting"].fillna("").str.contains(r"\bx=")


def _others(table):
    return table[~_swept(table)]


def _sweep(axis, table):
    colour = style.colour("bef-rlsvi")
    for line, (eta, part) in zip(LINES, table[_swept(table)].groupby("eta"), strict=False):
        part = part.sort_values("x")
        axis.fill_between(part["x"], part["low"], part["high"], color=colour, alpha=0.1, linewidth=0)
        axis.plot(
            part["x"], part["never"], color=colour, linestyle=line, marker="o", markersize=2, label=f"η = {eta:g}"
        )
    theory = _others(table)["x"].max()
    axis.axvline(theory, color="0.5", linewidth=0.8)
    axis.annotate("theory", (theory, 1.02), ha="center", fontsize=6, color="0.3", annotation_clip=False)
    axis.set(xscale="log", ylim=(-0.03, 1.03), xlabel="x of bef-rlsvi", ylabel="never tried the best action")
    axis.set_title(table["instance"].iloc[0], pad=10)
    axis.legend(fontsize=6, frameon=True, framealpha=1, edgecolor="none")


def _shares(axis, table):
    for line, row in enumerate(table.itertuples()):
        colour = style.colour(row.agent)
        axis.plot([row.low, row.high], [line, line], color=colour)
        axis.plot(row.never, line, color=colour, marker="o", markersize=3.5)
    axis.set_yticks(range(len(table)), [_label(row) for row in table.itertuples()], fontsize=6)
    axis.set(xlim=(-0.03, 1.03), ylim=(len(table) - 0.5, -0.5))
    axis.set(xlabel="never tried the best action", title=table["instance"].iloc[0])


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
    """The agent, with what differs from its usual setting."""
    setting = row.setting if isinstance(row.setting, str) else ""
    unusual = ["noise by step"] * ("noise=step" in setting) + ["ties first"] * (row.ties == "first")
    if not unusual:
        unusual = ["theory's x"] if setting == "scale=1" else [setting.replace("=", " = ").replace(" x", ", x")]
    return ", ".join([row.agent, *filter(None, unusual)])


def describe(tables):
    never = [table["never"] for table in tables]
    return style.sizes(never) | {"range": style.span(never, "seeds")}
