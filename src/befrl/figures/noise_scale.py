"""Regret of BEF-RLSVI against its noise scale x, and the seeds that never try the best action of a trap.

x is drawn as a multiple of Theorem 1's x_k, regret as a multiple of that of random play.
"""

import numpy as np
import pandas as pd

from befrl.analysis import regret_columns
from befrl.figures.support import style

SCOPE = "study"
SECTION = "answer"
LEAD = 1
TABLES = {"summary": regret_columns.SUMMARY}
TRAP = ("instance", "agent", "setting", "ties", "seeds", "episodes", "x", "eta", "never", "low", "high")
BESIDE = ("component", "traps", {"never": TRAP})
SHADES = (("#00305A", "o"), (style.BLUE, "s"), ("#7AB8E8", "^"))  # of BEF-RLSVI's colour, for instances
LINES = {"U": "solid", "K": (0, (3, 1.2))}
RULES = ("greedy", "exp-ucrl")
DOTS = ((0, (1, 1)), (0, (1, 1, 4, 1)), (0, (1, 1, 1, 1, 4, 1)))  # of a rule with several shares
FAILS = 0.5  # an agent fails if the interval of its share of failed seeds is above this, and learns if it is below


def sweeps(tables) -> list[tuple]:
    """The summary of each case with random play, and the sweep over x of its first BEF-RLSVI agent.

    Only the first instances have a shade: more curves could not be read.
    """
    found = []
    for summary in (table["summary"] for table in tables if "summary" in table):
        rows = summary[(summary["algorithm"] == "bef-rlsvi") & (summary["parameter"] == "x")]
        rows = rows[rows["agent"].isin(rows["agent"].head(1))].sort_values("value")
        grid, theory = rows[rows["role"] == "sweep"], rows[rows["role"] == "theory"]
        if len(grid) and len(theory) and "random" in set(summary["variant"]):
            points = pd.concat([grid, theory]).sort_values("value")
            found.append((summary, points.assign(x=points["value"] / theory["value"].iloc[0])))
    return [each for each in found if each[0]["instance"].iloc[0] in instances(found)[: len(SHADES)]]


def instances(shown) -> list[str]:
    """The instances of some sweeps, in their order."""
    return list(dict.fromkeys(summary["instance"].iloc[0] for summary, _ in shown))


def trap(table):
    """The sweep over x of a trap at the penalty of Theorem 1's run, with x as a multiple of the theorem's."""
    rows = table[(table["agent"] == "bef-rlsvi") & (table["ties"] == "random")]
    theory = rows[rows["setting"] == "scale=1"].iloc[0]
    swept = rows[rows["setting"].str.contains(r"\bx=") & (rows["eta"] == theory["eta"])].sort_values("x")
    return swept.assign(x=swept["x"] / theory["x"])


def draw(tables):
    figure, (left, right) = style.subplots(1, 2, figsize=(style.WIDTH, 2.5))
    shown, traps = sweeps(tables), _traps(tables)
    curves(left, shown, lambda points, random: points[["mean", "low", "high"]] / random)
    reference(left, 1.0, "random play", style.colour("random"), at=0.0)
    left.set(yscale="log", ylabel="regret / regret of random play")
    left.yaxis.set_major_formatter("{x:g}")
    for place, table in enumerate(traps):
        swept, label = trap(table), table["instance"].iloc[0]
        curve(right, swept["x"], swept[["never", "low", "high"]], **_shade(place), label=label)
    for agent, shares in _rules(traps).items():
        for dots, (share, names) in zip(DOTS, shares.items(), strict=False):
            words = agent if len(names) == len(traps) else f"{agent} on {', '.join(names)}"
            right.axhline(share, color=style.colour(agent), linewidth=0.9, linestyle=dots, label=words, zorder=1)
    right.set(ylim=(-0.04, 1.09), ylabel="never try the best action")
    right.yaxis.set_major_formatter("{x:.0%}")
    for axis, title, sized in ((left, learned(shown), [each for each, _ in shown]), (right, missed(traps), traps)):
        scale(axis, sized)
        axis.set_title(title, loc="left", x=-0.3, fontsize=6)
    for axis, side in ((left, "left"), (right, "right")):
        figure.legend(*axis.get_legend_handles_labels(), loc=f"outside lower {side}", ncols=2, **style.TIGHT)
    return figure


def _traps(tables):
    return [table["never"] for table in tables if "never" in table]


def curves(axis, shown, values):
    """A curve for each sweep: a shade for each instance; dashed: reward known."""
    names = instances(shown)
    for summary, points in shown:
        instance, track = summary.iloc[0][["instance", "track"]]
        random = summary[summary["variant"] == "random"]["mean"].iloc[0]
        options = {"linestyle": LINES[track], "label": f"{instance}, {track}"}
        curve(axis, points["x"], values(points, random), **_shade(names.index(instance)), **options)


def _shade(place):
    colour, marker = SHADES[place % len(SHADES)]
    return {"color": colour, "marker": marker}


def curve(axis, x, values, **options):
    """A line with the intervals of its points; `values` are middle, lower and upper ends."""
    middle, low, high = values.to_numpy().T
    axis.errorbar(x, middle, np.abs([low - middle, high - middle]), markersize=2.2, linewidth=0.9, zorder=3, **options)


def reference(axis, level, words, colour, at):
    """A horizontal line with its name, which starts at a share of the width."""
    axis.axhline(level, color=colour, linewidth=0.9, linestyle=style.LINES["baseline"], zorder=1)
    place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "xytext": (2, 1.5)}
    axis.annotate(words, (at, level), color=colour, fontsize=style.LEAST, zorder=4, **place)


def scale(axis, sized, height=0.05):
    """The axis of x, with a line at Theorem 1's, named from a height on, and the sizes of the tables."""
    axis.axvline(1.0, color="black", linewidth=0.7, zorder=1)
    place = {"xycoords": ("data", "axes fraction"), "rotation": 90, "ha": "right", "va": "bottom"}
    axis.annotate("Theorem 1", (1.0, height), fontsize=style.LEAST, **place)
    episodes, seeds = (style.span(sized, name) for name in ("episodes", "seeds"))
    axis.set(xscale="log", xlabel=f"noise x / Theorem 1's x\nK = {episodes}, {seeds} seeds\nbars: intervals")


def learned(shown) -> str:
    """In how many cases BEF-RLSVI fails with Theorem 1's noise, and in how many it learns with less."""
    fails = sum(bool((points[points["role"] == "theory"]["failed_low"] > FAILS).all()) for _, points in shown)
    less = sum(bool((points[points["x"] < 1]["failed_high"] < FAILS).any()) for _, points in shown)
    return f"Theorem 1's noise fails in {fails} of {len(shown)}\ncases, less noise learns in {less}"


def missed(traps) -> str:
    """The range of the shares of seeds that never try the best action, over all traps and noise scales."""
    shares = np.concatenate([trap(table)["never"] for table in traps] or [[0.0]])
    least, most = (f"{100 * share:.0f}" for share in (shares.min(), shares.max()))
    return f"{least} to {most} % of seeds miss a trap's\nbest action{penalty(traps)}, at any noise"


def penalty(traps) -> str:
    """The penalties of the sweeps over the noise of traps, as the end of a phrase."""
    values = sorted({value for table in traps for value in trap(table)["eta"]})
    return f" at η = {', '.join(f'{value:g}' for value in values)}" if values else ""


def _rules(traps):
    """The traps at each share of seeds that never try the best action, {agent: {share: instances}}."""
    found = {agent: {} for agent in RULES}
    for table in traps:
        name = table["instance"].iloc[0].removeprefix("trap-")
        usual = table[(table["ties"] == "random") & table["setting"].isna()].set_index("agent")
        for agent in RULES:
            found[agent].setdefault(usual.loc[agent, "never"], []).append(name)
    return found


def sizes(tables):
    """The numbers of seeds and episodes of the cases with a sweep, or of all if there is none."""
    shown = sweeps(tables)
    summaries = [summary for summary, _ in shown]
    found = style.sizes(summaries or [table["summary"] for table in tables if "summary" in table])
    words = f"{style.span(summaries, 'seeds')} seeds and {found['episodes']} episodes"
    words = {"sizes": words, "instances": ", ".join(instances(shown))}
    return words | {"seeds": found["seeds"], "empty": not summaries}


def describe(tables):
    shown, traps = sweeps(tables), _traps(tables)
    finding = " ".join(f"{learned(shown)}. {missed(traps)}.".split())
    return sizes(tables) | {"finding": finding, "traps": style.span(traps, "seeds"), "penalty": penalty(traps)}
