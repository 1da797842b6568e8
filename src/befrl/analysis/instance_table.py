"""The table of a study's instances: numbers, constants, and whether exploration matters."""

from befrl.analysis import columns
from befrl.analysis.components import exploration, tables
from befrl.common import instance_facts, tidy

COLUMNS = columns.TABLES["instances"]
CONSTANTS = ("alpha_p", "beta_p", "alpha_r", "beta_r", "B_A", "B_phi_A", "radius_p", "radius_r")
ANSWER = ("episodes", "seeds", "random", "greedy", "best", "best_agent", "low", "high", "matters")
FACTS = tuple(name for name in COLUMNS if name not in (*CONSTANTS, *ANSWER, "longest"))


def rows(layout, longest, explored) -> list[dict]:
    """One row for each instance, from the files of `layout`; `explored` are those with a study of exploration.

    `longest` has the largest number of episodes that the study plays on each instance, or None.
    """
    found = []
    for name, episodes in longest.items():
        meta = instance_facts.read(layout.instance(name), name)
        row = {key: meta[key] for key in FACTS} | {key: meta["constants"][key] for key in CONSTANTS}
        row["longest"] = episodes
        if name in explored:
            path = layout.component("exploration", "points", name)
            row |= exploration.answer(tidy.read(path, tables("exploration")["points"]))
        found.append(row)
    return found
