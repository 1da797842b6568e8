"""Share of optimistic episodes against the noise scale x, beside the Phi(-1) that the paper's proof requires."""

import math

import numpy as np

from befrl.analysis import regret_columns
from befrl.figures.noise_scale import NOTE, panels, sizes

SCOPE = "study"
SECTION = "theorem"
TABLES = {"summary": regret_columns.SUMMARY}
PROMISED = 0.5 * math.erfc(1 / math.sqrt(2))


def draw(tables):
    figure, shown = panels(tables)
    for axis, colour, _, grid, theory in shown:
        for rows, marker, line in ((grid, "o", "solid"), (theory, "D", "none")):
            shares = rows["optimistic"]
            errors = np.abs(rows[["optimistic_low", "optimistic_high"]].to_numpy().T - shares.to_numpy())
            options = {"color": colour, "marker": marker, "markersize": 3.5, "linestyle": line, "capsize": 2}
            axis.errorbar(rows["value"], shares, errors, **options)
        axis.axhline(PROMISED, color="black", linestyle=":", linewidth=0.9)
        place = {"xycoords": ("axes fraction", "data"), "xytext": (0, 1.5), "ha": "right"}
        axis.annotate("Φ(-1)", (0.98, PROMISED), **place, **NOTE)
        axis.set(ylabel="optimistic episodes", ylim=(0, 1.02))
    return figure


def describe(tables):
    return sizes(tables) | {"promised": PROMISED}
