"""Cumulative regret against the episode of every tuned agent."""

from befrl.analysis import regret_columns
from befrl.analysis.statistics import NO_REGRET
from befrl.figures.support import style

SCOPE = "case"
FAMILY = "tuned"
TABLES = {"summary": regret_columns.SUMMARY, "curves": regret_columns.CURVES}
# Agents that are drawn in every panel for comparison.
REFERENCES = ("bef-rlsvi", "greedy", "random")
# Curves of a panel, references included.
MOST = 6


def shown(summary, family):
    """The rows to draw, worst first: of each agent the tuned variant, or its own if it has none or by the theory."""
    tuned = set(summary["agent"][summary["role"] == "tuned"]) if family == "tuned" else set()
    own = (summary["variant"] == summary["agent"]) & ~summary["agent"].isin(tuned)
    best = (summary["role"] == "tuned") & summary["agent"].isin(tuned)
    rows = summary[(own | best) & (summary["algorithm"] != "oracle")]
    return rows.sort_values("mean", ascending=False, kind="stable")


def panels(rows):
    """The rows of each panel by its title: the algorithms of a group, at most MOST with the references."""
    references = rows[rows["agent"].isin(REFERENCES)]
    others = rows[~rows["agent"].isin(REFERENCES)]
    found = {}
    for title in (*style.GROUPS, "others"):
        part = others[others["algorithm"].map(style.group) == title]
        # Members in the order of their groups, so that the panels of all cases look alike.
        part = part.sort_values("agent", key=lambda names: names.map(_place), kind="stable")
        count = -(-len(part) // (MOST - len(references)))
        for i in range(count):
            members = part.index[i * len(part) // count : (i + 1) * len(part) // count]
            number = f" ({i + 1})" if count > 1 else ""
            found[title + number] = rows[rows.index.isin([*references.index, *members])]
    return found or {"baselines": rows}


def _place(agent):
    """The agent's place among the looks; variants come last."""
    known = list(style.LOOKS)
    return next((i for i, name in enumerate(known) if agent == name), len(known))


def lowest(rows, curves):
    """The lower end of the axis: a fiftieth of the smallest positive regret, or below all curves if that is higher."""
    means = rows["mean"][rows["mean"] > NO_REGRET]
    first = curves[curves["variant"].isin(rows["variant"]) & (curves["mean"] > NO_REGRET)]["mean"]
    return max(means.min() / 50, 0.7 * first.min()) if len(means) else 0.1


def draw(tables, family=FAMILY):
    summary, curves = tables[0]["summary"], tables[0]["curves"]
    rows = shown(summary, family)
    by_title = panels(rows)
    figure = draw_panels(summary, curves, rows, by_title)
    words = "tuned" if family == "tuned" else "constants of their theory"
    # A single panel is too narrow for one line.
    between = ", " if len(by_title) > 1 else "\n"
    heading = f"{style.heading(summary.iloc[0])}{between}{words}; shaded: interval of the mean"
    figure.suptitle(heading, fontsize=8.5)
    return figure


def draw_panels(summary, curves, rows, by_title):
    """Draw some rows of the summary in panels {title: rows}."""
    figure, axes = style.panels(len(by_title), height=2.75, most=3)
    bottom, names = lowest(rows, curves), style.names(summary)
    top = max(rows["high"].max() * 1.6, 10 * bottom)
    for axis, (title, part) in zip(axes, by_title.items(), strict=False):
        for row in part.itertuples():
            label = names[row.agent] + (" (zero)" if row.mean <= NO_REGRET else "")
            _curve(axis, row, label, curves[curves["variant"] == row.variant], bottom)
        axis.set(xscale="log", yscale="log", xlabel="episode k", ylabel="cumulative regret", title=title)
        axis.set_xlim(1, summary["episodes"].max())
        axis.set_ylim(0.9 * bottom, top)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2, handlelength=1.8, columnspacing=1.0)
    return figure


def _curve(axis, row, label, curve, bottom):
    """A curve with its band; a regret below the axis is drawn on its edge."""
    # The paper's algorithm is never hidden by a rival with the same regret.
    layer = 3 if row.agent == "bef-rlsvi" else 2
    look = style.look(row.agent, row.algorithm) | {"linestyle": style.LINES[row.role], "zorder": layer}
    mean, low, high = (curve[name].clip(lower=bottom) for name in ("mean", "low", "high"))
    axis.plot(curve["episode"], mean, label=label, markevery=0.2, clip_on=False, **{"markersize": 3} | look)
    axis.fill_between(curve["episode"], low, high, color=look["color"], alpha=0.18, linewidth=0)


def describe(tables, family=FAMILY):
    summary = tables[0]["summary"]
    rows = shown(summary, family)
    first = summary.iloc[0]
    words = {
        "tuned": "each agent tuned over its multiplier and its penalty or prior, on other seeds",
        "theory": "each agent at the constants of its theory",
    }
    zero = rows["agent"][rows["mean"] <= NO_REGRET]
    along = f" Along the lower edge: {', '.join(zero)}, with zero regret." if len(zero) else ""
    return {
        "title": f"Cumulative regret on {first['instance']}, {style.track(first['track'])}, "
        f"{'tuned' if family == 'tuned' else 'constants of the theory'}",
        "caption": (
            f"Exact pseudo-regret summed over {first['episodes']} episodes, mean over {first['seeds']} seeds, track "
            f"{first['track']} ({style.track(first['track'])}), {words[family]}; shaded: interval of the mean. "
            f"{style.line_styles(rows['role'])} BEF-RLSVI, greedy and random are drawn in every panel."
            f"{along}{style.explained(summary)}"
        ),
        "seeds": int(first["seeds"]),
    }
