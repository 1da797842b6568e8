"""The order of the tuned agents of a case, and which of them do not differ significantly."""

from befrl.analysis import regret_columns
from befrl.figures.support import style

SCOPE = "case"
HEADLINE = True
TABLES = {"summary": regret_columns.SUMMARY, "order": regret_columns.ORDER}


def draw(tables):
    summary, order = tables[0]["summary"], tables[0]["order"]
    order = order[order["family"] == "tuned"]
    rows = summary.set_index("variant", drop=False).loc[order["variant"]]
    names = style.names(summary)
    size = (2 * style.WIDTH, 0.9 + 0.19 * max(len(rows), 3))
    figure, (left, letters, right) = style.subplots(1, 3, figsize=size, sharey=True, width_ratios=(3.2, 1.1, 2))
    floor = style.floor(rows["mean"])
    for line, (row, gap) in enumerate(zip(rows.itertuples(), order.itertuples(), strict=True)):
        options = style.options(row.agent, row.algorithm)
        options |= {"marker": "o", "markersize": 4, "markerfacecolor": options.get("markerfacecolor", options["color"])}
        q10, q90, low, high, mean = (max(value, floor) for value in (row.q10, row.q90, row.low, row.high, row.mean))
        left.plot([q10, q90], [line, line], color=options["color"], linewidth=0.7, alpha=0.6)
        left.plot([low, high], [line, line], color=options["color"], linewidth=2)
        left.plot(
            mean, line, linestyle="none", clip_on=False, **options | ({"marker": "<"} if row.mean < floor else {})
        )
        failed_seeds(left, line, row.failed)
        letters.text(0.0, line, gap.group, fontsize=6.5, va="center")
        if line:
            right.plot([gap.gap_low, gap.gap_high], [line, line], color=options["color"], linewidth=2)
            right.plot(gap.gap, line, linestyle="none", **options)
    # Asterisk: the tuning range is too narrow; circle: the policy never changes.
    marks = ["*" * row.edge_matters + " °" * (row.changed == 0) for row in rows.itertuples()]
    left.set_yticks(range(len(rows)), [names[agent] + mark for agent, mark in zip(rows["agent"], marks, strict=True)])
    left.invert_yaxis()
    left.set(xscale="log", xlabel="regret after K episodes\n(right: failed seeds)")
    left.set_xlim(floor, max(rows["q90"].max(), rows["high"].max(), 10 * floor) * 4)
    left.xaxis.set_minor_formatter("")
    letters.set(xlim=(0, 1), xticks=[], xlabel="shared letter:\nnot told apart")
    letters.spines[:].set_visible(False)
    right.axvline(0.0, color="black", linestyle=":", linewidth=0.9)
    right.set(xlabel="relative gap to\nthe next best agent")
    right.set_xlim(min(-1.05, 1.05 * order["gap_low"].min()), max(1.05, 1.05 * order["gap_high"].max()))
    for axis in (letters, right):
        axis.tick_params(axis="y", length=0)
    return figure


def failed_seeds(axis, line, share):
    """Write the share of failed seeds at the right end of a line."""
    text = f"{share:.1%}" if share > 0 else ""
    place = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "center"}
    axis.annotate(text, (1.0, line), fontsize=5, color="0.3", **place)


def describe(tables):
    summary, order = tables[0]["summary"], tables[0]["order"]
    rows = summary[summary["variant"].isin(order["variant"][order["family"] == "tuned"])]
    starred = rows["edge_matters"].any()
    edge = " *: the best setting is at the edge of its range and better than all inside." if starred else ""
    constant = " °: its policy never changes, so it learns nothing." if (rows["changed"] == 0).any() else ""
    return style.case(summary) | {"edge": edge, "constant": constant}
