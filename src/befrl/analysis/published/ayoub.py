"""Ayoub, Jia, Szepesvari, Wang, Yang (ICML 2020): RiverSwim with 3, 4 and 5 states.

The authors' UC-MatrixRL takes the values of an episode from the Q of the previous one and has another bonus; ours is
Yang and Wang's. Ties are broken in favour of the smallest action, left; the authors' code breaks them at random.
"""

from befrl.analysis.published import curves_of, of

CITATION = (
    "Ayoub et al., Model-based reinforcement learning with value-targeted regression, ICML 2020, Section 6: RiverSwim "
    "with S = 3, 4, 5 and H = 4S, ten runs; optimal values printed, regret read off the figure for S = 5"
)
TRACK = "K"
EXPERIMENTS = {"regret": "cumulative regret after 50,000 episodes"}
AT = (10_000, 50_000)

OPTIMAL = {"riverswim-ayoub-3": 5.72, "riverswim-ayoub-4": 5.66, "riverswim-ayoub-5": 5.6}
# After 50,000 episodes; epsilon-greedy is drawn between 2.6e5 and 2.8e5.
REGRET = {
    ("riverswim-ayoub-5", "ucrl-vtr", 50_000): 1.02e5,
    ("riverswim-ayoub-5", "uc-matrixrl", 50_000): 2.6e5,
    ("riverswim-ayoub-5", "eps-greedy", 50_000): 2.7e5,
}


def values(reruns):
    """The optimal value of each instance, and the regret of each variant at some episodes."""
    found = []
    for rerun in reruns["regret"]:
        ours = {"ours": rerun.optimal_value, "authors": OPTIMAL.get(rerun.instance), "unit": "reward per episode"}
        found.append({**rerun.name, "quantity": "optimal value", **ours})
        for variant in rerun.variants():
            for episode in (episode for episode in AT if episode <= variant["episodes"]):
                authors = REGRET.get((rerun.instance, variant["algorithm"], episode))
                numbers = rerun.regret_at(variant["variant"], episode) | {"authors": authors, "unit": "reward"}
                found.append({**rerun.name, "quantity": "regret", **of(variant), "episode": episode, **numbers})
    return found


def curves(reruns):
    """Cumulative regret."""
    return curves_of(reruns["regret"], "regret")
