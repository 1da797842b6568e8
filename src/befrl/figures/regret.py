"""Cumulative regret against episodes: every agent at its theory's constants and at its tuned ones."""

from befrl.figures import style

SCOPE = "case"
# More agents than these in a panel cannot be told apart: their group is split into its algorithms.
CROWD = 8


def shown(tables):
    """Rows to draw: not the grid, and not the oracle, whose zero has no place on a logarithmic axis."""
    summary = tables[0]["summary"]
    return summary[(summary["role"] != "grid") & (summary["mean"] > 1e-6)].sort_values("mean", ascending=False)


def panels(drawn):
    """{title: rows}: a panel for each group of algorithms, the baselines in all of them."""
    baselines = drawn["algorithm"].isin(style.BASELINES)
    found = {}
    for title in (*style.GROUPS, "others"):
        rows = drawn[~baselines & (drawn["algorithm"].map(style.group) == title)]
        if rows["agent"].nunique() > CROWD:
            found |= {algorithm: part for algorithm, part in rows.groupby("algorithm", sort=False)}
        elif len(rows):
            found[title] = rows
    found = {title: drawn[baselines | drawn.index.isin(rows.index)] for title, rows in found.items()}
    return found or {"baselines": drawn}


def lowest(drawn, curves):
    """Where the axis begins: at the curves' first points, but not far below where the best of them ends."""
    if not len(drawn):
        return 1.0
    means = curves[curves["variant"].isin(drawn["variant"])]["mean"]
    return max(drawn["mean"].min() / 100, 0.7 * means[means > 0].min())


def draw(tables):
    summary, curves = tables[0]["summary"], tables[0]["curves"]
    drawn = shown(tables)
    by_title = panels(drawn)
    alone = len(by_title) == 1
    figure, axes = style.panels(len(by_title), height=3.5 if alone else 3.1)
    bottom = lowest(drawn, curves)
    tuned = set(drawn[drawn["role"] == "tuned"]["agent"])
    for axis, (title, rows) in zip(axes, by_title.items(), strict=False):
        for row in rows.itertuples():
            # An agent has one entry in the legend: that of its tuned curve if it has one.
            label = "_" if row.role != "tuned" and row.agent in tuned else style.name(row)
            _curve(axis, row, label, curves[curves["variant"] == row.variant], bottom)
        axis.set(xscale="log", yscale="log", xlabel="episode k", ylabel="cumulative regret")
        axis.set_xlim(1, summary["episodes"].max())
        axis.set_ylim(bottom, max(summary["high"].max() * 1.6, 10 * bottom))
        axis.set_title(f"{summary['instance'].iloc[0]}, {style.track(summary['track'].iloc[0])}" if alone else title)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, handlelength=2.2, columnspacing=1.2)
    if not alone:
        figure.suptitle(f"{summary['instance'].iloc[0]}, {style.track(summary['track'].iloc[0])}", fontsize=8.5)
    return figure


def _curve(axis, row, label, curve, bottom):
    curve = curve[curve["mean"] > 0]
    # Dashes go on top: where the tuned constants are the theory's both curves stay visible. The paper's algorithm is
    # never hidden by a rival that does as well.
    layer = 3 if row.role == "theory" else 2.5 if row.algorithm == "bef-rlsvi" else 2
    look = style.look(row.agent, row.algorithm) | {"linestyle": style.LINES[row.role], "zorder": layer}
    axis.plot(curve["episode"], curve["mean"], label=label, markevery=0.2, markersize=3, **look)
    # A band may reach zero where few seeds have erred yet; the axis cannot.
    low = curve["low"].clip(lower=bottom)
    axis.fill_between(curve["episode"], low, curve["high"], color=look["color"], alpha=0.18, linewidth=0)


def describe(tables):
    summary = tables[0]["summary"]
    first = summary.iloc[0]
    return {
        "title": f"Cumulative regret on {first['instance']}, {style.track(first['track'])}",
        "caption": (
            f"Exact pseudo-regret summed over episodes, mean over {first['seeds']} seeds; shaded: bootstrap interval "
            f"of the mean (whole curves resampled). Dashed: constants as in the theory. Solid: best of the grid, "
            f"chosen on other seeds. Dotted: no constants to choose. Track {first['track']}: "
            f"{style.track(first['track'])}.{style.misspecified(summary)}{style.without_regret(summary)}"
        ),
    }
