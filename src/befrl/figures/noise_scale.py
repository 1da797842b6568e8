"""Regret of BEF-RLSVI against its noise scale x, beside Theorem 1's x_k."""

import numpy as np
import pandas as pd

from befrl.analysis import regret_columns
from befrl.analysis.statistics import NO_REGRET
from befrl.figures.support import style

SCOPE = "study"
TABLES = {"summary": regret_columns.SUMMARY}
NOTE = {"textcoords": "offset points", "fontsize": 6.5}


def sweeps(tables) -> list[tuple]:
    """Summary, sweep over x and point of the theory's x_k of each case that has both, of its first BEF-RLSVI agent."""
    found = []
    for summary in (table["summary"] for table in tables):
        rows = summary[(summary["algorithm"] == "bef-rlsvi") & (summary["parameter"] == "x")]
        rows = rows[rows["agent"].isin(rows["agent"].head(1))].sort_values("value")
        grid, theory = rows[rows["role"] == "sweep"], rows[rows["role"] == "theory"]
        if len(grid) and len(theory):
            found.append((summary, grid, theory))
    return found


def panels(tables):
    """A figure with a panel for each sweep, and the (axis, colour, summary, sweep, theory) of each."""
    shown, found = sweeps(tables), []
    figure, axes = style.panels(len(shown))
    for axis, (summary, grid, theory) in zip(axes, shown, strict=False):
        values = pd.concat([grid, theory])["value"]
        axis.set(xscale="log", xlabel="noise scale x", xlim=(values.min() / 2, values.max() * 3))
        axis.set_title(style.heading(summary.iloc[0]), fontsize=7)
        found.append((axis, style.colour(theory["agent"].iloc[0], "bef-rlsvi"), summary, grid, theory))
    return figure, found


def draw(tables):
    figure, shown = panels(tables)
    for axis, colour, summary, grid, theory in shown:
        axis.fill_between(grid["value"], grid["q10"], grid["q90"], color=colour, alpha=0.15, linewidth=0)
        errors = np.abs(grid[["low", "high"]].to_numpy().T - grid["mean"].to_numpy())
        axis.errorbar(grid["value"], grid["mean"], errors, color=colour, marker="o", markersize=3, capsize=2)
        x = theory["value"].iloc[0]
        axis.axvline(x, color="black", linestyle=":", linewidth=0.9)
        axis.plot(theory["value"], theory["mean"], color=colour, marker="D", markersize=4, linestyle="none")
        axis.annotate("Theorem 1", (x, 0.06), xycoords=("data", "axes fraction"), xytext=(-3, 0), ha="right", **NOTE)
        baselines = summary[summary["variant"].isin(("greedy", "random")) & (summary["mean"] > NO_REGRET)]
        for row in baselines.itertuples():
            other = style.colour(row.agent, row.algorithm)
            axis.axhline(row.mean, color=other, linestyle=style.LINES["baseline"])
            place = {"xycoords": ("axes fraction", "data"), "xytext": (0, 1.5)}
            axis.annotate(row.agent, (0.3, row.mean), color=other, **place, **NOTE)
        axis.set(yscale="log", ylabel="regret after K episodes")
        axis.set_ylim(top=summary["mean"].max() * 2.2)
    return figure


def sizes(tables):
    """The numbers of seeds and episodes of the cases with a sweep, or of all if there is none."""
    summaries = [summary for summary, _, _ in sweeps(tables)] or [table["summary"] for table in tables]
    found = style.sizes(summaries)
    words = f"{style.span(summaries, 'seeds')} seeds and {found['episodes']} episodes"
    return {"sizes": words, "seeds": found["seeds"], "empty": not sweeps(tables)}


def describe(tables):
    rows = [row for _, _, theory in sweeps(tables) for row in theory.itertuples()]
    scales = "; ".join(f"{row.value:.2g} on {row.instance} ({row.track})" for row in rows)
    return sizes(tables) | {"scales": scales}
