"""Cumulative regret against the episode of every tuned agent."""

from befrl.analysis import regret_columns
from befrl.analysis.statistics import NO_REGRET
from befrl.figures.support import style

SCOPE = "case"
HEADLINE = True
TABLES = {"summary": regret_columns.SUMMARY, "curves": regret_columns.CURVES}
REFERENCES = ("bef-rlsvi", "greedy", "random")  # drawn in every panel
MOST = 6  # curves in a panel, references included


def shown(summary, family):
    """The row to draw of each agent that has a group, worst first: its tuned variant (the last), or its first."""
    rows = summary[summary["group"].fillna("") != ""]
    rows = rows.drop_duplicates("agent", keep="last" if family == "tuned" else "first")
    return rows.sort_values("mean", ascending=False, kind="stable")


def panels(rows):
    """The rows of each panel by its title: the algorithms of a group, at most MOST with the references."""
    references = rows["agent"].isin(REFERENCES)
    titles = {algorithm: title for title, members in style.GROUPS.items() for algorithm in members}
    titles = rows["algorithm"].map(titles).fillna("others")
    # The order of STYLES, variants last, makes the panels of all cases look alike.
    places = {agent: place for place, agent in enumerate(style.STYLES)}
    places = rows["agent"].map(places).fillna(len(places)).sort_values(kind="stable")
    found = {}
    for title in (*style.GROUPS, "others"):
        members = places[~references & (titles == title)].index
        count = -(-len(members) // (MOST - references.sum()))
        for i in range(count):
            part = members[i * len(members) // count : (i + 1) * len(members) // count]
            found[f"{title} ({i + 1})" if count > 1 else title] = rows[references | rows.index.isin(part)]
    return found or {"baselines": rows}


def draw(tables, family="tuned"):
    rows = shown(tables[0]["summary"], family)
    return draw_panels(tables[0]["summary"], tables[0]["curves"], rows, panels(rows))


def draw_panels(summary, curves, rows, by_title):
    """Draw some rows of the summary in panels {title: rows}; the axis shows all of their means that are positive."""
    figure, axes = style.panels(len(by_title), height=2.75, most=3)
    curves = curves[curves["variant"].isin(rows["variant"])]
    names, floor = style.names(summary), style.floor(curves["mean"])
    for axis, (title, part) in zip(axes, by_title.items(), strict=False):
        for row in part.itertuples():
            curve = curves[curves["variant"] == row.variant]
            options = {"markersize": 3, "markevery": 0.2, "zorder": 3 if row.agent == "bef-rlsvi" else 2}
            options |= {"linestyle": style.LINES[row.role]} | style.options(row.agent, row.algorithm)
            label = names[row.agent] + (" (zero)" if row.mean <= NO_REGRET else "")
            axis.plot(curve["episode"], curve["mean"].clip(lower=floor), label=label, clip_on=False, **options)
            band = {"color": options["color"], "alpha": 0.18, "linewidth": 0}
            axis.fill_between(curve["episode"], curve["low"].clip(lower=0.9 * floor), curve["high"], **band)
        axis.set(xscale="log", yscale="log", xlabel="episode k", ylabel="cumulative regret", title=title)
        top = max(curves[["mean", "high"]].max().max(), 10 * floor)  # a single seed has no interval
        axis.set(xlim=(1, summary["episodes"].max()), ylim=(0.9 * floor, 1.6 * top))
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2, handlelength=1.8, columnspacing=1.0)
    return figure


def _edge(rows, curves):
    """The sentences on curves at or below the lower edge of the axis."""
    zero = rows["agent"][rows["mean"] <= NO_REGRET]
    drawn = curves.merge(rows[["variant", "agent"]][rows["mean"] > NO_REGRET], on="variant")
    late = dict.fromkeys(drawn["agent"][drawn["mean"] <= NO_REGRET])
    along = f" Along the lower edge: {', '.join(zero)}, with zero regret." if len(zero) else ""
    first = f" At the lower edge in the first episodes: {', '.join(late)}, with zero regret until then." if late else ""
    below = (drawn["low"] < 0.9 * style.floor(drawn["mean"])) & (drawn["mean"] > NO_REGRET)
    return along + first + (" Shading that touches the lower edge extends below it." if below.any() else "")


def describe(tables, family="tuned"):
    summary, curves = tables[0]["summary"], tables[0]["curves"]
    rows = shown(summary, family)
    values = {"between": ", " if len(panels(rows)) > 1 else "\n", "edge": _edge(rows, curves)}  # one panel is narrow
    return style.case(summary) | values | {"lines": style.line_styles(rows["role"])}
