"""Regret of BEF-RLSVI over its noise scale x and its penalty eta together: all configurations that tuning tried."""

import pandas as pd
from matplotlib.colors import LogNorm

from befrl.analysis import regret_columns
from befrl.common.defaults import TRACKS
from befrl.figures.support import style

SCOPE = "study"
TABLES = {"summary": regret_columns.SUMMARY, "tuning": regret_columns.TUNING}
LEAST = 0.01  # share of the regret of random play, at the lower end of the colours
SETTING = {"x": r"\bx=(\S+)", "eta": r"\beta=(\S+)"}


def shown(tables) -> list[tuple]:
    """The summary and the configurations of the first BEF-RLSVI agent of each case that is tuned over x and eta."""
    found = []
    for table in tables:
        rows = table["tuning"][table["tuning"]["algorithm"] == "bef-rlsvi"]
        rows = rows[rows["agent"].isin(rows["agent"].head(1))]
        rows = rows.assign(**{key: rows["setting"].str.extract(form)[0].astype(float) for key, form in SETTING.items()})
        random = table["summary"][table["summary"]["variant"] == "random"]
        if len(rows := rows.dropna(subset=list(SETTING))) and len(random):
            found.append((table["summary"], rows.assign(share=rows["first_mean"] / random["mean"].iloc[0])))
    return found


def draw(tables):
    cases = shown(tables)
    figure, axes = style.panels(len(cases))
    for axis, (summary, rows) in zip(axes, cases, strict=False):
        # The best ones are drawn last, on top.
        rows = rows.sort_values("share", ascending=False, kind="stable")
        colours = {"c": rows["share"].clip(LEAST, 1), "norm": LogNorm(LEAST, 1), "cmap": "cividis_r"}
        points = axis.scatter(rows["x"], rows["eta"], s=11, edgecolor="black", linewidth=0.3, **colours)
        chosen = rows[rows["chosen"] == "tuned"]
        axis.scatter(chosen["x"], chosen["eta"], s=32, facecolor="none", edgecolor=style.VERMILION, linewidth=1.1)
        axis.set(xscale="log", yscale="log", xlabel="noise scale x", ylabel="penalty η")
        instance, track, episodes = summary.iloc[0][["instance", "track", "episodes"]]
        axis.set_title(
            f"{instance}, {TRACKS[track]}\nK = {episodes}, {rows['seeds'].min()} seeds each", fontsize=style.SMALL
        )
    if cases:
        figure.colorbar(points, ax=list(axes), label="regret / random play", fraction=0.04)
    return figure


def describe(tables):
    cases = shown(tables)
    if not cases:
        return style.sizes([table["summary"] for table in tables]) | {"empty": True}
    chosen = pd.concat([rows[rows["chosen"] == "tuned"] for _, rows in cases])
    spans = {key: f"{chosen[key].min():g} to {chosen[key].max():g}" for key in SETTING}
    return {"seeds": int(min(rows["seeds"].min() for _, rows in cases)), "least": f"{LEAST:.0%}"} | spans
