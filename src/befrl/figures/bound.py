"""From how many episodes on the bounds of the theorems are below the trivial one, on every instance, beside our K."""

import numpy as np

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
LEAD = 2
SUBJECT = "theorem"
TABLES = {"facts": ("instance", "quantity", "value")}
BESIDE = ("table", "instances", {"table": ("name", "longest")})
PAPER = "first K, trivial"
FIRSTS = {  # label, agent, marker
    PAPER: ("Theorem 1", "bef-rlsvi", "o"),
    "first K, bef-seed, Theorem 1": ("bef-seed, its Theorem 1", "bef-seed", "X"),
    "first K, bef-seed, Theorem 2": ("bef-seed, its Theorem 2", "bef-seed", "d"),
}


def fact(table, quantity):
    """One number of a table of facts."""
    return float(table["facts"].set_index("quantity")["value"][quantity])


def name_of(table):
    """The instance that a table of facts is about."""
    return table["facts"]["instance"].iloc[0]


def rows(tables) -> dict[str, dict]:
    """The first K of each theorem and our K by instance, in the order of the paper's first K."""
    *facts, last = tables
    ours = last["table"].set_index("name")["longest"]
    ordered = sorted(facts, key=lambda table: fact(table, PAPER))
    return {
        name_of(table): {key: fact(table, key) for key in FIRSTS} | {"ours": float(ours[name_of(table)])}
        for table in ordered
    }


def draw(tables):
    found = rows(tables)
    lines = np.arange(len(found))
    columns = {key: [row[key] for row in found.values()] for key in ("ours", *FIRSTS)}
    figure, axis = style.subplots(figsize=(style.WIDTH, 0.9 + 0.125 * len(found)))
    axis.hlines(lines, columns["ours"], columns[PAPER], color="0.8", linewidth=0.8)
    axis.plot(columns["ours"], lines, color="black", marker="|", markersize=6, linestyle="none", label="our K")
    for key, (label, agent, marker) in FIRSTS.items():
        first = np.array(columns[key])
        known = np.isfinite(first)
        dots = {"color": style.colour(agent), "marker": marker, "markersize": 3.5, "linestyle": "none"}
        axis.plot(first[known], lines[known], label=label, **dots)
    axis.set_yticks(lines, list(found))
    axis.set(xscale="log", xlabel="first K with a bound below H K", ylim=(len(found) - 0.5, -0.5), xlim=(1, None))
    axis.tick_params(axis="y", length=0)
    style.legend(figure, [axis], 2, **style.TIGHT)
    return figure


def describe(tables):
    *facts, _ = tables
    found = rows(tables)
    low, *_, high = found
    share = min(fact(table, "share, noise") + fact(table, "share, learning") for table in facts)
    played = [row for row in found.values() if row["ours"] == row["ours"]]
    ours = {name: [row[key] for key in FIRSTS if key != PAPER and row[key] == row[key]] for name, row in found.items()}
    best = [min(firsts) for firsts in ours.values() if firsts] or [float("nan")]
    values = {
        "least": found[low][PAPER],
        "most": found[high][PAPER],
        "random": min(fact(table, "first K, random") for table in facts),
        "seed_least": min(best),
        "seed_most": max(best),
    }
    values = {name: style.power(value, 2) for name, value in values.items()} | {
        "low": low,
        "high": high,
        "share": share,
    }
    for key, number in (("without", 0), ("first_only", 1)):
        values[key] = ", ".join(name for name, firsts in ours.items() if len(firsts) == number) or "none"
    values |= {"short": style.power(min((row[PAPER] / row["ours"] for row in played), default=float("nan")))}
    return values | {"eta": fact(facts[0], "eta"), "delta": fact(facts[0], "delta")}
