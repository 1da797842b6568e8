"""Li, Li, Kabra, Srebro, Wang, Yang (NeurIPS 2022): score matching on their synthetic density.

Their curves are the rewards that were collected, ours the expected ones, which have the same mean and less noise. Their
Gaussian model is the least-squares one; ours draws from its posterior.
"""

from befrl.analysis.published import curves_of, of

CITATION = (
    "Li et al., Exponential family model-based reinforcement learning via score matching, NeurIPS 2022: reward summed "
    "over 50 episodes, five seeds, read off the figure"
)
TRACK = "K"
AFTER = 50
TRUTH = 236.0
REWARD = {"smrl": 235.0, "ren-ts": 171.0}


def values(cases):
    found = []
    for case in cases:
        common = {**case.name, "quantity": "reward summed", "episode": AFTER, "unit": "reward"}
        best = AFTER * case.optimal_value
        found.append({**common, "variant": "the true model", "ours": best, "authors": TRUTH})
        for variant in case.variants():
            lost = case.regret_at(variant["variant"], AFTER)
            numbers = {"ours": best - lost["ours"], "low": best - lost["high"], "high": best - lost["low"]}
            found.append({**common, **of(variant), **numbers, "authors": REWARD.get(variant["algorithm"])})
    return found


def curves(cases):
    return curves_of(cases, "reward")
