"""Cho, Hwang, Lee, Oh (NeurIPS 2024): four algorithms for multinomial logistic models on two RiverSwims."""

import numpy as np

from befrl.analysis.published import against, curves_of, of
from befrl.common.errors import InputError

ABOUT = """\
Cho, Hwang, Lee, Oh (NeurIPS 2024): four algorithms for multinomial logistic models on two RiverSwims.

The authors tune their constants and do not print them, so ours are tuned too. Their code is in the supplement to the
paper; no public repository was found, so that ours follows the text. Rewards and reachable states are known here, so
that little is left to explore: the best constants are among the smallest that are tried, all four algorithms reach the
optimum within the first episodes, and the authors' order cannot be seen. So the curves, all on the optimum, are not
drawn. Their UCRL-MNL fits the likelihood of all data in each episode; ours has sufficient statistics, with which
maximum likelihood costs no more than the online updates. The comparison of runtimes has UCRL-MNL in both forms: with
`likelihood=visits` it goes through all data again, as theirs does. Seconds are per seed, with seeds in lock step.
"""
CITATION = (
    "Cho et al., Randomized exploration for reinforcement learning with multinomial logistic function approximation, "
    "NeurIPS 2024, Section 5, Appendix F and Figure 1: return curves, mean of ten runs; seconds of the first 1,000 "
    "episodes (S, H and number of runs not stated); constants not stated; order in which the curves reach the optimum "
    "read off the figure"
)
TRACK = "K"
DRAWN = False
EXPERIMENTS = {
    "returns": "return per episode, and the order in which the algorithms reach the optimum",
    "runtime": "seconds of the first 1,000 episodes",
}
FIRST = 1_000  # episodes of the authors' comparison of runtimes
SECONDS = {"rrl-mnl": 20.3, "ucrl-mnl": 4302.3, "orrl-mnl": 76.2, "ucrl-mnl-plus": 70.1}
ONLINE = "rrl-mnl"
ORDER = {"orrl-mnl": 1, "ucrl-mnl-plus": 1, "rrl-mnl": 3, "ucrl-mnl": 4}
RUNS = 10  # for the order; not stated for the seconds
ARRIVED = 0.95  # a curve has arrived when it stays above this share of the optimal value


def arrival(curve, optimal_value):
    """The first stored episode after which the mean return stays above ARRIVED; the last plus one if there is none."""
    below = np.flatnonzero(curve["return"].to_numpy() < ARRIVED * optimal_value)
    k = curve["episode"].to_numpy()
    if not len(below):
        return int(k[0])
    return int(k[below[-1] + 1]) if below[-1] + 1 < len(k) else int(k[-1]) + 1


def values(experiment, rerun):
    """The optimal value; the arrival at the optimum of the tuned variants, and their order; the regret of all."""
    if experiment != "returns":
        return
    yield {"quantity": "optimal value", "ours": rerun.optimal_value, "unit": "reward per episode"}
    tuned = rerun.variants("tuned")
    arrivals = [arrival(rerun.curve(row["variant"]), rerun.optimal_value) for row in tuned]
    for row, at in zip(tuned, arrivals, strict=True):
        yield {**of(row), "quantity": "arrival at the optimum", "ours": at, "unit": "episode"}
        place = against({"ours": 1 + sum(other < at for other in arrivals)}, None, ORDER.get(row["algorithm"]), RUNS)
        yield {**of(row), "quantity": "order of arrival", **place, "unit": "place"}
    for row in rerun.variants():
        end = against({"ours": row["mean"], **row[["low", "high"]]}, rerun.uniform_regret(row["episodes"]))
        yield {**of(row), "quantity": "regret", "episode": row["episodes"], **end, "unit": "reward"}


def curves(experiment, rerun):
    """Returns, also of the median and worst constants that were tried, since the authors' are not known."""
    return curves_of(rerun, "return", "theory", "surrogate", "tuned") if experiment == "returns" else ()


def timings(experiment, rerun):
    """Seconds of the first episodes, and their ratios to those of the online algorithm."""
    if experiment != "runtime":
        return
    rows = rerun.timed_variants()
    online = next((row for row in rows if row["algorithm"] == ONLINE), None)
    if online is None:
        raise InputError(f"published source 'cho': no agent on '{rerun.instance}' runs '{ONLINE}', the reference")
    for row in rows:
        # The authors' UCRL-MNL goes through all data.
        comparable = row["algorithm"] != "ucrl-mnl" or "likelihood=visits" in str(row["setting"])
        authors = SECONDS.get(row["algorithm"]) if comparable else None
        name, ratio = {**of(row), "episode": FIRST}, authors / SECONDS[ONLINE] if authors else None
        spent = against({"ours": FIRST * row["seconds_per_episode"]}, authors=authors)
        yield {**name, "quantity": "seconds of 1,000 episodes", **spent, "unit": "s"}
        for quantity, column, theirs in (
            ("seconds over those of rrl-mnl", "seconds_per_episode", ratio),
            ("updates over those of rrl-mnl", "estimating", None),
        ):
            compared = against({"ours": row[column] / online[column]}, authors=theirs)
            yield {**name, "quantity": quantity, **compared, "unit": "ratio"}
