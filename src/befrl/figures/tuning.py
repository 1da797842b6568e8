"""How much tuning each agent needs: regret of all configurations tried, and of the chosen one on evaluation seeds."""

from befrl.analysis import regret_columns
from befrl.analysis.statistics import NO_REGRET
from befrl.figures.support import style

SCOPE = "case"
SECTION = "cases"
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
    figure, axis = style.subplots(figsize=(style.WIDTH, 0.85 + 0.125 * max(len(best), 3)))
    names = style.names(summary)
    for line, row in enumerate(best.itertuples()):
        colour = style.colour(row.agent, row.algorithm)
        mine = tuning[tuning["agent"] == row.agent]
        tried, median = mine["first_mean"], mine[mine["chosen"] == "median"]["first_mean"]
        axis.plot(tried, [line] * len(tried), linestyle="none", marker=".", markersize=3, color=colour, alpha=0.35)
        axis.plot(median, [line] * len(median), linestyle="none", marker="|", markersize=8, color=colour, zorder=3)
        axis.plot([row.low, row.high], [line, line], color=colour, linewidth=1.4)
        axis.plot(row.mean, line, marker="o", markersize=4, color=colour, linestyle="none", zorder=3)
        own = summary[summary["variant"] == row.agent].iloc[0]
        axis.plot(own["mean"], line, linestyle="none", marker="x", markersize=4, color="black", zorder=4)
    for name in ("greedy", "random"):
        at = summary[summary["variant"] == name]["mean"]
        if len(at):
            axis.axvline(at.iloc[0], color=style.colour(name), linestyle=style.LINES["baseline"], linewidth=0.9)
    axis.set_yticks(range(len(best)), [names[agent] for agent in best["agent"]])
    axis.set(xlabel="regret after K episodes", ylim=(max(len(best), 1) - 0.5, -0.5))
    style.with_zero(axis, "x", summary["mean"])
    axis.set_xlim(0, None)
    axis.grid(axis="y", linewidth=0.3)
    for label, options in LEGEND.items():
        axis.plot([], [], color="black", linestyle="none", label=label, **{"markersize": 4} | options)
    style.legend(figure, [axis], 5, **style.TIGHT)
    return figure


def describe(tables):
    tuning = tables[0]["tuning"]
    if tuning.empty:
        return style.case(tables[0]["summary"]) | {"empty": True}
    means = tuning.groupby("agent", sort=False)["first_mean"]
    ratios = means.max() / means.min().clip(lower=NO_REGRET)
    values = {"most": ratios.idxmax(), "ratio": ratios.max()}
    values |= {"configurations": int(tuning["configuration"].max()), "first_rung": int(tuning["seeds"].min())}
    return style.case(tables[0]["summary"]) | values
