"""The order of the agents of a case, each compared with the next better one on the same seeds."""

from befrl.figures import style

SCOPE = "case"


def ordered(summary):
    """One row for each agent, tuned where it has a grid, best first; regret of zero leaves nothing to compare."""
    rows = summary[summary["role"] != "grid"]
    tuned = set(rows[rows["role"] == "tuned"]["agent"])
    rows = rows[(rows["role"] == "tuned") | ~rows["agent"].isin(tuned)]
    return rows[rows["mean"] > 1e-6].sort_values("mean", kind="stable")


def difference(paired, worse, better):
    """Mean, low and high of the regret of `worse` less that of `better`, from the table of pairs."""
    found = paired[(paired["first"] == worse) & (paired["second"] == better)]
    if len(found):
        return tuple(found[["difference", "low", "high"]].iloc[0])
    mean, low, high = paired[(paired["first"] == better) & (paired["second"] == worse)][
        ["difference", "low", "high"]
    ].iloc[0]
    return -mean, -high, -low


def draw(tables):
    rows, paired = ordered(tables[0]["summary"]), tables[0]["paired"]
    height = 0.8 + 0.19 * max(len(rows), 3)
    figure, (left, right) = style.subplots(1, 2, figsize=(2 * style.WIDTH / 1.25, height), sharey=True)
    previous = None
    for line, row in enumerate(rows.itertuples()):
        look = style.look(row.agent, row.algorithm)
        face = look.pop("markerfacecolor", look["color"])
        look |= {"marker": "o", "markersize": 4, "markerfacecolor": face}
        left.plot([row.q10, row.q90], [line, line], color=look["color"], linewidth=0.7, alpha=0.6)
        left.plot([row.low, row.high], [line, line], color=look["color"], linewidth=2)
        left.plot(row.mean, line, linestyle="none", **look)
        if previous is not None:
            mean, low, high = (value / row.mean for value in difference(paired, row.variant, previous))
            right.plot([low, high], [line, line], color=look["color"], linewidth=2)
            right.plot(mean, line, linestyle="none", **look)
        previous = row.variant
    left.set_yticks(range(len(rows)), [_label(row) for row in rows.itertuples()])
    left.invert_yaxis()
    left.set(xscale="log", xlabel="regret after K episodes")
    # Quantiles may be zero.
    left.set_xlim(left=rows["mean"].min() / 3 if len(rows) else None)
    left.xaxis.set_minor_formatter("")
    right.axvline(0.0, color="black", linestyle=":", linewidth=0.9)
    right.set(xlabel="less that of the one above,\nas a share", xlim=(-1.05, 1.05))
    right.tick_params(axis="y", length=0)
    summary = tables[0]["summary"]
    figure.suptitle(f"{summary['instance'].iloc[0]}, {style.track(summary['track'].iloc[0])}", fontsize=8.5)
    return figure


def _label(row):
    """The agent with its setting, and whether that is the end of its grid."""
    return f"{style.variant(row)}{' (edge)' if row.at_edge else ''}"


def describe(tables):
    summary = tables[0]["summary"]
    first, rows = summary.iloc[0], ordered(summary)
    edge = " (edge): the best point is the first or last of its grid." if rows["at_edge"].any() else ""
    return {
        "title": f"The order of the agents on {first['instance']}, {style.track(first['track'])}",
        "caption": (
            f"Left: mean regret after {first['episodes']} episodes over {first['seeds']} seeds, each agent tuned on "
            f"other seeds if it has a grid; thick: bootstrap interval of the mean, thin: 10 to 90 % of the seeds. "
            f"Right: regret less that of the agent one place better, paired by seed, as a share of the agent's own; "
            f"where the interval meets zero the two places are not settled."
            f"{style.misspecified(rows)}{edge}{style.without_regret(summary)}"
        ),
    }
