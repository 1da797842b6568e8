"""The order of the tuned agents of a case, and which of them do not differ significantly."""

from befrl.analysis import regret_columns
from befrl.figures.support import style

SCOPE = "case"
SECTION = "cases"
COLUMNS = {"failed": 0.0, "letters": 0.46}  # of text, and where they start
TABLES = {"summary": regret_columns.SUMMARY, "order": ("family", "agent", "variant", "group")}


def draw(tables):
    summary, order = tables[0]["summary"], tables[0]["order"]
    order = order[order["family"] == "tuned"]
    rows = summary.set_index("variant", drop=False).loc[order["variant"]]
    names = style.names(summary)
    size = (style.WIDTH, 0.85 + 0.125 * max(len(rows), 3))
    figure, (axis, letters) = style.subplots(1, 2, figsize=size, sharey=True, width_ratios=(3, 1.4))
    for line, (row, group) in enumerate(zip(rows.itertuples(), order["group"], strict=True)):
        options = style.options(row.agent, row.algorithm)
        options |= {"marker": "o", "markersize": 3, "markerfacecolor": options.get("markerfacecolor", options["color"])}
        axis.plot([row.q10, row.q90], [line, line], color=options["color"], linewidth=0.6, alpha=0.6)
        axis.plot([row.low, row.high], [line, line], color=options["color"], linewidth=1.6)
        axis.plot(row.mean, line, linestyle="none", clip_on=False, **options)
        texts = (f"{100 * row.failed:.3g} %" if row.failed > 0 else "", group)
        for place, text in zip(COLUMNS.values(), texts, strict=True):
            letters.text(place, line, text, fontsize=style.SMALL, va="center")
    # Asterisk: the tuning range is too narrow; circle: the policy never changes.
    marks = ["*" * row.edge_matters + " °" * (row.changed == 0) for row in rows.itertuples()]
    axis.set_yticks(range(len(rows)), [names[agent] + mark for agent, mark in zip(rows["agent"], marks, strict=True)])
    axis.set(xlabel="regret after K episodes", ylim=(len(rows) - 0.5, -0.5))
    style.with_zero(axis, "x", rows["mean"])
    axis.set_xlim(0, 1.3 * max(rows["q90"].max(), rows["high"].max(), 1.0))
    axis.grid(axis="y", linewidth=0.3)
    letters.set_xticks(list(COLUMNS.values()), list(COLUMNS), ha="left")
    letters.set_xlim(0, 1)
    letters.spines[:].set_visible(False)
    letters.tick_params(length=0, labeltop=True, labelbottom=False)
    return figure


def describe(tables):
    summary, order = tables[0]["summary"], tables[0]["order"]
    order = order[order["family"] == "tuned"]
    rows = summary[summary["variant"].isin(order["variant"])]
    starred = rows["edge_matters"].any()
    edge = " *: the best setting is at the edge of its range and better than all inside." if starred else ""
    constant = " °: its policy never changes, so it learns nothing." if (rows["changed"] == 0).any() else ""
    alike = order["group"].map(lambda letters: bool(set(letters) & set(order["group"].iloc[0])))
    values = {"best": order["agent"].iloc[0], "alike": int(alike.sum()) - 1, "agents": len(order)}
    return style.case(summary) | values | {"edge": edge, "constant": constant}
