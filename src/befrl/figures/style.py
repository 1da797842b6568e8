"""One look for all figures: column width, colour-blind safe, the same colour for the same agent everywhere."""

import zlib

WIDTH = 3.6  # inches: one column of a paper
GREY = "0.55"

# The palette of Okabe and Ito; black is left to reference lines.
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
# From Tol's muted palette, for the families of agents that those seven do not reach.
WINE, INDIGO, OLIVE, TEAL = "#882255", "#332288", "#999933", "#44AA99"
# A colour for each kind of agent, and a marker that tells its members apart, or curves that often lie on each other.
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
SPARE = (TEAL, YELLOW)
# Variants of an algorithm, named by an ending, have its colour and a hollow marker.
VARIANTS = {"step": "^", "steps": "^", "clip": "s", "hessian": "D", "rff": "v", "gradient": "s", "sample": "^"}
VARIANTS |= {"pinsker": "D", "mala": "s", "greedy": "^", "linearised": "D", "frobenius": "D", "features": "v"}
# Algorithms that share a panel where there are too many for one.
GROUPS = {
    "exponential family": ("bef-rlsvi", "exp-ucrl", "exp-psrl", "smrl", "ren-ts"),
    "mixtures, factors and tables": ("ucrl-vtr", "uc-matrixrl", "ucbvi", "psrl"),
    "least squares": ("lsvi-ucb", "rlsvi", "lsvi-phe", "opt-rlsvi"),
    "multinomial logistic": ("ucrl-mnl", "ucrl-mnl-plus", "rrl-mnl", "orrl-mnl"),
}
BASELINES = ("greedy", "eps-greedy", "random", "oracle")
MISSPECIFIED = "†"
LINES = {"theory": (0, (4, 1.5)), "tuned": "solid", "baseline": (0, (1, 1)), "set": "dashdot", "grid": "solid"}


def colour(agent: str, algorithm: str = "") -> str:
    """Fixed for known agents and algorithms; for new ones by name, so that it does not depend on who else is drawn."""
    for known in (agent, algorithm):
        if known in LOOKS:
            return LOOKS[known][0]
    return SPARE[zlib.crc32(agent.encode()) % len(SPARE)]


def look(agent: str, algorithm: str) -> dict:
    """Colour and marker of an agent: those of its algorithm if it has the same name, else a variant's."""
    shade = colour(agent, algorithm)
    if agent in LOOKS:
        return {"color": shade, "marker": LOOKS[agent][1]}
    own = LOOKS.get(algorithm, ("", ""))[1] or "o"
    return {
        "color": shade,
        "marker": VARIANTS.get(agent.removeprefix(f"{algorithm}-"), own),
        "markerfacecolor": "white",
    }


def group(algorithm: str) -> str:
    """The panel that an algorithm belongs to; users' own come after the known ones."""
    return next((name for name, members in GROUPS.items() if algorithm in members), "others")


def name(row) -> str:
    """How an agent is called, with the mark of a misspecified one."""
    return f"{row.agent} {MISSPECIFIED}" if row.fit == "misspecified" else row.agent


def variant(row) -> str:
    """How a variant of an agent is called in a legend."""
    setting = {"tuned": f", {row.parameter} = {row.value:g}", "theory": ", theory"}
    return f"{name(row)}{setting.get(row.role, '')}"


def misspecified(rows) -> str:
    """What the mark says, if any of the rows has it."""
    if not (rows["fit"] == "misspecified").any():
        return ""
    return f" {MISSPECIFIED}: the instance is not in the class that the algorithm assumes."


def without_regret(summary) -> str:
    """Who has no place on a logarithmic axis of regret."""
    names = summary[(summary["role"] != "grid") & (summary["mean"] <= 1e-6)]["variant"]
    return f" Zero regret, hence not drawn: {', '.join(names)}." if len(names) else ""


def track(letter: str) -> str:
    return {"U": "reward unknown", "K": "reward known"}[letter]


def panels(count, height=2.1, most=2):
    """A figure with `most` axes in a row, so that each stays readable at column width."""
    columns = min(most, max(1, count))
    lines = max(1, -(-count // columns))
    figure, axes = subplots(lines, columns, figsize=(WIDTH * columns / 1.25, height * lines), squeeze=False)
    for spare in axes.ravel()[count:]:
        spare.set_axis_off()
    return figure, axes.ravel()


def subplots(*shape, **options):
    """Figure and axes; matplotlib is imported when a figure is drawn, not when figures are listed."""
    import matplotlib.pyplot as plt

    return plt.subplots(*shape, **options)


def apply():
    """Set matplotlib up; imported late, since seaborn takes seconds to load."""
    import matplotlib

    matplotlib.use("Agg")
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
