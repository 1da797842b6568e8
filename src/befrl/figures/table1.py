"""Table 1 of the paper, measured: its marks beside the regret, optimism and plans of our runs."""

from befrl.analysis.statistics import EVERYWHERE
from befrl.common.printed import PRINTED
from befrl.figures.ordering import failed_seeds
from befrl.figures.support import style

SCOPE = "table"
SUBJECT = "table1"
HEADLINE = True
MEASURED = ("mean", "low", "high", "q10", "q90", "failed", "optimistic", "tied")
TABLES = {
    "table": (
        *("instance", "track", "agent", "algorithm", "specification", "constants", "seeds", "episodes"),
        *("rate", "tractable_exploration", "tractable_planning", "free_of_clipping", "plans"),
        *("theory_group", "tuned_group"),
        *(f"{prefix}_{name}" for prefix in ("theory", "tuned") for name in MEASURED),
    )
}
MARKS = {"yes": "✓", "no": "✗", "n.a.": "–", "": ""}
RATES = {" K": "K", " H": "H", " d": "d", "sqrt": "√", "^2": "²", "^3": "³", "^4": "⁴", "^5": "⁵", ", Bayesian": " (B)"}


def shown(table):
    """The agents of the first case: those of the paper's Table 1 in its order, then the others."""
    first = table.iloc[0]
    rows = table[(table["instance"] == first["instance"]) & (table["track"] == first["track"])]
    order = dict(zip(PRINTED, range(len(PRINTED)), strict=True))
    return rows.sort_values("algorithm", key=lambda names: names.map(order).fillna(len(order)), kind="stable")


def draw(tables):
    rows = shown(tables[0]["table"])
    names = style.names(rows)
    figure, (words, regret, letters, optimism) = style.subplots(
        1, 4, figsize=(2 * style.WIDTH, 1.1 + 0.2 * len(rows)), sharey=True, width_ratios=(2.6, 3.0, 1.2, 1.2)
    )
    floor = style.floor(rows[["theory_mean", "tuned_mean"]].to_numpy())
    for line, row in enumerate(rows.itertuples()):
        colour = style.colour(row.agent, row.algorithm)
        texts(words, line, ((0.0, names[row.agent], "left"), (1.0, _rate(row.rate), "left")), colour=colour)
        marks = (row.tractable_exploration, row.tractable_planning, row.free_of_clipping)
        texts(words, line, [(1.95 + 0.25 * i, MARKS.get(mark, ""), "center") for i, mark in enumerate(marks)])
        for prefix, at, face in (("theory", line - 0.17, "white"), ("tuned", line + 0.17, colour)):
            value = {name: getattr(row, f"{prefix}_{name}") for name in MEASURED}
            if value["mean"] != value["mean"]:
                continue
            q10, q90, low, high, mean = (max(value[name], floor) for name in ("q10", "q90", "low", "high", "mean"))
            options = {"color": colour, "marker": "o", "markersize": 3.5, "markerfacecolor": face, "linestyle": "none"}
            regret.plot([q10, q90], [at, at], color=colour, linewidth=0.6, alpha=0.6)
            regret.plot([low, high], [at, at], color=colour, linewidth=1.8)
            regret.plot(mean, at, clip_on=False, **options | ({"marker": "<"} if value["mean"] < floor else {}))
            if value["failed"] > 0:
                failed_seeds(regret, at, value["failed"])
            optimism.plot(value["optimistic"], at, clip_on=False, **options)
            texts(letters, at, ((0.0, _letters(row, prefix), "left"),), size=5)
    words.set(xlim=(0, 2.55), ylim=(len(rows) - 0.5, -0.5), yticks=[])
    heads(words, ((0.0, "agent", "left"), (1.0, "printed rate", "left")))
    heads(words, ((1.95, "explore", "left"), (2.2, "plan", "left"), (2.45, "no clip", "left")), angle=30)
    regret.set(xscale="log", xlabel="regret after K episodes\n(right: failed seeds)")
    regret.set_xlim(floor, regret.get_xlim()[1] * 3.0)  # room for numbers at the right
    regret.xaxis.set_minor_formatter("")
    letters.set(xlim=(0, 1), xlabel="shared letter:\nnot told apart")
    optimism.set(xlim=(0, 1), xticks=[0, 0.5, 1], xlabel="optimistic\nepisodes")
    for axis in (words, letters):
        bare(axis)
    for axis in (regret, optimism):
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="y", linewidth=0.3)
    return figure


def _letters(row, prefix):
    """The letters of an agent, empty if it is not compared; "tie" if it ties everywhere."""
    if prefix == "theory" and row.theory_tied > EVERYWHERE:
        return "tie"
    found = getattr(row, f"{prefix}_group")
    return found if isinstance(found, str) else ""


def texts(axis, line, entries, colour="black", size=6):
    """Write texts, each given with its place and alignment, into a line of a panel."""
    for x, text, side in entries:
        axis.text(x, line, text, ha=side, va="center", fontsize=size, color=colour)


def heads(axis, entries, angle=0):
    """Write the names of columns above the first line."""
    for x, text, side in entries:
        axis.text(x, -0.75, text, ha=side, va="bottom", fontsize=6, rotation=angle, rotation_mode="anchor")


def bare(axis):
    """Remove ticks and frame of a text panel."""
    axis.set(xticks=[])
    axis.tick_params(axis="y", length=0)
    axis.spines[:].set_visible(False)


def _rate(text):
    """The printed bound in mathematical signs, without its alternative, for lack of room."""
    text = text.split(", or")[0] if isinstance(text, str) else ""
    for word, sign in RATES.items():
        text = text.replace(word, sign)
    return text


def describe(tables):
    return style.case(shown(tables[0]["table"]))
