"""The table of a study's instances: numbers, constants, and whether exploration matters."""

from befrl.analysis.components import exploration
from befrl.common import instance_facts, tidy

FACTS = {
    "name": "name of the instance in the study",
    "family": "family of the instance",
    "horizon": "steps per episode H",
    "d": "number of parameters",
    "n_cells": "number of cells; a policy is constant on each",
    "n_anchors": "number of anchors; functions of the state are stored on them",
    "n_actions": "number of actions",
    "optimal_value": "V*_1 averaged over the first state, in units of reward per episode",
    "uniform_value": "value of uniformly random actions averaged over the first state, in units of reward per episode",
    "gap": "smallest positive V* - Q* over reachable (s, a, h), in units of reward",
    "cell_loss": "loss of the best policy that is constant on cells, in units of reward per episode",
}
CONSTANTS = {
    "alpha_p": "inf of the smallest eigenvalue of Cov psi on the compact set",
    "beta_p": "sup of the largest eigenvalue of Cov psi on the compact set",
    "alpha_r": "|B|^2 inf Var r on the compact set",
    "beta_r": "|B|^2 sup Var r on the compact set",
    "B_A": "larger of |theta*_p|_A and |theta*_r|_A",
    "B_phi_A": "sup |A^-1 G_{s,a}|",
    "radius_p": "the compact set: largest |U theta*_p|",
    "radius_r": "the compact set: largest |theta*_r . x_r|",
}
ANSWER = {
    "episodes": "episodes of the comparison of greedy with the best tuned agent; empty if there was none",
    "seeds": "evaluation seeds of the comparison",
    "random": "regret of uniformly random actions in the comparison, in units of reward",
    "greedy": "mean regret of greedy, in units of reward",
    "best": "mean regret of the best tuned agent, in units of reward",
    "best_agent": "the best tuned agent and its setting",
    "low": "lower end of the paired interval of greedy minus best, in units of reward",
    "high": "upper end of the paired interval of greedy minus best, in units of reward",
    "matters": "whether exploration matters: the interval lies above zero",
}
COLUMNS = FACTS | CONSTANTS | ANSWER


def rows(layout, names, explored) -> list[dict]:
    """One row for each instance, from the files of `layout`; `explored` are those with a study of exploration."""
    found = []
    for name in names:
        meta = instance_facts.read(layout.instance(name), name)
        row = {key: meta[key] for key in FACTS} | {key: meta["constants"][key] for key in CONSTANTS}
        if name in explored:
            path = layout.component("exploration", "points", name)
            row |= exploration.answer(tidy.read(path, exploration.TABLES["points"]))
        found.append(row)
    return found
