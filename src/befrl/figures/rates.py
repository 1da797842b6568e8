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
OURS, BOTH = "bef-rlsvi", "x=10"  # the curve in both panels against K
NAMES = {"K": "episodes K", "d": "dimension d", "H": "horizon H"}
# Settings of an agent share its colour; a small x is mixed with white (> 0), a large x with black (< 0).
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
            axis.yaxis.get_major_locator().set_params(subs=(1, 2, 5))  # the axis has about one decade
            axis.yaxis.set_major_formatter("{x:g}")
            axis.yaxis.set_minor_formatter("")
        low, high = axis.get_ylim()
        axis.set_ylim(low / (high / low) ** 0.75, high)  # room for the legend below
        axis.legend(loc="lower right", fontsize=5.8, handlelength=1.8, labelspacing=0.25, borderaxespad=0.2)
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
    from matplotlib.colors import to_rgb

    share = MIXED.get(setting, 0.0)
    pure = to_rgb(style.colour("greedy" if setting == "x=0" else agent))
    colour = tuple((1 - abs(share)) * part + abs(share) * float(share > 0) for part in pure)
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


def describe(tables):
    envelopes = [table["envelopes"] for table in tables]
    against_k, others = ([rows[(rows["varied"] == "K") == yes] for rows in envelopes] for yes in (True, False))
    values = {"episodes": style.span(against_k, "episodes"), "range": style.span(envelopes, "seeds")}
    short = style.span(others, "episodes")
    values["short"] = f", and {short} against d and H" if short else ""
    values["short_heading"] = f" (against d and H: {short})" if short else ""
    return style.sizes(envelopes) | values
