"""The order of the agents of a case, each compared with the next best one on the same seeds."""

from befrl.analysis import regret_columns
from befrl.figures.support import style

SCOPE = "case"
TABLES = {"summary": regret_columns.SUMMARY, "order": regret_columns.ORDER}


def draw(tables):
    summary, order = tables[0]["summary"], tables[0]["order"]
    rows = summary.set_index("variant", drop=False).loc[order["variant"]]
    names = style.names(summary)
    height = 0.8 + 0.19 * max(len(rows), 3)
    figure, (left, right) = style.subplots(1, 2, figsize=(2 * style.WIDTH / 1.25, height), sharey=True)
    for line, (row, gap) in enumerate(zip(rows.itertuples(), order.itertuples(), strict=True)):
        look = style.look(row.agent, row.algorithm)
        face = look.pop("markerfacecolor", look["color"])
        look |= {"marker": "o", "markersize": 4, "markerfacecolor": face}
        left.plot([row.q10, row.q90], [line, line], color=look["color"], linewidth=0.7, alpha=0.6)
        left.plot([row.low, row.high], [line, line], color=look["color"], linewidth=2)
        left.plot(row.mean, line, linestyle="none", **look)
        if line:
            right.plot([gap.gap_low, gap.gap_high], [line, line], color=look["color"], linewidth=2)
            right.plot(gap.gap, line, linestyle="none", **look)
    left.set_yticks(range(len(rows)), [_label(names[row.agent], row) for row in rows.itertuples()])
    left.invert_yaxis()
    left.set(xscale="log", xlabel="regret after K episodes")
    # Quantiles may be zero, which a logarithmic axis does not have.
    left.set_xlim(left=rows["mean"].min() / 3 if len(rows) else None)
    left.xaxis.set_minor_formatter("")
    right.axvline(0.0, color="black", linestyle=":", linewidth=0.9)
    right.set(xlabel="relative gap to\nthe next best agent")
    # From -1 to 1, and further where an interval is longer.
    right.set_xlim(min(-1.05, 1.05 * order["gap_low"].min()), max(1.05, 1.05 * order["gap_high"].max()))
    right.tick_params(axis="y", length=0)
    figure.suptitle(style.heading(summary.iloc[0]), fontsize=8.5)
    return figure


def _label(name, row):
    """The agent with its constants, and whether these are at the edge of its grid."""
    constants = {"tuned": f", {row.parameter} = {row.value:g}", "theory": ", theory", "surrogate": ", surrogate"}
    return f"{name}{constants.get(row.role, '')}{' (edge)' if row.at_edge else ''}"


def describe(tables):
    summary, order = tables[0]["summary"], tables[0]["order"]
    first, rows = summary.iloc[0], summary[summary["variant"].isin(order["variant"])]
    edge = " (edge): the best point is the first or last of its grid." if rows["at_edge"].any() else ""
    return {
        "title": f"The order of the agents on {first['instance']}, {style.track(first['track'])}",
        "caption": (
            f"Left: mean regret after {first['episodes']} episodes over {first['seeds']} seeds, each agent tuned on "
            f"other seeds if it has a grid; thick: bootstrap interval of the mean, thin: 10 to 90 % of the seeds. "
            f"Right: relative gap to the next best agent, that is the mean paired difference of regret divided by the "
            f"agent's own mean regret, with its bootstrap interval; where the interval contains zero the order of "
            f"the two agents is not settled.{style.explained(summary)}{edge}{style.without_regret(summary)}"
        ),
        "seeds": int(first["seeds"]),
    }
