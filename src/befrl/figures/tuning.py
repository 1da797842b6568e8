"""How much tuning each agent needs: regret of all configurations tried, and of the chosen one on evaluation seeds."""

from befrl.analysis import regret_columns
from befrl.figures.support import style

SCOPE = "case"
TABLES = {"summary": regret_columns.SUMMARY, "tuning": regret_columns.TUNING}
LEGEND = {
    "chosen": {"marker": "o"},
    "median": {"marker": "|", "markersize": 8},
    "own constants": {"marker": "x"},
    "tried": {"marker": ".", "alpha": 0.5},
}


def draw(tables):
    summary, tuning = tables[0]["summary"], tables[0]["tuning"]
    best = summary[summary["role"] == "tuned"].sort_values("mean", kind="stable")
    figure, axis = style.subplots(figsize=(1.35 * style.WIDTH, 1.0 + 0.2 * max(len(best), 3)))
    floor = style.floor(summary["mean"])
    names = style.names(summary)
    for line, row in enumerate(best.itertuples()):
        colour = style.colour(row.agent, row.algorithm)
        mine = tuning[tuning["agent"] == row.agent].assign(
            first_mean=lambda table: table["first_mean"].clip(lower=floor)
        )
        tried, median = mine["first_mean"], mine[mine["chosen"] == "median"]["first_mean"]
        axis.plot(tried, [line] * len(tried), linestyle="none", marker=".", markersize=3, color=colour, alpha=0.35)
        axis.plot(median, [line] * len(median), linestyle="none", marker="|", markersize=8, color=colour, zorder=3)
        low, high, mean = (max(value, floor) for value in (row.low, row.high, row.mean))
        axis.plot([low, high], [line, line], color=colour, linewidth=1.4)
        axis.plot(mean, line, marker="o", markersize=4, color=colour, linestyle="none", zorder=3)
        own = summary[summary["variant"] == row.agent].iloc[0]
        axis.plot(max(own["mean"], floor), line, linestyle="none", marker="x", markersize=4, color="black", zorder=4)
    for name in ("greedy", "random"):
        at = summary[summary["variant"] == name]["mean"]
        if len(at) and at.iloc[0] > floor:
            axis.axvline(at.iloc[0], color=style.colour(name), linestyle=style.LINES["baseline"], linewidth=0.9)
    axis.set_yticks(range(len(best)), [names[agent] for agent in best["agent"]])
    axis.set(xscale="log", xlabel="regret after K episodes", ylim=(max(len(best), 1) - 0.5, -0.5))
    axis.xaxis.set_minor_formatter("")
    axis.grid(axis="y", linewidth=0.3)
    for label, options in LEGEND.items():
        axis.plot([], [], color="black", linestyle="none", label=label, **{"markersize": 4} | options)
    style.legend(figure, [axis], 5, handletextpad=0.1, columnspacing=1.0)
    return figure


def describe(tables):
    tuning = tables[0]["tuning"]
    if tuning.empty:
        return style.case(tables[0]["summary"]) | {"empty": True}
    values = {"configurations": int(tuning["configuration"].max()), "first_rung": int(tuning["seeds"].min())}
    return style.case(tables[0]["summary"]) | values
