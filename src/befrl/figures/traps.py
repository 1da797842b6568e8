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


def draw(tables):
    rows = max(len(_others(table["never"])) for table in tables)
    heights = (1.0, 0.12 * rows, 1.0)
    size = (style.WIDTH, 1.9 + sum(heights))
    figure, axes = style.subplots(3, len(tables), figsize=size, sharey="row", squeeze=False, height_ratios=heights)
    for (sweep, shares, regrets), table in zip(axes.T, tables, strict=True):
        _sweep(sweep, table["never"])
        _shares(shares, _others(table["never"]))
        _regrets(regrets, table["never"], table["points"])
    axes[0, 0].set_ylabel("never tried the\nbest action")
    axes[2, 0].set_ylabel("mean regret")
    axes[1, 0].invert_yaxis()
    axes[2, 0].set_ylim(bottom=0)
    style.legend(figure, axes[::2, 0], 3, **style.TIGHT)
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
    axis.annotate("theory", (theory, 1.04), ha="center", fontsize=style.LEAST, color="0.3", annotation_clip=False)
    axis.set(xscale="log", ylim=(-0.03, 1.03), xlabel="x of bef-rlsvi")
    axis.set_title(table["instance"].iloc[0], pad=7)


def _shares(axis, table):
    for line, row in enumerate(table.itertuples()):
        colour = style.colour(row.agent)
        axis.plot([row.low, row.high], [line, line], color=colour)
        axis.plot(row.never, line, color=colour, marker="o", markersize=3, clip_on=False)
    axis.set_yticks(range(len(table)), [_label(row) for row in table.itertuples()], fontsize=style.LEAST)
    axis.set(xlim=(-0.03, 1.03), xticks=(0, 0.5, 1), xlabel="never tried it", ylim=(-0.5, len(table) - 0.5))


def _regrets(axis, shares, points):
    random, shares = (table[table["ties"] == "random"].fillna({"setting": ""}) for table in (points, shares))
    labels = {(row.agent, row.setting): _label(row) for row in shares.itertuples()}
    for (agent, setting), line in CURVES.items():
        part = random[(random["agent"] == agent) & (random["setting"] == setting)]
        colour = style.colour(agent)
        axis.fill_between(part["episode"], part["low"], part["high"], color=colour, alpha=0.15, linewidth=0)
        axis.plot(part["episode"], part["regret"], color=colour, linestyle=line, label=labels[agent, setting])
    axis.set(xlabel="episode k")


def _label(row):
    """The agent, with what differs from its usual setting."""
    setting = row.setting if isinstance(row.setting, str) else ""
    unusual = ["noise by step"] * ("noise=step" in setting) + ["ties first"] * (row.ties == "first")
    if not unusual:
        unusual = ["theory's x"] if setting == "scale=1" else [_signs(setting)]
    return ", ".join([row.agent, *filter(None, unusual)])


def _signs(setting):
    """A setting with the letters of the paper."""
    names = {"eta": "η", "sigma": "σ"}
    pairs = (part.split("=") for part in setting.split())
    return ", ".join(f"{names.get(name, name)} = {value}" for name, value in pairs)


def describe(tables):
    never = [table["never"] for table in tables]
    usual = [
        table[table["ties"] == "random"].fillna({"setting": ""}).set_index(["agent", "setting"]) for table in never
    ]
    shares = {"theory": ("bef-rlsvi", "scale=1"), "other": ("exp-ucrl", "")}
    words = {name: _percent([table["never"][key] for table in usual]) for name, key in shares.items()}
    return style.sizes(never) | {"range": style.span(never, "seeds")} | words


def _percent(shares):
    return " to ".join(f"{share:.0%}" for share in sorted({min(shares), max(shares)})).replace("%", " %")
