"""Ayoub, Jia, Szepesvari, Wang, Yang (ICML 2020): RiverSwim with 3, 4 and 5 states."""

from befrl.analysis.published import UNIFORM, against, curves_of, of

ABOUT = """\
Ayoub, Jia, Szepesvari, Wang, Yang (ICML 2020): RiverSwim with 3, 4 and 5 states.

Their released code and their text differ, and both are run. In the code swimming left pays 5/1000. The text prints no
number, but the optimal values that it prints, and from which the plotting notebook counts regret, are exactly those
for 0.05: the regret of the figure is larger than ours by 0.016 per episode at S = 5. The code of UC-MatrixRL leaves the
determinant in its radius at 1 and takes the values of an episode from the Q of the previous one; so does that of
epsilon-greedy; the text has neither. The code of UCRL-VTR cuts Q at H, the text at the remaining steps. The code breaks
ties at random, on which the text is silent; so do both of ours. The code starts UCRL-VTR from Q = 0 and loses its first
episode, ours does not. The code has one run of UCRL-VTR and of UC-MatrixRL, which the figure draws without a band, and
five of epsilon-greedy, as saved for the authors' other experiment; the text has ten, ten and thirty. Their rewards are
deterministic and regret counts collected rewards; ours counts expected ones. Their fourth algorithm, epsilon-greedy on
value targets, is not run. The radii are those of 50,000 episodes (delta = 1/50,000) in shorter runs too.
"""
CITATION = (
    "Ayoub et al., Model-based reinforcement learning with value-targeted regression, ICML 2020 and arXiv 2006.01107, "
    "Section 6 and Appendix C, and the code in the folder VTR_Paper_Code of aa14k/Exploration-in-RL on GitHub: "
    "RiverSwim with S = 3, 4, 5 and H = 4S; optimal values printed, regret read to 1,000 off the figure of S = 5 "
    "in the notebook VTR_plot_riverswim-Copy1; behind it are one run of UCRL-VTR and UC-MatrixRL and five of "
    "epsilon-greedy by the code, ten and thirty by the text"
)
TRACK = "K"
EXPERIMENTS = {
    "code": "cumulative regret over up to 50,000 episodes, as the authors' code runs",
    "text": "the same, as their text says",
}
EPISODES = 50_000
AT = (10_000, 20_000, 30_000, 40_000, 50_000)

OPTIMAL = {(3, 12): 5.72, (4, 16): 5.66, (5, 20): 5.6}  # by numbers of states and steps
# For 5 states and 20 steps, at the episodes AT. One pixel is 1,900. None where curves cover each other.
REGRET = {
    "ucrl-vtr": (4.56e4, 7.18e4, 8.72e4, 9.67e4, 1.023e5),
    "uc-matrixrl": (None, 1.097e5, 1.624e5, 2.138e5, 2.606e5),
    "eps-greedy": (5.48e4, 1.065e5, 1.590e5, 2.119e5, 2.630e5),
}
RUNS = {
    "code": {"ucrl-vtr": 1, "uc-matrixrl": 1, "eps-greedy": 5},
    "text": {"ucrl-vtr": 10, "uc-matrixrl": 10, "eps-greedy": 30},
}


def values(experiment, rerun):
    """The optimal value of each instance, and the regret of each variant and of uniform play at some episodes."""
    follows, setting = {"follows": experiment}, (rerun.parameters["states"], rerun.parameters["horizon"])
    optimum = against({"ours": rerun.optimal_value}, authors=OPTIMAL.get(setting))
    yield {**follows, "quantity": "optimal value", **optimum, "unit": "reward per episode"}
    last = rerun.curves["episode"].max()
    for place, episode in enumerate(AT):
        if episode > last:
            return
        common = {**follows, "quantity": "regret", "episode": episode, "unit": "reward"}
        uniform = rerun.uniform_regret(episode)
        for variant in rerun.variants():
            algorithm = variant["algorithm"]
            authors = REGRET[algorithm][place] if setting == (5, 20) and algorithm in REGRET else None
            ours = rerun.regret_at(variant["variant"], episode)
            yield {**common, **of(variant), **against(ours, uniform, authors, RUNS[experiment].get(algorithm))}
        yield {**common, **UNIFORM, "ours": uniform}


def curves(experiment, rerun):
    """Cumulative regret."""
    return [{"follows": experiment, **point} for point in curves_of(rerun, "regret")]
