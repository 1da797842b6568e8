"""Cumulative regret against the episode, of every agent at its theory's constants and tuned."""

from befrl.analysis import regret_columns
from befrl.analysis.statistics import NO_REGRET
from befrl.figures.support import style

SCOPE = "case"
TABLES = {"summary": regret_columns.SUMMARY, "curves": regret_columns.CURVES}
# A group with more agents is split into one panel for each algorithm.
CROWD = 8


def shown(tables):
    """The rows to draw: neither grid points that lost nor agents without regret, such as the oracle."""
    summary = tables[0]["summary"]
    return summary[(summary["role"] != "grid") & (summary["mean"] > NO_REGRET)].sort_values("mean", ascending=False)


def panels(drawn):
    """The rows of each panel by its title: one panel for each group of algorithms, with the baselines in all."""
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
    """The lower end of the axis: the curves' first points, but at most a factor 100 below the best final regret."""
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
    names = style.names(summary)
    tuned = set(drawn[drawn["role"] == "tuned"]["agent"])
    for axis, (title, rows) in zip(axes, by_title.items(), strict=False):
        for row in rows.itertuples():
            # An agent has one entry in the legend, that of its tuned curve if there is one.
            label = "_" if row.role != "tuned" and row.agent in tuned else names[row.agent]
            _curve(axis, row, label, curves[curves["variant"] == row.variant], bottom)
        axis.set(xscale="log", yscale="log", xlabel="episode k", ylabel="cumulative regret")
        axis.set_xlim(1, summary["episodes"].max())
        axis.set_ylim(bottom, max(summary["high"].max() * 1.6, 10 * bottom))
        axis.set_title(style.heading(summary.iloc[0]) if alone else title)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, handlelength=2.2, columnspacing=1.2)
    if not alone:
        figure.suptitle(style.heading(summary.iloc[0]), fontsize=8.5)
    return figure


def _curve(axis, row, label, curve, bottom):
    curve = curve[curve["mean"] > 0]
    # Dashed curves go on top, so that both are visible where the tuned constants are the theory's. The paper's
    # algorithm is never hidden by a rival with the same regret.
    layer = 3 if row.role in ("theory", "surrogate") else 2.5 if row.algorithm == "bef-rlsvi" else 2
    look = style.look(row.agent, row.algorithm) | {"linestyle": style.LINES[row.role], "zorder": layer}
    axis.plot(curve["episode"], curve["mean"], label=label, markevery=0.2, markersize=3, **look)
    # A band may reach zero, which a logarithmic axis does not have.
    low = curve["low"].clip(lower=bottom)
    axis.fill_between(curve["episode"], low, curve["high"], color=look["color"], alpha=0.18, linewidth=0)


def describe(tables):
    summary = tables[0]["summary"]
    first = summary.iloc[0]
    return {
        "title": f"Cumulative regret on {first['instance']}, {style.track(first['track'])}",
        "caption": (
            f"Exact pseudo-regret summed over {first['episodes']} episodes, mean over {first['seeds']} seeds, track "
            f"{first['track']} ({style.track(first['track'])}); shaded: bootstrap interval of the mean, whole curves "
            f"resampled. {style.line_styles(shown(tables)['role'])} The distance from an agent's dashed to its solid "
            f"curve is the price of its theory's constants.{style.explained(summary)}{style.without_regret(summary)}"
        ),
        "seeds": int(first["seeds"]),
    }
