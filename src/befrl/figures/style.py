"""One look for all figures: column width, colour-blind safe, the same colour for the same agent everywhere."""

import zlib

WIDTH = 3.6  # inches: one column of a paper
GREY = "0.55"

# The palette of Okabe and Ito; black is left to reference lines.
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
# From Tol's muted palette, for the families of agents that those seven do not reach.
WINE, INDIGO, OLIVE, TEAL = "#882255", "#332288", "#999933", "#44AA99"
# A colour for each kind of agent, and a marker that tells its members apart; the first of a kind goes without.
LOOKS = {
    "bef-rlsvi": (BLUE, ""),
    "exp-ucrl": (VERMILION, ""),
    "exp-psrl": (GREEN, ""),
    "greedy": (ORANGE, ""),
    "eps-greedy": (ORANGE, "s"),
    "random": (GREY, ""),
    "oracle": ("black", ""),
    "smrl": (PURPLE, ""),
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
LINES = {"theory": (0, (4, 1.5)), "tuned": "solid", "baseline": (0, (1, 1)), "set": "dashdot"}


def colour(agent: str) -> str:
    """Fixed for known agents; for new ones by name, so that it does not depend on who else is drawn."""
    return LOOKS[agent][0] if agent in LOOKS else SPARE[zlib.crc32(agent.encode()) % len(SPARE)]


def marker(agent: str) -> str:
    return LOOKS.get(agent, ("", "o"))[1]


def name(row) -> str:
    """How a variant is called in a legend."""
    if row.role == "tuned":
        return f"{row.agent}, tuned {row.parameter} = {row.value:g}"
    return f"{row.agent}, theory" if row.role == "theory" else row.agent


def track(letter: str) -> str:
    return {"U": "reward unknown", "K": "reward known"}[letter]


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
