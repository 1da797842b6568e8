"""The style of all figures: sizes, colours and markers of the agents, and parts of captions that figures share."""

import math

from befrl.analysis.statistics import NO_REGRET
from befrl.common.defaults import TRACKS

WIDTH = 3.35  # inches, of every figure: one column of a paper, 85 mm
HEADING, SMALL, LEAST = 7, 5.5, 5  # points, of text: headings and titles, notes, and the smallest
GREY = "0.55"

# Palette of Okabe and Ito; black is kept for reference lines.
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
WINE, INDIGO, OLIVE = "#882255", "#332288", "#999933"  # from Tol's muted palette
BROWN = "#592F0D"  # from a palette of seaborn
TIGHT = {"handlelength": 1.8, "handletextpad": 0.4, "columnspacing": 0.8, "labelspacing": 0.3}  # of legends
KINDS = {  # a colour for each kind of algorithm, a marker for each member
    BLUE: {"bef-rlsvi": ""},
    VERMILION: {"exp-ucrl": ""},
    GREEN: {"exp-psrl": "^"},
    ORANGE: {"greedy": "", "eps-greedy": "s"},
    GREY: {"random": ""},
    "black": {"oracle": ""},
    PURPLE: {"smrl": "D", "ren-ts": "s"},
    SKY: {"ucrl-vtr": "", "uc-matrixrl": "s"},
    WINE: {"lsvi-ucb": "", "rlsvi": "s", "lsvi-phe": "^", "opt-rlsvi": "D", "lmc-lsvi": "P", "ensemble-rlsvi": "v"},
    OLIVE: {"ucbvi": "", "psrl": "s", "ucbvi-bf": "^", "orlc": "D", "opsrl": "v", "eqo": "P"},
    INDIGO: {"ucrl-mnl": "", "ucrl-mnl-plus": "s", "rrl-mnl": "^", "orrl-mnl": "D"},
    BROWN: {"bef-seed": "X"},
}
STYLES = {name: (colour, marker) for colour, members in KINDS.items() for name, marker in members.items()}
# Variants such as `bef-rlsvi-clip` have the colour of their algorithm and are hollow.
VARIANTS = {"step": "^", "clip": "s", "hessian": "D", "rff": "v", "gradient": "s", "sample": "^"}
VARIANTS |= {
    "universal": "D",
    "pinsker": "D",
    "mala": "s",
    "greedy": "^",
    "linearised": "D",
    "frobenius": "v",
    "features": "v",
}
# For new agents: colours of seaborn's palettes that colour-blind readers can tell from those above.
NEW_COLOURS = ("#023EFF", "#A23582", "#C44E52")
NEW_MARKERS = ("<", "*", ">", "d", "p")
THEORY = (0, (4, 1.5))
LINES = {
    "theory": THEORY, "surrogate": THEORY, "tuned": "solid", "baseline": (0, (1, 1)), "set": "dashdot",
    "sweep": "solid", "outside": (0, (5, 1, 1, 1, 1, 1)),
}  # fmt: skip
LINES_EXPLAINED = {
    "surrogate": "Dashed: constants of the theory, or surrogates (‡).",
    "theory": "Dashed: constants of the theory.",
    "tuned": "Solid: best of the configurations tried, chosen on other seeds.",
    "sweep": "Thin: values of a sweep.",
    "set": "Dash-dotted: constants given in the config.",
    "baseline": "Dotted: no constants.",
    "outside": "Dash-dot-dotted: agents from outside befrl, with estimated regret.",
}
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MISSPECIFIED, SURROGATE = "†", "‡"
MARKS = {
    MISSPECIFIED: f" {MISSPECIFIED}: the instance does not satisfy the algorithm's assumptions.",
    SURROGATE: f" {SURROGATE}: surrogate constants; the source's are not known.",
}
_agents: dict[str, str] = {}  # those of the present figure without an entry in STYLES, {name: algorithm}


def start(agents=()):
    """Start a figure of a study with the agents {name: algorithm}; a name has one style in all figures of a study."""
    _agents.clear()
    _agents.update(agents)


def assigned(agents) -> dict[str, list[str]]:
    """Colour and marker of the agents {name: algorithm} that have none in STYLES; later agents change no style.

    A variant has the colour of its algorithm. The first one without an ending of VARIANTS has the algorithm's marker,
    or a circle; all others have a new marker each, and numbers when these run out.
    """
    found, seen, count = {}, set(), 0
    for agent, algorithm in agents.items():
        if agent in STYLES:
            continue
        known = algorithm in STYLES
        colour, marker = STYLES.get(algorithm, (NEW_COLOURS[count % len(NEW_COLOURS)], ""))
        ending = agent.removeprefix(f"{algorithm}-")
        if known and ending in VARIANTS:
            marker = VARIANTS[ending]
        elif known and algorithm not in seen:
            seen.add(algorithm)
            marker = marker or "o"
        else:
            marker = NEW_MARKERS[count] if count < len(NEW_MARKERS) else f"${count + 1}$"
            count += 1
        found[agent] = [colour, marker]
    return found


def of(agent: str, algorithm: str = "") -> tuple[str, str]:
    """Colour and marker of an agent, or of another name; names that the study does not have are new agents."""
    if agent in STYLES:
        return STYLES[agent]
    _agents.setdefault(agent, algorithm)
    colour, marker = assigned(_agents)[agent]
    return colour, marker


def colour(agent: str, algorithm: str = "") -> str:
    return of(agent, algorithm)[0]


def options(agent: str, algorithm: str) -> dict:
    """Colour and marker of an agent for `Axes.plot`; all but those in STYLES are hollow."""
    colour, marker = of(agent, algorithm)
    if agent in STYLES:
        return {"color": colour, "marker": marker}
    new = marker in NEW_MARKERS or marker.startswith("$")
    larger = {"markersize": 5, "markeredgewidth": 0.7} if new else {}
    return {"color": colour, "marker": marker, "markerfacecolor": "white"} | larger


def marks(rows) -> dict[str, str]:
    """The marks of each agent of a summary, or of Table 1: misspecified, or with surrogate constants."""
    surrogate = rows["role" if "role" in rows else "constants"] == "surrogate"
    found = dict.fromkeys(rows["agent"], "")
    for mark, marked in ((MISSPECIFIED, rows["specification"] == "misspecified"), (SURROGATE, surrogate)):
        found |= {agent: found[agent] + mark for agent in set(rows["agent"][marked])}
    return found


def names(rows) -> dict[str, str]:
    """The names of the agents of a summary, or of Table 1, with their marks."""
    return {agent: f"{agent} {mark}".strip() for agent, mark in marks(rows).items()}


def explained(rows) -> str:
    """The sentences of a caption that explain the marks of these rows."""
    used = "".join(marks(rows).values())
    return "".join(text for mark, text in MARKS.items() if mark in used)


def line_styles(roles) -> str:
    """The sentences of a caption that explain the line styles of these roles."""
    used = set(roles) - ({"theory"} if "surrogate" in set(roles) else set())
    return " ".join(text for role, text in LINES_EXPLAINED.items() if role in used)


def heading(row) -> str:
    """The heading of a figure of one case: instance, track, episodes and seeds, from a row of its summary."""
    return f"{row['instance']}, {TRACKS[row['track']]}, K = {row['episodes']}, {row['seeds']} seeds"


def case(rows) -> dict:
    """Values for captions about the case of a summary, or of Table 1."""
    first = rows.iloc[0]
    about = {"case": heading(first), "reward": TRACKS[first["track"]], "marks": explained(rows)}
    return about | {key: first[key] for key in ("instance", "track", "episodes")} | {"seeds": int(first["seeds"])}


def power(value, digits=1) -> str:
    """A number with three digits; if it is far from 1, with so many and a power of ten: 0.01, 10⁻⁶, 3.2 · 10¹⁵."""
    if value == 0 or not math.isfinite(value) or 1e-3 <= abs(value) < 1e5:
        return f"{float(f'{value:.3g}'):g}"
    factor, exponent = f"{value:.{digits - 1}e}".split("e")
    tens = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return tens if float(factor) == 1 else f"{factor} · {tens}"


def span(tables, column) -> str:
    """The range of the whole numbers in a column of some tables: "5" or "5 to 20"; empty without rows."""
    values = {int(value) for table in tables for value in table[column]}
    return " to ".join(map(str, sorted({min(values), max(values)}))) if values else ""


def sizes(tables) -> dict:
    """The smallest number of seeds of some tables, and the range of their numbers of episodes."""
    return {"seeds": min(int(table["seeds"].min()) for table in tables), "episodes": span(tables, "episodes")}


def with_zero(axis, which, values, least=NO_REGRET):
    """Make the x or y axis logarithmic with a zero: linear below the power of ten under all values > `least`."""
    positive = values[values > least]
    start = 10.0 ** math.floor(math.log10(positive.min())) if len(positive) else 1.0
    getattr(axis, f"set_{which}scale")("symlog", linthresh=start, linscale=0.5)


def label_ends(axis, ends):
    """Write {name: (value, colour)} at the right of a panel, at the heights of their values but apart."""
    to_height = axis.transLimits.transform
    scale = axis.yaxis.get_transform().transform
    places = {name: to_height((0, scale(value)))[1] for name, (value, _) in ends.items()}
    apart = SMALL * 1.25 / (72 * 0.8 * axis.figure.get_figheight())  # the panel takes about 0.8 of the height
    below = -apart / 2
    for name in sorted(places, key=places.get):
        below = max(places[name], below + apart)
        place = {"xycoords": "axes fraction", "va": "center", "annotation_clip": False}
        axis.annotate(f" {name}", (1.0, below), color=ends[name][1], fontsize=SMALL, **place)


def subplots(*shape, figsize, **options):
    """Figure and axes; matplotlib is imported only when a figure is drawn, and keeps no reference to it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=figsize)
    return figure, figure.subplots(*shape, **options)


def sentence(text):
    """A figure with nothing to show: why."""
    figure, axis = subplots(figsize=(WIDTH, 0.5))
    axis.set_axis_off()
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes)
    return figure


def panels(count, height=1.5):
    """A figure as wide as a column, with at most two axes in a row."""
    columns = min(2, max(1, count))
    lines = max(1, -(-count // columns))
    figure, axes = subplots(lines, columns, figsize=(WIDTH, height * lines + 0.4), squeeze=False)
    for spare in axes.ravel()[count:]:
        spare.set_axis_off()
    return figure, axes.ravel()


def paths(axis, table, key, column, styles) -> dict:
    """`column` over seconds for each name in the column `key`: a pale line over all sizes, a marker at the largest.

    Returns the handles of a legend by name.
    """
    handles = {}
    for name, part in table.groupby(key, sort=False):
        colour, marker = styles.get(name) or of(name)
        axis.plot(part["seconds"], part[column], color=colour, linewidth=0.6, alpha=0.45, clip_on=False, label=name)
        dot = {
            "color": colour,
            "marker": marker,
            "markersize": 3.5,
            "linestyle": "none",
            "clip_on": False,
            "label": name,
        }
        (handles[name],) = axis.plot(part["seconds"].iloc[-1:], part[column].iloc[-1:], **dot)
    axis.set(xscale="log")
    return handles


def legend(figure, axes, columns, **options):
    """A legend below the panels with every label once."""
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=columns, **options)


def beside(axis):
    """A legend at the right of a panel."""
    where = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "borderaxespad": 0.5}
    axis.legend(*axis.get_legend_handles_labels(), **TIGHT, **where)


def theme():
    """Set the style of all figures; imports are here because seaborn takes seconds to load."""
    import matplotlib
    import seaborn

    seaborn.set_theme(context="paper", style="ticks", palette=list(KINDS))
    matplotlib.rcParams.update(
        {
            "font.family": "DejaVu Sans", "font.size": 6, "axes.labelsize": 6, "axes.titlesize": 6.5,
            "legend.fontsize": 5.5, "legend.title_fontsize": 5.5, "xtick.labelsize": 5.5, "ytick.labelsize": 5.5,
            "lines.linewidth": 1.1, "xtick.major.size": 3, "ytick.major.size": 3, "xtick.minor.size": 1.5,
            "ytick.minor.size": 1.5, "xtick.major.pad": 2, "ytick.major.pad": 2, "axes.labelpad": 2,
            "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False, "xtick.major.width": 0.6,
            "ytick.major.width": 0.6, "xtick.minor.width": 0.4, "ytick.minor.width": 0.4, "legend.frameon": False,
            "svg.hashsalt": "befrl", "svg.fonttype": "none", "figure.constrained_layout.use": True,
        }
    )  # fmt: skip
