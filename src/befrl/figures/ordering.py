"""The order of the tuned agents of a case, and which of them cannot be told apart."""

from befrl.analysis import regret_columns
from befrl.analysis.statistics import NO_REGRET
from befrl.figures.support import style

SCOPE = "case"
TABLES = {"summary": regret_columns.SUMMARY, "order": regret_columns.ORDER}
# Smaller means are drawn at this share of the smallest positive one.
FLOOR = 0.3


def draw(tables):
    summary, order = tables[0]["summary"], tables[0]["order"]
    order = order[order["family"] == "tuned"]
    rows = summary.set_index("variant", drop=False).loc[order["variant"]]
    names = style.names(summary)
    height = 0.9 + 0.19 * max(len(rows), 3)
    figure, (left, letters, right) = style.subplots(
        1, 3, figsize=(2 * style.WIDTH, height), sharey=True, width_ratios=(3.2, 1.1, 2)
    )
    positive = rows["mean"][rows["mean"] > NO_REGRET]
    floor = FLOOR * positive.min() if len(positive) else 1.0
    for line, (row, gap) in enumerate(zip(rows.itertuples(), order.itertuples(), strict=True)):
        look = style.look(row.agent, row.algorithm)
        face = look.pop("markerfacecolor", look["color"])
        look |= {"marker": "o", "markersize": 4, "markerfacecolor": face}
        q10, q90, low, high, mean = (max(value, floor) for value in (row.q10, row.q90, row.low, row.high, row.mean))
        left.plot([q10, q90], [line, line], color=look["color"], linewidth=0.7, alpha=0.6)
        left.plot([low, high], [line, line], color=look["color"], linewidth=2)
        left.plot(mean, line, linestyle="none", clip_on=False, **look | ({"marker": "<"} if row.mean < floor else {}))
        left.annotate(
            _failed(row), (1.0, line), xycoords=("axes fraction", "data"), fontsize=5, ha="right", va="center",
            color="0.3",
        )  # fmt: skip
        letters.text(0.0, line, gap.group, fontsize=6.5, va="center")
        if line:
            right.plot([gap.gap_low, gap.gap_high], [line, line], color=look["color"], linewidth=2)
            right.plot(gap.gap, line, linestyle="none", **look)
    left.set_yticks(range(len(rows)), [names[row.agent] + _marks(row) for row in rows.itertuples()])
    left.invert_yaxis()
    left.set(xscale="log", xlabel="regret after K episodes\n(right: failed seeds)")
    left.set_xlim(floor, max(rows["q90"].max(), rows["high"].max(), 10 * floor) * 4)
    left.xaxis.set_minor_formatter("")
    letters.set(xlim=(0, 1), xticks=[], xlabel="shared letter:\nnot told apart")
    for side in letters.spines.values():
        side.set_visible(False)
    right.axvline(0.0, color="black", linestyle=":", linewidth=0.9)
    right.set(xlabel="relative gap to\nthe next best agent")
    # From -1 to 1, and further where an interval is longer.
    right.set_xlim(min(-1.05, 1.05 * order["gap_low"].min()), max(1.05, 1.05 * order["gap_high"].max()))
    for axis in (letters, right):
        axis.tick_params(axis="y", length=0)
    figure.suptitle(f"{style.heading(summary.iloc[0])}; thick: interval of the mean, thin: 10-90 %", fontsize=8.5)
    return figure


def _failed(row):
    return f"{row.failed:.1%}" if row.failed > 0 else ""


def _marks(row):
    """An asterisk for a range that is too narrow, a circle for an agent that learns nothing."""
    return ("*" if _at_edge(row) else "") + (" °" if row.changed == 0 else "")


def _at_edge(row):
    return isinstance(row.at_edge, str) and row.at_edge != "" and row.edge_matters


def describe(tables):
    summary, order = tables[0]["summary"], tables[0]["order"]
    first, rows = summary.iloc[0], summary[summary["variant"].isin(order["variant"][order["family"] == "tuned"])]
    starred = any(_at_edge(row) for row in rows.itertuples())
    edge = " *: the best setting is at the edge of its range and better than all inside." if starred else ""
    constant = " °: its policy never changes, so it learns nothing." if (rows["changed"] == 0).any() else ""
    return {
        "title": f"The order of the agents on {first['instance']}, {style.track(first['track'])}",
        "caption": (
            f"Left: mean regret after {first['episodes']} episodes over {first['seeds']} seeds, each agent tuned on "
            f"other seeds; thick: interval of the mean, thin: 10 to 90 % of the seeds, at the right the share of seeds "
            f"that failed to learn; a mean at the left edge is zero or nearly so. Letters: agents that share one "
            f"cannot be told apart by paired tests with Holm's correction. Right: relative gap to the next best agent, "
            f"that is the mean paired difference of regret divided by the agent's own mean regret, with its interval."
            f"{style.explained(summary)}{edge}{constant}"
        ),
        "seeds": int(first["seeds"]),
    }
