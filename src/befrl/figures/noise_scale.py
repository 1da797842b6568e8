"""Regret of BEF-RLSVI against its noise scale x, beside Theorem 1's x_k."""

import numpy as np
import pandas as pd

from befrl.analysis import regret_columns
from befrl.analysis.statistics import NO_REGRET
from befrl.figures.support import style

SCOPE = "study"
TABLES = {"summary": regret_columns.SUMMARY}


def grid_of(summary):
    """The points of the sweep over x of the study's first BEF-RLSVI agent, and the point of the theory's x_k."""
    rows = summary[(summary["algorithm"] == "bef-rlsvi") & (summary["parameter"] == "x")]
    rows = rows[rows["agent"] == rows["agent"].iloc[0]].sort_values("value") if len(rows) else rows
    return rows[rows["role"] == "sweep"], rows[rows["role"] == "theory"]


def drawable(tables):
    """The tables with a sweep over x and the theory's point."""
    return [table for table in tables if all(len(rows) for rows in grid_of(table["summary"]))]


def finish(axis, summary):
    """Set the x axis and the title, which are the same for all figures over x."""
    values = pd.concat(grid_of(summary))["value"]
    axis.set(xscale="log", xlabel="noise scale x", xlim=(values.min() / 2, values.max() * 3))
    axis.set_title(style.heading(summary.iloc[0]), fontsize=7)


def draw(tables):
    tables = drawable(tables)
    figure, axes = style.panels(len(tables))
    for axis, table in zip(axes, tables, strict=False):
        summary = table["summary"]
        grid, theory = grid_of(summary)
        colour = style.colour(theory["agent"].iloc[0])
        axis.fill_between(grid["value"], grid["q10"], grid["q90"], color=colour, alpha=0.15, linewidth=0)
        errors = np.abs(grid[["low", "high"]].to_numpy().T - grid["mean"].to_numpy())
        axis.errorbar(grid["value"], grid["mean"], errors, color=colour, marker="o", markersize=3, capsize=2)
        axis.axvline(theory["value"].iloc[0], color="black", linestyle=":", linewidth=0.9)
        axis.plot(theory["value"], theory["mean"], color=colour, marker="D", markersize=4, linestyle="none")
        axis.annotate(
            "Theorem 1",
            (theory["value"].iloc[0], 0.06),
            xycoords=("data", "axes fraction"),
            xytext=(-3, 0),
            textcoords="offset points",
            ha="right",
            fontsize=6.5,
        )
        own = summary["variant"].isin(("greedy", "random"))
        baselines = summary[own & (summary["mean"] > NO_REGRET)]
        for row in baselines.itertuples():
            axis.axhline(row.mean, color=style.colour(row.agent, row.algorithm), linestyle=style.LINES["baseline"])
            axis.annotate(
                row.agent,
                (0.3, row.mean),
                xycoords=("axes fraction", "data"),
                xytext=(0, 1.5),
                textcoords="offset points",
                fontsize=6.5,
                color=style.colour(row.agent, row.algorithm),
            )
        axis.set(yscale="log", ylabel="regret after K episodes")
        axis.set_ylim(top=summary["mean"].max() * 2.2)
        finish(axis, summary)
    return figure


def sizes(tables):
    """Numbers of seeds and episodes in words, and the least number of seeds."""
    seeds, episodes = (
        sorted({int(table["summary"][key].iloc[0]) for table in tables}) for key in ("seeds", "episodes")
    )
    words = (" to ".join(str(number) for number in dict.fromkeys((ends[0], ends[-1]))) for ends in (seeds, episodes))
    return "{} seeds and {} episodes".format(*words), seeds[0]


def describe(tables):
    title = "Regret of BEF-RLSVI against the noise scale x"
    shown = drawable(tables)
    if not shown:
        return {"title": title, "caption": "No sweep over x in this study.", "seeds": sizes(tables)[1]}
    scales = [
        f"{row.value:.2g} on {row.instance} ({row.track})"
        for table in shown
        for row in grid_of(table["summary"])[1].itertuples()
    ]
    words, seeds = sizes(shown)
    return {
        "title": title,
        "caption": (
            f"Mean regret over {words}; bars: interval of the mean; shaded: 10 to 90 % of the seeds. Dotted "
            f"vertical line and diamond: Theorem 1's x_k, which is {'; '.join(scales)}. Horizontal lines: greedy (x = "
            "0) and uniformly random actions, where their regret is not zero. The height of the diamond above the "
            "lowest point of the curve is the price of the theorem's x_k."
        ),
        "seeds": seeds,
    }
