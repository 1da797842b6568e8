"""Cho, Hwang, Lee, Oh (NeurIPS 2024): four algorithms for multinomial logistic models on two RiverSwims.

The authors tune and print no constants, so that ours are the best of a small grid. Their UCRL-MNL fits the likelihood
of all data in each episode; ours has sufficient statistics, so that the price of maximum likelihood against an online
update is that of Newton's steps alone.
"""

import numpy as np

from befrl.published import of

CITATION = (
    "Cho et al., Randomized exploration for reinforcement learning with multinomial logistic function approximation, "
    "NeurIPS 2024, Section 5 and Figure 1: return curves of ten runs, seconds of the first 1,000 episodes (S and H not "
    "stated), constants not stated; order in which the curves reach the optimum read off the figure"
)
TRACK = "K"
SHOWN = "return"
FIRST = 1_000
SECONDS = {"rrl-mnl": 20.3, "ucrl-mnl": 4302.3, "orrl-mnl": 76.2, "ucrl-mnl-plus": 70.1}
ORDER = {"orrl-mnl": 1, "ucrl-mnl-plus": 1, "rrl-mnl": 3, "ucrl-mnl": 4}
# A curve has arrived when it stays above this share of the optimal value.
ARRIVED = 0.95


def arrival(curve, optimal_value):
    """The first stored episode from which on the mean return stays above ARRIVED; the last plus one if it does not."""
    below = np.flatnonzero(curve["return"].to_numpy() < ARRIVED * optimal_value)
    k = curve["episode"].to_numpy()
    if not len(below):
        return int(k[0])
    return int(k[below[-1] + 1]) if below[-1] + 1 < len(k) else int(k[-1]) + 1


def values(cases):
    found = []
    for case in cases:
        ours = {"ours": case.optimal_value, "unit": "reward per episode"}
        found.append({**case.name, "quantity": "optimal value", **ours})
        tuned = case.variants("tuned")
        arrivals = [arrival(case.curve(row["variant"]), case.optimal_value) for row in tuned]
        online = [row["seconds_per_episode"] for row in tuned if row["algorithm"] == "rrl-mnl"]
        for row, at in zip(tuned, arrivals, strict=True):
            name, algorithm = {**case.name, **of(row)}, row["algorithm"]
            spent = row["seconds_per_episode"]
            found += [
                {**name, "quantity": "arrival at the optimum", "ours": at, "unit": "episode"},
                {
                    **name,
                    "quantity": "order of arrival",
                    "ours": 1 + sum(other < at for other in arrivals),
                    "authors": ORDER.get(algorithm),
                    "unit": "place",
                },
                {
                    **name,
                    "quantity": "seconds of 1,000 episodes",
                    "ours": FIRST * spent,
                    "authors": SECONDS.get(algorithm),
                    "unit": "s",
                },
            ]
            if online:
                authors = SECONDS[algorithm] / SECONDS["rrl-mnl"] if algorithm in SECONDS else None
                ratio = {"ours": spent / online[0], "authors": authors, "unit": "ratio"}
                found.append({**name, "quantity": "seconds over those of rrl-mnl", **ratio})
        for row in case.variants():
            end = {"ours": row["mean"], "low": row["low"], "high": row["high"], "unit": "reward"}
            found.append({**case.name, **of(row), "quantity": "regret", "episode": row["episodes"], **end})
    return found
