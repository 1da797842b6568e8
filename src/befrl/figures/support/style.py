"""The style of all figures: column width, colour-blind safe colours, and one colour for each agent everywhere."""

from befrl.figures.support import newcomers

WIDTH = 3.6  # inches: one column of a paper
GREY = "0.55"

# The palette of Okabe and Ito; black is kept for reference lines.
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
# From Tol's muted palette, for further kinds of agents.
WINE, INDIGO, OLIVE = "#882255", "#332288", "#999933"
# A colour for each kind of agent, and a marker for each of its members, or for curves that often coincide.
LOOKS = {
    "bef-rlsvi": (BLUE, ""),
    "exp-ucrl": (VERMILION, ""),
    "exp-psrl": (GREEN, "^"),
    "greedy": (ORANGE, ""),
    "eps-greedy": (ORANGE, "s"),
    "random": (GREY, ""),
    "oracle": ("black", ""),
    "smrl": (PURPLE, "D"),
    "ren-ts": (PURPLE, "s"),
    "ucrl-vtr": (SKY, ""),
    "uc-matrixrl": (SKY, "s"),
    "lsvi-ucb": (WINE, ""),
    "rlsvi": (WINE, "s"),
    "lsvi-phe": (WINE, "^"),
    "opt-rlsvi": (WINE, "D"),
    "ucbvi": (OLIVE, ""),
    "psrl": (OLIVE, "s"),
    "ucrl-mnl": (INDIGO, ""),
    "ucrl-mnl-plus": (INDIGO, "s"),
    "rrl-mnl": (INDIGO, "^"),
    "orrl-mnl": (INDIGO, "D"),
}
# Variants of an algorithm have its colour and a hollow marker, chosen by the ending of their name. Without such an
# ending the first variant has the algorithm's own marker, or a circle, and the others those of newcomers.
VARIANTS = {"step": "^", "clip": "s", "hessian": "D", "rff": "v", "gradient": "s", "sample": "^"}
VARIANTS |= {"pinsker": "D", "mala": "s", "greedy": "^", "linearised": "D", "frobenius": "v", "features": "v"}
# Algorithms that share a panel if all of them are too many for one.
GROUPS = {
    "exponential family": ("bef-rlsvi", "exp-ucrl", "exp-psrl", "smrl", "ren-ts"),
    "mixtures, factors and tables": ("ucrl-vtr", "uc-matrixrl", "ucbvi", "psrl"),
    "least squares": ("lsvi-ucb", "rlsvi", "lsvi-phe", "opt-rlsvi"),
    "multinomial logistic": ("ucrl-mnl", "ucrl-mnl-plus", "rrl-mnl", "orrl-mnl"),
    "baselines": ("greedy", "eps-greedy", "random", "oracle"),
}
MISSPECIFIED, SURROGATE = "†", "‡"
THEORY = (0, (4, 1.5))
LINES = {
    "theory": THEORY, "surrogate": THEORY, "tuned": "solid", "baseline": (0, (1, 1)), "set": "dashdot",
    "sweep": "solid", "outside": (0, (5, 1, 1, 1, 1, 1)),
}  # fmt: skip
MARKS = {
    MISSPECIFIED: f" {MISSPECIFIED}: the instance does not satisfy the algorithm's assumptions.",
    SURROGATE: f" {SURROGATE}: surrogate constants; the source's are not known.",
}


def colour(agent: str, algorithm: str = "") -> str:
    """The colour of an agent: that of itself or its algorithm if one is known, else that of a newcomer."""
    for known in (agent, algorithm):
        if known in LOOKS:
            return LOOKS[known][0]
    return newcomers.look(agent)[0]


def mixed(colour: str, share: float):
    """A colour mixed with white by a share above 0, or with black by one below."""
    from matplotlib.colors import to_rgb

    end = float(share > 0)
    return tuple((1 - abs(share)) * part + abs(share) * end for part in to_rgb(colour))


def look(agent: str, algorithm: str) -> dict:
    """Colour and marker of an agent; one that is named unlike its algorithm has a variant's hollow marker."""
    shade = colour(agent, algorithm)
    if agent in LOOKS:
        return {"color": shade, "marker": LOOKS[agent][1]}
    ending = agent.removeprefix(f"{algorithm}-")
    if algorithm in LOOKS and ending in VARIANTS:
        marker = VARIANTS[ending]
    elif algorithm in LOOKS and newcomers.is_first(agent, algorithm):
        marker = LOOKS[algorithm][1] or "o"
    else:
        marker = newcomers.marker(newcomers.number(agent))
        return {"color": shade, "marker": marker, "markersize": 5, "markerfacecolor": "white", "markeredgewidth": 0.7}
    return {"color": shade, "marker": marker, "markerfacecolor": "white"}


def numbered(agents: dict[str, str]) -> dict[str, int]:
    """The numbers of the newcomers among the agents {name: algorithm}; 0 for the first variant of a known algorithm."""
    found, met = {}, set()
    for agent, algorithm in agents.items():
        if agent in LOOKS or (algorithm in LOOKS and agent.removeprefix(f"{algorithm}-") in VARIANTS):
            continue
        first = algorithm in LOOKS and algorithm not in met
        met.add(algorithm)
        found[agent] = 0 if first else 1 + sum(number > 0 for number in found.values())
    return found


def group(algorithm: str) -> str:
    """The panel that an algorithm belongs to; unknown algorithms share the last one."""
    return next((name for name, members in GROUPS.items() if algorithm in members), "others")


def marks(rows) -> dict[str, str]:
    """The marks of each agent of a summary, or of Table 1: misspecified, or with surrogate constants."""
    constants = rows["role" if "role" in rows else "constants"]
    found = dict.fromkeys(rows["agent"], "")
    for mark, marked in (
        (MISSPECIFIED, rows["specification"] == "misspecified"),
        (SURROGATE, constants == "surrogate"),
    ):
        found |= {agent: found[agent] + mark for agent in dict.fromkeys(rows["agent"][marked])}
    return found


def names(rows) -> dict[str, str]:
    """The names of the agents of a summary, or of Table 1, with their marks."""
    return {agent: f"{agent} {mark}" if mark else agent for agent, mark in marks(rows).items()}


def explained(rows) -> str:
    """The sentences of a caption that explain the marks of these rows."""
    used = "".join(marks(rows).values())
    return "".join(text for mark, text in MARKS.items() if mark in used)


def line_styles(roles) -> str:
    """The sentences of a caption that explain the line styles of these roles."""
    roles = set(roles)
    sentences = {
        "Dashed: constants of the theory, or surrogates (‡).": "surrogate" in roles,
        "Dashed: constants of the theory.": "theory" in roles and "surrogate" not in roles,
        "Solid: best of the configurations tried, chosen on other seeds.": "tuned" in roles,
        "Thin: values of a sweep.": "sweep" in roles,
        "Dash-dotted: constants given in the config.": "set" in roles,
        "Dotted: no constants.": "baseline" in roles,
        "Dash-dot-dotted: agents from outside befrl, with estimated regret.": "outside" in roles,
    }
    return " ".join(sentence for sentence, used in sentences.items() if used)


def track(letter: str) -> str:
    return {"U": "reward unknown", "K": "reward known"}[letter]


def heading(row) -> str:
    """The heading of a drawing of one case: instance, track, episodes and seeds, from a row of its summary."""
    return f"{row['instance']}, {track(row['track'])}, K = {row['episodes']}, {row['seeds']} seeds"


def span(tables, column) -> str:
    """The whole numbers in a column of some tables as words: the only one, or the least to the greatest."""
    values = [int(value) for table in tables for value in table[column]]
    return " to ".join(map(str, sorted({min(values), max(values)})))


def sizes(tables) -> tuple[int, str]:
    """The least number of seeds of some tables, and their numbers of episodes as words."""
    return min(int(table["seeds"].min()) for table in tables), span(tables, "episodes")


def panels(count, height=2.1, most=2):
    """A figure with at most `most` axes in a row, so that each is readable at column width."""
    columns = min(most, max(1, count))
    lines = max(1, -(-count // columns))
    figure, axes = subplots(lines, columns, figsize=(WIDTH * columns / 1.25, height * lines), squeeze=False)
    for spare in axes.ravel()[count:]:
        spare.set_axis_off()
    return figure, axes.ravel()


def subplots(*shape, **options):
    """Figure and axes; matplotlib is imported only when a figure is drawn."""
    import matplotlib.pyplot as plt

    return plt.subplots(*shape, **options)


def close(figure):
    """Forget a figure, which pyplot would keep."""
    import matplotlib.pyplot as plt

    plt.close(figure)


def plain_ticks(axis):
    """Ticks 1, 2, 5, 10, ... as plain numbers, for a logarithmic axis of about one decade."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def lines(axis, table, key, size, column, looks, rims=(None, None), shaded=False) -> dict:
    """One line for each name in the column `key`: `column` over `size`, kept within the rims; handles by name."""
    handles = {}
    for name, part in table.groupby(key, sort=False):
        colour, marker = looks.get(name) or newcomers.look(name)
        if shaded:
            low, high = part[f"{column}_low"], part[f"{column}_high"]
            axis.fill_between(part[size], low, high, color=colour, alpha=0.12, linewidth=0)
        values = part[column].clip(*rims)
        (handles[name],) = axis.plot(part[size], values, color=colour, marker=marker, markersize=3, linewidth=0.9)
    axis.set(xscale="log", yscale="log")
    return handles


def apply():
    """Set matplotlib up to draw files in the style of all figures."""
    import matplotlib

    matplotlib.use("Agg")
    theme()


def theme():
    """Set the style of all figures; imports are here because seaborn takes seconds to load."""
    import matplotlib
    import seaborn

    palette = list(dict.fromkeys(colour for colour, _ in LOOKS.values()))
    seaborn.set_theme(context="paper", style="ticks", palette=palette)
    matplotlib.rcParams.update(
        {
            "font.family": "DejaVu Sans",
            "font.size": 7.5,
            "axes.labelsize": 7.5,
            "axes.titlesize": 8,
            "legend.fontsize": 6.5,
            "xtick.labelsize": 7,
            "ytick.labelsize": 7,
            "lines.linewidth": 1.2,
            "axes.linewidth": 0.6,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "xtick.minor.width": 0.4,
            "ytick.minor.width": 0.4,
            "legend.frameon": False,
            "svg.hashsalt": "befrl",
            "figure.constrained_layout.use": True,
        }
    )


def assigned(agents):
    return numbered(agents)
