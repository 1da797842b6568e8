"""Cumulative regret against the episode of every tuned agent: a few in colour, the others in grey."""

from befrl.analysis import regret_columns
from befrl.common.errors import InputError
from befrl.figures.support import style

SCOPE = "case"
SECTION = "cases"
LEAD = 1
TABLES = {"summary": regret_columns.SUMMARY, "curves": regret_columns.CURVES}
REFERENCES = ("bef-rlsvi", "bef-seed", "greedy", "random")  # always in colour
MOST, GREY = 6, "#bfbfbf"  # curves in colour, and the colour of the others


def shown(summary):
    """The row to draw of each agent that has a group, worst first: its tuned variant (the last), or its only one."""
    rows = summary[summary["group"].fillna("") != ""]
    rows = rows.drop_duplicates("agent", keep="last")
    return rows.sort_values("mean", ascending=False, kind="stable")


def coloured(rows) -> list[str]:
    """The agents in colour: the references and algorithms without a style of their own, then the best."""
    first = rows["agent"].isin(REFERENCES) | ~rows["algorithm"].isin(list(style.STYLES))
    ranked = rows.assign(later=~first).sort_values(["later", "mean"], kind="stable")
    return list(ranked["agent"].head(MOST))


def draw(tables):
    summary = tables[0]["summary"]
    return draw_curves(summary, tables[0]["curves"], shown(summary))


def draw_curves(summary, curves, rows, axis=None):
    """Draw some rows of the summary, the worst first, into a figure of its own or an axis; the axis has a zero."""
    figure, axis = style.subplots(figsize=(style.WIDTH, 2.6)) if axis is None else (axis.figure, axis)
    if lost := sorted(set(rows["variant"].astype(str)) - set(curves["variant"])):
        raise InputError(f"the curves have no variant '{lost[0]}' of the summary: delete both tables and run again")
    curves = curves[curves["variant"].isin(rows["variant"])]
    chosen, names, ends = coloured(rows), style.names(summary), {}
    episodes = summary["episodes"].max()
    for row in rows.itertuples():
        curve = curves[curves["variant"] == row.variant]
        if row.agent not in chosen:
            axis.plot(curve["episode"], curve["mean"], color=GREY, linewidth=0.6, label=names[row.agent], zorder=1)
            continue
        options = {"markersize": 2.5, "markevery": 0.25, "linewidth": 1.1, "zorder": 3}
        options |= {"linestyle": style.LINES[row.role]} | style.options(row.agent, row.algorithm)
        axis.plot(curve["episode"], curve["mean"], label=names[row.agent], **options)
        band = {"color": options["color"], "alpha": 0.18, "linewidth": 0}
        axis.fill_between(curve["episode"], curve["low"], curve["high"], **band)
        ends[names[row.agent]] = (curve["mean"].iloc[-1], options["color"])
    axis.set(xscale="log", xlabel="episode k", ylabel="cumulative regret", xlim=(1, episodes))
    style.with_zero(axis, "y", curves["mean"])
    top = curves[["mean", "high"]].max().max()  # a single seed has no interval
    axis.set_ylim(0, 1.3 * max(top, 1.0))
    style.label_ends(axis, ends)
    return figure


def describe(tables):
    summary = tables[0]["summary"]
    rows = shown(summary)
    others = [agent for agent in rows["agent"][::-1] if agent not in coloured(rows)]
    best = rows.iloc[-1]
    values = {"others": f" Grey, the best first: {', '.join(others)}." if others else "", "best": best["agent"]}
    return style.case(summary) | values | {"lines": style.line_styles(rows["role"])}
