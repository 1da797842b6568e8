"""Cho, Hwang, Lee, Oh (NeurIPS 2024): four algorithms for multinomial logistic models on two RiverSwims.

The authors tune and print no constants, so that ours are the best of a small grid. Rewards and reachable states are
known here, where play without exploration has no regret (riverswim-4, track K, in the tables of regret): the best
constants are the smallest of the grid, all four algorithms are at the optimum from the first episodes on, and the
authors' order cannot be seen. Their UCRL-MNL fits the likelihood
of all data in each episode; ours has sufficient statistics, so that maximum likelihood costs no more than the online
updates. The case of 1,000 episodes is their comparison of runtimes, with UCRL-MNL in both ways: `likelihood=visits`
goes through all data again, as theirs. Seconds are per seed, with seeds in lock step.
"""

import numpy as np

from befrl.analysis.published import curves_of, of

CITATION = (
    "Cho et al., Randomized exploration for reinforcement learning with multinomial logistic function approximation, "
    "NeurIPS 2024, Section 5 and Figure 1: return curves of ten runs, seconds of the first 1,000 episodes (S and H not "
    "stated), constants not stated; order in which the curves reach the optimum read off the figure"
)
TRACK = "K"
# A case of so many episodes is the comparison of runtimes.
FIRST = 1_000
SECONDS = {"rrl-mnl": 20.3, "ucrl-mnl": 4302.3, "orrl-mnl": 76.2, "ucrl-mnl-plus": 70.1}
ONLINE = "rrl-mnl"
ORDER = {"orrl-mnl": 1, "ucrl-mnl-plus": 1, "rrl-mnl": 3, "ucrl-mnl": 4}
# A curve has arrived when it stays above this share of the optimal value.
ARRIVED = 0.95


def values(cases):
    return [row for case in cases for row in (_seconds(case) if case.episodes == FIRST else _returns(case))]


def curves(cases):
    """With all points of the grids: the authors' constants, and so the curves to compare theirs with, are not known."""
    return curves_of([case for case in cases if case.episodes != FIRST], "return", "theory", "tuned", "grid")


def arrival(curve, optimal_value):
    """The first stored episode from which on the mean return stays above ARRIVED; the last plus one if it does not."""
    below = np.flatnonzero(curve["return"].to_numpy() < ARRIVED * optimal_value)
    k = curve["episode"].to_numpy()
    if not len(below):
        return int(k[0])
    return int(k[below[-1] + 1]) if below[-1] + 1 < len(k) else int(k[-1]) + 1


def _returns(case):
    """Arrival at the optimum of the tuned variants, and their order; regret of all."""
    yield {**case.name, "quantity": "optimal value", "ours": case.optimal_value, "unit": "reward per episode"}
    tuned = case.variants("tuned")
    arrivals = [arrival(case.curve(row["variant"]), case.optimal_value) for row in tuned]
    for row, at in zip(tuned, arrivals, strict=True):
        name = {**case.name, **of(row)}
        yield {**name, "quantity": "arrival at the optimum", "ours": at, "unit": "episode"}
        place = {"ours": 1 + sum(other < at for other in arrivals), "authors": ORDER.get(row["algorithm"])}
        yield {**name, "quantity": "order of arrival", **place, "unit": "place"}
    for row in case.variants():
        end = {"ours": row["mean"], "low": row["low"], "high": row["high"], "unit": "reward"}
        yield {**case.name, **of(row), "quantity": "regret", "episode": row["episodes"], **end}


def _seconds(case):
    """Seconds of the episodes, and ratios to those of the online algorithm: of all, and of the updates alone."""
    rows = case.variants()
    online = next(row for row in rows if row["algorithm"] == ONLINE)
    for row in rows:
        name = {**case.name, **of(row)}
        # The authors go through all data.
        theirs = row["algorithm"] != "ucrl-mnl" or "likelihood=visits" in str(row["setting"])
        authors = SECONDS.get(row["algorithm"]) if theirs else None
        spent = {"ours": FIRST * row["seconds_per_episode"], "authors": authors, "unit": "s"}
        yield {**name, "quantity": "seconds of 1,000 episodes", "episode": FIRST, **spent}
        for quantity, column in (
            ("seconds over those of rrl-mnl", "seconds_per_episode"),
            ("updates over those of rrl-mnl", "estimating"),
        ):
            ratio = {"ours": row[column] / online[column], "unit": "ratio"}
            if column == "seconds_per_episode" and authors:
                ratio["authors"] = authors / SECONDS[ONLINE]
            yield {**name, "quantity": quantity, "episode": FIRST, **ratio}
