"""Growth of regret with K, d and H: the envelope over gaps, with its slopes."""

import numpy as np

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "rates"
SETTING = ("instance", "agent", "setting", "varied")
TABLES = {
    "envelopes": (*SETTING, "value", "episodes", "seeds", "mean", "low", "high", "edge"),
    "slopes": (*SETTING, "slope", "low", "high", "edge", "claimed"),
}
# The curves against K fill two panels of each instance; one of BEF-RLSVI is in both.
OURS, BOTH = "bef-rlsvi", "x=10"
NAMES = {"K": "episodes K", "d": "dimension d", "H": "horizon H"}
# An agent has its colour in all its settings; a small x is mixed with white (> 0), a large x with black (< 0).
MARKERS = {"x=0": "v", "x=0.1": "^", "x=1": "o", "x=10": "s", "x=100": "D", "": "P"}
MARKERS |= {"scale=1e-06": "<", "scale=1e-05": ">"}
MIXED = {"x=0.1": 0.55, "x=1": 0.3, "x=100": -0.45, "scale=1e-06": -0.25, "scale=1e-05": -0.6}
SLOPES = {"K": (0.5, 1.0), "d": (0.5, 1.5), "H": (1.0, 1.5)}


def draw(tables):
    shown = [panel for table in tables for panel in panels_of(table)]
    figure, axes = style.panels(len(shown), height=2.5)
    for axis, (title, varied, envelopes, slopes) in zip(axes, shown, strict=False):
        for (agent, setting), part in envelopes.groupby(["agent", "setting"], sort=False):
            row = slopes[(slopes["agent"] == agent) & (slopes["setting"] == setting)].iloc[0]
            curve(axis, part, agent, setting, label(agent, setting, row))
        references(axis, envelopes, SLOPES[varied])
        axis.set(xscale="log", yscale="log", xlabel=NAMES[varied], ylabel="largest regret over the gaps")
        axis.set_title(title, fontsize=7.5)
        if varied != "K":
            values = sorted(set(envelopes["value"]))
            axis.set_xticks(values, [str(value) for value in values])
            axis.set_xticks([], minor=True)
            style.plain_ticks(axis.yaxis)
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


def curve(axis, part, agent, setting, text):
    """One envelope with its band; a marker is hollow where the maximum is at an edge of the grid."""
    colour = style.mixed(style.colour("greedy" if setting == "x=0" else agent), MIXED.get(setting, 0.0))
    line = {"color": colour, "linestyle": "solid" if setting else style.LINES["theory"], "linewidth": 0.9}
    dots = {"color": colour, "marker": MARKERS.get(setting, "o"), "markersize": 2.8, "markeredgewidth": 0.6}
    axis.fill_between(part["value"], part["low"], part["high"], color=colour, alpha=0.13, linewidth=0)
    axis.plot(part["value"], part["mean"], **line)
    for inside, face in ((True, colour), (False, "white")):
        some = part[(part["edge"] == "none") == inside]
        axis.plot(some["value"], some["mean"], linestyle="none", markerfacecolor=face, **dots)
    axis.plot([], [], label=text, **line | dots)


def references(axis, envelopes, powers):
    """Dotted lines of some slopes through the geometric middle of all curves at the smallest value."""
    x = np.array([envelopes["value"].min(), envelopes["value"].max()], dtype=float)
    start = np.exp(np.log(envelopes[envelopes["value"] == x[0]]["mean"]).mean())
    for power in powers:
        y = start * (x / x[0]) ** power
        axis.plot(x, y, color="black", linestyle=":", linewidth=0.8)
        axis.annotate(f"{power:g}", (x[1], y[1]), xytext=(2, 0), textcoords="offset points", fontsize=6, va="center")


def sizes(tables):
    """Numbers of episodes of the runs against K, of seeds, and of episodes of the runs against d and H."""
    rows = [row for table in tables for row in table["envelopes"].to_dict("records")]
    against = {True: set(), False: set()}
    for row in rows:
        against[row["varied"] == "K"].add(int(row["episodes"]))
    return sorted(against[True]), sorted({int(row["seeds"]) for row in rows}), sorted(against[False])


def ends(numbers):
    return " to ".join(str(number) for number in dict.fromkeys((numbers[0], numbers[-1])))


def heading(tables):
    episodes, seeds, short = sizes(tables)
    shorter = f" (against d and H: {ends(short)})" if short else ""
    return (
        f"K = {ends(episodes)}{shorter}, {ends(seeds)} seeds for each gap\n"
        "shaded: bootstrap intervals; in the legends: slopes with their intervals"
    )


def describe(tables):
    episodes, seeds, short = sizes(tables)
    shorter = f", and {ends(short)} against d and H" if short else ""
    return {
        "title": "Rates of regret by the envelope over gaps",
        "caption": (
            "Largest mean regret over a grid of gaps, reward unknown; each half of the seeds chooses the gap for the "
            f"other. {ends(seeds)} seeds for each gap, {ends(episodes)} episodes{shorter}. Shaded: bootstrap interval. "
            "In the legends: slope with its interval, against K over the last decade. Hollow markers: the maximum is "
            "at the largest or the smallest gap of the grid; edge: it is so at most values, and the slope describes "
            "these gaps alone. Dashed: constants of the theory; scale: a multiple of them. Dotted: slopes 1/2 and 1 in "
            "K, 1/2 and 3/2 in d, 1 and 3/2 in H; the paper's bound is sqrt(d^3 H^3 K). A slope of 1/2 in K is the "
            "minimax rate; a slope of 1 at the largest gap means that the agent, or some of its seeds, does not learn."
        ),
        "seeds": seeds[0],
    }
