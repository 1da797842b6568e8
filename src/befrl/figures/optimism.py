"""Share of optimistic episodes against the noise scale x, beside the Phi(-1) that the paper's proof requires."""

import math

from befrl.analysis import regret_columns
from befrl.figures.noise_scale import curves, reference, scale, sizes, sweeps
from befrl.figures.support import style

SCOPE = "study"
SECTION = "theorem"
TABLES = {"summary": regret_columns.SUMMARY}
PROMISED = 0.5 * math.erfc(1 / math.sqrt(2))


def draw(tables):
    figure, axis = style.subplots(figsize=(style.WIDTH, 2.4))
    shown = sweeps(tables)
    curves(axis, shown, lambda points, _: points[["optimistic", "optimistic_low", "optimistic_high"]])
    reference(axis, PROMISED, "Φ(−1)", "black", at=1.0)
    scale(axis, [summary for summary, _ in shown], height=0.2)
    axis.set(ylabel="optimistic episodes", ylim=(0, 1.02))
    style.beside(axis)
    return figure


def describe(tables):
    shown = sweeps(tables)
    least = min((float(points["optimistic"].iloc[-1]) for _, points in shown), default=0.0)
    return sizes(tables) | {"promised": PROMISED, "least": least}
