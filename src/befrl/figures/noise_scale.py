"""Regret of BEF-RLSVI against its noise scale x, with Theorem 1's x_k marked."""

import numpy as np
import pandas as pd

from befrl.figures import style

SCOPE = "study"


def grid_of(summary):
    """Points of the x grid of the study's first BEF-RLSVI, and the theory's point."""
    rows = summary[(summary["algorithm"] == "bef-rlsvi") & (summary["parameter"] == "x")]
    rows = rows[rows["agent"] == rows["agent"].iloc[0]].sort_values("value") if len(rows) else rows
    return rows[rows["role"] != "theory"], rows[rows["role"] == "theory"]


def drawable(tables):
    return [table for table in tables if all(len(rows) for rows in grid_of(table["summary"]))]


def finish(axis, summary):
    """What the panels over x share."""
    values = pd.concat(grid_of(summary))["value"]
    axis.set(xscale="log", xlabel="noise scale x", xlim=(values.min() / 2, values.max() * 3))
    axis.set_title(f"{summary['instance'].iloc[0]}, {style.track(summary['track'].iloc[0])}")


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
        for row in summary[summary["algorithm"].isin(("greedy", "random")) & (summary["mean"] > 1e-6)].itertuples():
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


def describe(tables):
    tables = drawable(tables)
    if not tables:
        return {"title": "Regret against the noise scale x", "caption": "No grid over x in this study."}
    factors = [
        f"{row.value:.2g} on {row.instance} ({row.track})"
        for table in tables
        for row in grid_of(table["summary"])[1].itertuples()
    ]
    return {
        "title": "Regret of BEF-RLSVI against the noise scale x",
        "caption": (
            f"Mean regret after all episodes over {tables[0]['summary']['seeds'].iloc[0]} seeds; bars: bootstrap "
            f"interval of the mean; shaded: 10 to 90 % of the seeds. Dotted line and diamond: Theorem 1's x_k, "
            f"which is {'; '.join(factors)}. Horizontal: greedy (x = 0) and uniformly random "
            "actions, where their regret is not zero."
        ),
    }
