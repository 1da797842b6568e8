"""The envelope of regret over gaps, E(v) = max_eps R(v, eps), and the power of v with which it grows.

The maximum of noisy means is too large on average. So the seeds are split into two halves: each half chooses eps, the
mean of the other half is read there, and E is the average of both readings. It is too small on average, if at all,
since no eps has a mean above the maximum. Intervals are percentiles of the bootstrap: the seeds of each half are drawn
anew, and all of this, the choice included, is repeated. Regrets are (gaps, seeds, values), with the gaps in descending
order; gaps share the seeds, so that they are compared in pairs.
"""

import numpy as np

RESAMPLES = 1000


def bootstrap(regrets, rng, resamples=RESAMPLES):
    """The envelope of the sample, then those of its resamples, (1 + resamples, values)."""
    halves = regrets[:, 0::2], regrets[:, 1::2]
    one, two = (_means(half, rng, resamples) for half in halves)
    return (_read(two, one.argmax(1)) + _read(one, two.argmax(1))) / 2


def _means(regrets, rng, resamples):
    """Means over the seeds and over resamples of them, (1 + resamples, gaps, values)."""
    n = regrets.shape[1]
    weights = np.concatenate([np.full((1, n), 1.0), rng.multinomial(n, np.full(n, 1 / n), size=resamples)]) / n
    return np.einsum("bn,gnv->bgv", weights, regrets, optimize=True)


def _read(means, chosen):
    return np.take_along_axis(means, chosen[:, None], axis=1)[:, 0]


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

    An envelope with its maximum at the edge is that of the edge's gap alone. So the fit is on the values whose maximum
    is inside; if these are less than half of the values, it is on all, and `edge` says where the maximum mostly is.
    """
    values, place = np.asarray(values, dtype=float), edges(regrets)
    inside = place == "none"
    enough = inside.sum() >= max(2, len(values) / 2)
    large, small = ((place == name).sum() for name in ("large", "small"))
    used = inside if enough else np.full(len(values), True)
    middle, low, high = interval(slopes(values[used], envelopes[:, used]), level)
    return {
        "slope": float(middle),
        "low": float(low),
        "high": float(high),
        "first": float(values[used][0]),
        "last": float(values[used][-1]),
        "edge": "none" if enough else "large" if large >= small else "small",
        "inside": float(inside.mean()),
    }


def slopes(values, envelopes):
    """Least-squares slopes of log E against log v, for each row of envelopes; NaN where E is not positive."""
    x = np.log(values) - np.log(values).mean()
    y = np.log(np.where(envelopes > 0, envelopes, np.nan))
    return y @ x / (x @ x)
