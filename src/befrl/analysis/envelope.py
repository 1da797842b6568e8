"""The envelope of regret over gaps, E(v) = max_eps R(v, eps), and the power of v with which it grows.

The maximum of noisy means is biased upwards. To avoid this, each half of the seeds chooses eps, the mean of the other
half is read there, and E is the average of both readings. Intervals are bootstrap percentiles: the seeds of each half
are resampled, and the choice is repeated. Regrets are (gaps, seeds, values), gaps in descending order on common seeds.
"""

import numpy as np

RESAMPLES = 1000


def bootstrap(regrets, rng, resamples=RESAMPLES):
    """The envelope of the sample, then those of its resamples, (1 + resamples, values)."""
    one, two = (_means(half, rng, resamples) for half in (regrets[:, 0::2], regrets[:, 1::2]))
    chosen_by_one = np.take_along_axis(two, one.argmax(1)[:, None], axis=1)[:, 0]
    chosen_by_two = np.take_along_axis(one, two.argmax(1)[:, None], axis=1)[:, 0]
    return (chosen_by_one + chosen_by_two) / 2


def _means(regrets, rng, resamples):
    """Means over the seeds and over resamples of them, (1 + resamples, gaps, values)."""
    n = regrets.shape[1]
    weights = np.concatenate([np.full((1, n), 1.0), rng.multinomial(n, np.full(n, 1 / n), size=resamples)]) / n
    return np.einsum("bn,gnv->bgv", weights, regrets, optimize=True)


def interval(values, level):
    """The sample's value and the percentiles of its resamples, each (...), from an array (1 + resamples, ...)."""
    low, high = np.quantile(values[1:], [(1 - level) / 2, (1 + level) / 2], axis=0)
    return values[0], low, high


def edges(regrets):
    """At which edge of the gaps the mean over all seeds is largest, for each value: "large", "small" or "none"."""
    at = regrets.mean(1).argmax(0)
    return np.where(at == 0, "large", np.where(at == len(regrets) - 1, "small", "none"))


def growth(values, regrets, envelopes, level):
    """The slope of log E against log v, its interval, and the values that it is fitted on.

    At an edge, E is that of one gap alone. So the fit is on values with the maximum inside, or on all if these are less
    than half; `edge` then says where the maximum mostly is.
    """
    values, place = np.asarray(values, dtype=float), edges(regrets)
    inside = place == "none"
    enough = inside.sum() >= max(2, len(values) / 2)
    mostly = "large" if (place == "large").sum() >= (place == "small").sum() else "small"
    used = inside if enough else np.full(len(values), True)
    ends = interval(slopes(values[used], envelopes[:, used]), level)
    return {
        **dict(zip(("slope", "low", "high"), map(float, ends), strict=True)),
        "first": float(values[used][0]),
        "last": float(values[used][-1]),
        "edge": "none" if enough else mostly,
        "inside": float(inside.mean()),
    }


def slopes(values, envelopes):
    """Least-squares slopes of log E against log v, for each row of envelopes; NaN where E is not positive."""
    x = np.log(values) - np.log(values).mean()
    y = np.log(np.where(envelopes > 0, envelopes, np.nan))
    return y @ x / (x @ x)
