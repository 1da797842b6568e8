"""Growth of regret with K, d and H: the envelope over gaps, with its slopes."""

import numpy as np

from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "rates"
SETTING = ("instance", "agent", "setting", "varied")
TABLES = {
    "envelopes": (*SETTING, "value", "episodes", "seeds", "mean", "low", "high", "edge"),
    "slopes": (*SETTING, "slope", "low", "high", "edge", "claimed"),
}
# The curves against K fill two panels of each instance; one of BEF-RLSVI is in both.
OURS, BOTH = "bef-rlsvi", "x=10"
NAMES = {"K": "episodes K", "d": "dimension d", "H": "horizon H"}
# Markers and shades of the settings of an agent, in the order in which they come.
MARKERS = ("o", "s", "^", "D", "v", "P")
SLOPES = {"K": (0.5, 1.0), "d": (0.5, 1.5), "H": (0.5, 1.5)}


def draw(tables):
    shown = [panel for table in tables for panel in panels_of(table)]
    figure, axes = style.panels(len(shown), height=2.5)
    for axis, (title, varied, envelopes, slopes) in zip(axes, shown, strict=False):
        for place, ((agent, setting), part) in enumerate(envelopes.groupby(["agent", "setting"], sort=False)):
            row = slopes[(slopes["agent"] == agent) & (slopes["setting"] == setting)].iloc[0]
            curve(axis, part, label(agent, setting, row), MARKERS[place % len(MARKERS)])
        references(axis, envelopes, SLOPES[varied])
        axis.set(xscale="log", yscale="log", xlabel=NAMES[varied], ylabel="largest regret over the gaps")
        axis.set_title(title, fontsize=7.5)
        if varied != "K":
            values = sorted(set(envelopes["value"]))
            axis.set_xticks(values, [str(value) for value in values])
            axis.set_xticks([], minor=True)
        low, high = axis.get_ylim()
        # The legend has the room below the curves.
        axis.set_ylim(low / (high / low) ** 0.75, high)
        axis.legend(loc="lower right", fontsize=5.8, handlelength=1.8, labelspacing=0.25, borderaxespad=0.2)
    figure.suptitle(heading(tables), fontsize=8)
    return figure


def panels_of(table):
    """Title, what is varied, envelopes and slopes of each panel of an instance."""
    envelopes, slopes = table["envelopes"].fillna({"setting": ""}), table["slopes"].fillna({"setting": ""})
    name, ours = envelopes["instance"].iloc[0], envelopes["agent"] == OURS
    in_episodes = envelopes["varied"] == "K"
    found = [
        (f"{name}: {OURS}", "K", envelopes[in_episodes & ours]),
        (f"{name}: other agents", "K", envelopes[in_episodes & (~ours | (envelopes["setting"] == BOTH))]),
        *((f"{name}: growth with {key}", key, envelopes[envelopes["varied"] == key]) for key in ("d", "H")),
    ]
    return [(title, key, part, slopes[slopes["varied"] == key]) for title, key, part in found if len(part)]


def label(agent, setting, row):
    """The name of a curve with its slope; x = 0 is greedy, and no setting means the theory's constants."""
    words = {"x=0": "x=0 (greedy)", "": "theory"}.get(setting, setting)
    edge = "" if row["edge"] == "none" else ", edge"
    return f"{agent} {words}: {row['slope']:.2f} [{row['low']:.2f}, {row['high']:.2f}]{edge}"


def curve(axis, part, text, marker):
    """One envelope with its band; a marker is hollow where the maximum is at an edge of the grid."""
    agent, setting = part["agent"].iloc[0], part["setting"].iloc[0]
    colour = style.colour("greedy" if setting == "x=0" else agent)
    axis.fill_between(part["value"], part["low"], part["high"], color=colour, alpha=0.13, linewidth=0)
    axis.plot(
        part["value"],
        part["mean"],
        color=colour,
        linestyle=style.LINES["theory"] if not setting else "solid",
        linewidth=0.9,
        label=text,
    )
    for inside in (True, False):
        some = part[(part["edge"] == "none") == inside]
        face = colour if inside else "white"
        axis.plot(some["value"], some["mean"], marker, color=colour, markerfacecolor=face, markersize=2.6, mew=0.6)


def references(axis, envelopes, powers):
    """Dotted lines of some slopes through the geometric middle of all curves at the smallest value."""
    x = np.array([envelopes["value"].min(), envelopes["value"].max()], dtype=float)
    start = np.exp(np.log(envelopes[envelopes["value"] == x[0]]["mean"]).mean())
    for power in powers:
        y = start * (x / x[0]) ** power
        axis.plot(x, y, color="black", linestyle=":", linewidth=0.8)
        axis.annotate(f"{power:g}", (x[1], y[1]), xytext=(2, 0), textcoords="offset points", fontsize=6, va="center")


def sizes(tables):
    """Numbers of episodes against K, and of seeds."""
    runs = [table["envelopes"][table["envelopes"]["varied"] == "K"].iloc[0] for table in tables]
    return [sorted({int(run[key]) for run in runs}) for key in ("episodes", "seeds")]


def heading(tables):
    episodes, seeds = (" to ".join(map(str, dict.fromkeys((ends[0], ends[-1])))) for ends in sizes(tables))
    return f"K = {episodes}, {seeds} seeds per gap; shaded: bootstrap interval of the envelope"


def describe(tables):
    episodes, seeds = sizes(tables)
    short = sorted({int(each) for table in tables for each in table["envelopes"]["episodes"]} - set(episodes))
    later = f"Against d and H: after {short[0]} episodes. " if short else ""
    return {
        "title": "Rates of regret by the envelope over gaps",
        "caption": (
            "Largest mean regret over a grid of gaps eps, reward unknown; each half of the seeds chooses eps for the "
            f"other. {seeds[0]} seeds for each gap, {episodes[0]} to {episodes[-1]} episodes. {later}Shaded: "
            "bootstrap interval. In the legends: slope with its interval, against K over the last decade. Hollow "
            "markers: the maximum is at an edge of the grid; "
            "edge: that is so for most values, and the slope is of the regret at that gap. Dotted: slopes 1/2 and 1 "
            "in K, 1/2 and 3/2 in d and H; the paper's bound is sqrt(d^3 H^3 K). Dashed: constants of the theory. "
            "A slope of 1/2 in K is the minimax rate; a slope of 1 at the largest gap is failure."
        ),
        "seeds": seeds[0],
    }
