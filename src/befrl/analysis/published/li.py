"""Li, Li, Kabra, Srebro, Wang, Yang (NeurIPS 2022): score matching on their synthetic density."""

from befrl.analysis.published import UNIFORM, against, curves_of, of

ABOUT = """\
Li, Li, Kabra, Srebro, Wang, Yang (NeurIPS 2022): score matching on their synthetic density.

The experiment has little power. To play +1 in every state is optimal, so that one sign decides all, and uniformly
random play earns what the authors' Gaussian model does: its value lies within the band that they draw, about 160 to
183. The authors' curves are collected rewards; ours are expected rewards, which have the same mean and less noise.
Their planner compares 100 simulations of five steps with +1 and with -1 throughout; ours is exact, and in the true
model both play +1. Their features are s and a with a weight each; ours have s + a, on which their law depends. Their
Gaussian model has a given variance and the ridge estimate of its mean; ours fits the variance, and runs with the
estimate (li-gaussian) and with draws from its posterior (li-ren-ts).
"""
CITATION = (
    "Li et al., Exponential family model-based reinforcement learning via score matching, NeurIPS 2022, and the code "
    "anmolkabra/score-matching-rl on GitHub: reward summed over 50 episodes, mean of five runs (seeds 0 to 4 in the "
    "code), read off the figure"
)
TRACK = "K"
EXPERIMENTS = {"reward": "reward summed over 50 episodes"}
AFTER = 50
TRUTH = 236.0
REWARD = {"smrl": 235.0, "ren-ts": 171.0}
RUNS = 5


def values(experiment, rerun):
    """The reward summed over the episodes, of the optimal policy, of each variant and of uniform play."""
    common = {"quantity": "reward summed", "episode": AFTER, "unit": "reward"}
    best, uniform = AFTER * rerun.optimal_value, AFTER * rerun.uniform_value
    yield {**common, "variant": "the true model", **against({"ours": best}, authors=TRUTH, runs=RUNS)}
    for variant in rerun.variants():
        lost = rerun.regret_at(variant["variant"], AFTER)
        numbers = {"ours": best - lost["ours"], "low": best - lost["high"], "high": best - lost["low"]}
        yield {**common, **of(variant), **against(numbers, uniform, REWARD.get(variant["algorithm"]), RUNS)}
    yield {**common, **UNIFORM, "ours": uniform}


def curves(experiment, rerun):
    """Cumulative reward."""
    return curves_of(rerun, "reward")
