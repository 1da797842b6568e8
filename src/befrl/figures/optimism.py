"""Share of optimistic episodes against the noise scale x, beside the Phi(-1) that the paper's proof requires."""

import math

import numpy as np

from befrl.analysis import regret_columns
from befrl.figures.noise_scale import drawable, finish, grid_of, sizes
from befrl.figures.support import style

SCOPE = "study"
SECTION = "theorem"
TABLES = {"summary": regret_columns.SUMMARY}
PROMISED = 0.5 * math.erfc(1 / math.sqrt(2))


def draw(tables):
    tables = drawable(tables)
    figure, axes = style.panels(len(tables))
    for axis, table in zip(axes, tables, strict=False):
        summary = table["summary"]
        grid, theory = grid_of(summary)
        colour = style.colour(theory["agent"].iloc[0])
        for rows, marker in ((grid, "o"), (theory, "D")):
            errors = np.abs(rows[["optimistic_low", "optimistic_high"]].to_numpy().T - rows["optimistic"].to_numpy())
            line = "solid" if marker == "o" else "none"
            axis.errorbar(
                rows["value"],
                rows["optimistic"],
                errors,
                color=colour,
                marker=marker,
                markersize=3.5,
                linestyle=line,
                capsize=2,
            )
        axis.axhline(PROMISED, color="black", linestyle=":", linewidth=0.9)
        axis.annotate(
            "Φ(-1)",
            (0.98, PROMISED),
            xycoords=("axes fraction", "data"),
            xytext=(0, 1.5),
            textcoords="offset points",
            ha="right",
            fontsize=6.5,
        )
        axis.set(ylabel="optimistic episodes", ylim=(0, 1.02))
        finish(axis, summary)
    return figure


def describe(tables):
    title = "Share of optimistic episodes of BEF-RLSVI against the noise scale x"
    shown = drawable(tables)
    if not shown:
        return {"title": title, "caption": "No sweep over x in this study.", "seeds": sizes(tables)[1]}
    words, seeds = sizes(shown)
    return {
        "title": title,
        "caption": (
            f"Share of the episodes of {words} in which the perturbed value of the first state is at least the optimal "
            f"one; bars: interval of the mean. Diamond: Theorem 1's x_k. Dotted: Φ(-1) = {PROMISED:.4f}, the "
            "least probability of optimism with which the proof works; points below it are not covered by the proof."
        ),
        "seeds": seeds,
    }
