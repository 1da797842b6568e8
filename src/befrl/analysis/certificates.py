"""Rows of the tables of certificates: how much of the regret agents certify, and how often certificates are broken."""

import numpy as np

from befrl.analysis import intervals, statistics
from befrl.experiment import certificates, run_file


def row(meta, log, level) -> dict:
    """The columns of `certificates.csv` after those that name the variant."""
    H, K = meta["horizon"], meta["episodes"]
    cumulative = log["certificate"].cumsum(1, dtype=float)
    broken = certificates.broken(log, H)
    seeds, certified = broken.any(1), cumulative[:, -1].mean()
    low, high = intervals.clopper_pearson(seeds.sum(), len(seeds), level)
    return {
        "seeds": len(seeds),
        "episodes": K,
        "delta": certificates.failure_rate(meta["facts"], meta["specification"]),
        "regret": log["regret"].sum(1).mean(),
        "certified": certified,
        "certified_share": certified / (H * K),
        "trivial": float(H * K),
        "random": K * (meta["optimal_value"] - meta["uniform_value"]),
        "first_k": first_below(cumulative, H / 2),
        "slope": statistics.slope(cumulative.mean(0)),
        "broken": seeds.mean(),
        "broken_low": low,
        "broken_high": high,
        "broken_episodes": int(broken.sum()),
    }


def first_below(cumulative, per_episode) -> float:
    """The k from which on the sums (seeds, K) of all seeds are below k times a number; NaN if there is none."""
    k = np.arange(1, cumulative.shape[1] + 1)
    above = np.flatnonzero((cumulative >= per_episode * k).any(0))
    first = above[-1] + 2 if len(above) else 1
    return float(first) if first <= len(k) else float("nan")


def curve(log):
    """The points of `certificate_curves.csv`: the mean over seeds of the sum of certificates at the marks."""
    k = run_file.marks(log["certificate"].shape[1])
    mean = log["certificate"].cumsum(1, dtype=float).mean(0)[k - 1]
    return [{"episode": episode, "certified": value} for episode, value in zip(k, mean, strict=True)]
