"""Statistics over seeds: whole-curve bootstrap, paired differences, log-log slopes. All seeded.

A resample draws whole seeds with replacement, so that a band keeps the dependence along a curve.
"""

import numpy as np

# A cumulative regret up to this is rounding.
NO_REGRET = 1e-6


def resampling_weights(n, resamples, rng):
    """Weights of the seeds in each bootstrap resample, (resamples, n): how often a seed is drawn, divided by n."""
    return rng.multinomial(n, np.full(n, 1.0 / n), size=resamples) / n


def bootstrap_mean(values, weights, level):
    """Percentile interval of the mean over the first axis: (n, ...) -> low, high of shape (...)."""
    means = np.tensordot(weights, values, axes=(1, 0))
    tail = (1 - level) / 2
    return np.quantile(means, tail, axis=0), np.quantile(means, 1 - tail, axis=0)


def slope(curve):
    """Least-squares slope of log cumulative regret against log episode, over the second half of the episodes.

    1 is linear regret, 1/2 is the theorem's rate; NaN if the curve is not positive there.
    """
    K = len(curve)
    k = np.unique(np.geomspace(max(1, K // 2), K, num=64).astype(int))
    y = curve[k - 1]
    if len(k) < 2 or np.any(y <= 1e-9):
        return float("nan")
    return round(float(np.polyfit(np.log(k), np.log(y), 1)[0]), 9)


def time_exponent(seconds):
    """The power of k with which seconds per episode (K,) grow, from the medians of the second and the last tenth.

    0 is flat, 1 is linear; NaN with fewer than 20 episodes, where a tenth is too small a sample.
    """
    tenth = len(seconds) // 10
    if tenth < 2:
        return float("nan")
    early, late = np.median(seconds[tenth : 2 * tenth]), np.median(seconds[-tenth:])
    return float(np.log(late / early) / np.log(9.5 / 1.5))


def failed(regret, uniform_regret):
    """Which seeds failed to learn: those with mean regret in the last tenth above half that of random play."""
    last = max(1, regret.shape[1] // 10)
    return regret[:, -last:].mean(1) > 0.5 * uniform_regret
