"""One row for each instance of a study: its numbers, its constants, and whether exploration matters there."""

from pathlib import Path

from befrl.analysis.components import exploration
from befrl.common import storage, tidy

FACTS = {
    "name": "name of the instance in the study",
    "family": "family that it belongs to",
    "horizon": "steps per episode H",
    "d": "number of parameters",
    "n_cells": "number of cells, on which a policy is constant",
    "n_anchors": "number of anchors, on which functions of the state live",
    "n_actions": "number of actions",
    "optimal_value": "V*_1 averaged over the first state, in units of reward per episode",
    "uniform_value": "the same for uniformly random actions, in units of reward per episode",
    "gap": "smallest positive V* - Q* over what can be reached, in units of reward",
    "cell_loss": "what the optimal policy loses by being constant on cells, in units of reward per episode",
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
    "seeds": "evaluation seeds of that comparison",
    "random": "regret of uniformly random actions in it, in units of reward",
    "greedy": "mean regret of greedy, in units of reward",
    "best": "mean regret of the best tuned agent, in units of reward",
    "best_agent": "that agent and its setting",
    "low": "lower end of the paired interval of greedy less best, in units of reward",
    "high": "upper end of the paired interval of greedy less best, in units of reward",
    "matters": "whether exploration matters: the interval lies above zero",
}
COLUMNS = FACTS | CONSTANTS | ANSWER


def rows(folder, names) -> list[dict]:
    """From the files of a study below `folder`."""
    found = []
    for name in names:
        meta = storage.read_meta(Path(folder) / "instances" / f"{name}.npz", "instance")
        row = {key: meta[key] for key in FACTS} | {key: meta["constants"][key] for key in CONSTANTS}
        path = Path(folder) / "library" / "exploration" / f"{name}.csv"
        if path.exists():
            row |= exploration.answer(tidy.read(path, exploration.COLUMNS))
        found.append(row)
    return found
