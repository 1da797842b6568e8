"""Li, Li, Kabra, Srebro, Wang, Yang (NeurIPS 2022): score matching on their synthetic density.

The authors' curves are collected rewards; ours are expected rewards, which have the same mean and less noise. Their
Gaussian model is fitted by least squares; ours draws from its posterior.
"""

from befrl.analysis.published import curves_of, of

CITATION = (
    "Li et al., Exponential family model-based reinforcement learning via score matching, NeurIPS 2022: reward summed "
    "over 50 episodes, five seeds, read off the figure"
)
TRACK = "K"
EXPERIMENTS = {"reward": "reward summed over 50 episodes"}
AFTER = 50
TRUTH = 236.0
REWARD = {"smrl": 235.0, "ren-ts": 171.0}


def values(reruns):
    """The reward summed over the episodes, of the optimal policy and of each variant."""
    found = []
    for rerun in reruns["reward"]:
        common = {**rerun.name, "quantity": "reward summed", "episode": AFTER, "unit": "reward"}
        best = AFTER * rerun.optimal_value
        found.append({**common, "variant": "the true model", "ours": best, "authors": TRUTH})
        for variant in rerun.variants():
            lost = rerun.regret_at(variant["variant"], AFTER)
            numbers = {"ours": best - lost["ours"], "low": best - lost["high"], "high": best - lost["low"]}
            found.append({**common, **of(variant), **numbers, "authors": REWARD.get(variant["algorithm"])})
    return found


def curves(reruns):
    """Cumulative reward."""
    return curves_of(reruns["reward"], "reward")
