"""The intervals of a mean that were not chosen, for `coverage.py`: (n, repetitions), level -> low, high."""

import numpy as np
from scipy import special

from befrl.analysis.intervals import clopper_pearson

RESAMPLES = 400


def student(values, level, shift=0.0):
    """Student's interval, around the mean plus a shift."""
    n, centre = len(values), values.mean(0) + shift
    half = special.stdtrit(n - 1, (1 + level) / 2) * values.std(0, ddof=1) / np.sqrt(n)
    return centre - half, centre + half


def johnson(values, level):
    """Student's interval around a mean that is shifted by the skewness: Johnson 1978."""
    return student(values, level, shift=values.std(0) * _skewness(values) / (6 * len(values)))


def hall(values, level):
    """Student's quantiles of a cubic function of t that removes the skewness: Hall 1992."""
    n, mean, skewness = len(values), values.mean(0), _skewness(values)
    skewness = np.where(np.abs(skewness) < 1e-6, 1e-6, skewness)  # avoids a division by zero
    quantile = special.stdtrit(n - 1, (1 + level) / 2) / np.sqrt(n)

    def end(x):
        cubic = 3 / skewness * (np.cbrt(1 + skewness * (x - skewness / (6 * n))) - 1)
        return mean - values.std(0, ddof=1) * cubic

    return end(quantile), end(-quantile)


def split(values, failed, most, level):
    """Three intervals at once: the share of failures (exact), the mean of the others and that of the failures."""
    n, count, part = len(values), failed.sum(0), (2 + level) / 3
    share = clopper_pearson(count, n, part)
    (low_good, high_good), (low_bad, high_bad) = (_part(values, which, most, part) for which in (~failed, failed))
    low = np.minimum(*((1 - q) * low_good + q * low_bad for q in share))
    return low, np.maximum(*((1 - q) * high_good + q * high_bad for q in share))


class Resamples:
    """Bootstrap resamples of (n, repetitions) values, and the intervals made of them."""

    def __init__(self, values, rng):
        n = len(values)
        weights = rng.multinomial(n, np.full(n, 1.0 / n), size=RESAMPLES) / n
        self.mean, self.sd = values.mean(0), values.std(0)
        centred = values - self.mean
        means = weights @ centred
        # A resample of each value once has exactly their mean; `bca` counts such ties, so rounding is removed.
        rounding = 1e-12 * self.sd + 1e-14 * np.abs(self.mean)
        self.means = np.where(np.abs(means) <= rounding, 0.0, means)
        variances = weights @ centred**2 - self.means**2
        spread = variances > 1e-12 * self.sd**2
        # A resample of one value alone has no spread; the ratio is 0 if it is at the mean.
        alone = np.where(self.means == 0, 0.0, np.copysign(np.inf, self.means))
        self.ratios = np.where(spread, self.means / np.sqrt(np.where(spread, variances, 1.0)), alone)
        self.acceleration = _skewness(values) / (6 * np.sqrt(n))
        self.means.sort(axis=0)
        self.ratios.sort(axis=0)

    def percentile(self, level):
        low, high = (_at(self.means, p) for p in ((1 - level) / 2, (1 + level) / 2))
        return self.mean + low, self.mean + high

    def student(self, level):
        """Bootstrap-t: quantiles of the resampled mean divided by the resampled standard deviation."""
        low, high = (_at(self.ratios, p) for p in ((1 + level) / 2, (1 - level) / 2))
        sd = np.where(self.sd > 0, self.sd, 1.0)
        return self.mean - low * sd, self.mean - high * sd

    def bca(self, level):
        """Percentiles that are corrected for bias and for skewness (acceleration): Efron 1987."""
        below = ((self.means < 0).mean(0) + (self.means <= 0).mean(0)) / 2
        bias = special.ndtri(np.clip(below, 1 / RESAMPLES, 1 - 1 / RESAMPLES))

        def end(p):
            z = bias + special.ndtri(p)
            return _at(self.means, special.ndtr(bias + z / np.maximum(1 - self.acceleration * z, 1e-3)))

        return self.mean + end((1 - level) / 2), self.mean + end((1 + level) / 2)


def sign_flips(values, mean, rng):
    """P-value of this mean by random signs of the values minus it; exact for values that are symmetric about it."""
    centred = values - mean
    signs = rng.integers(0, 2, (RESAMPLES - 1, len(values))) * 2.0 - 1
    larger = (np.abs(signs @ centred) >= np.abs(centred.sum(0)) * (1 - 1e-12)).sum(0)
    return (1 + larger) / RESAMPLES


def _skewness(values):
    centred, sd = values - values.mean(0), values.std(0)
    return (centred * centred * centred).mean(0) / np.where(sd > 0, sd, 1.0) ** 3


def _part(values, which, most, level):
    """Student's interval of the mean of the values `which`; 0 to `most` for fewer than two values."""
    n = which.sum(0)
    enough, kept = n > 1, np.where(which, values, 0.0)
    mean = kept.sum(0) / np.maximum(n, 1)
    squares = (np.where(which, values - mean, 0.0) ** 2).sum(0)
    half = special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * np.sqrt(squares / np.maximum(n * (n - 1.0), 1))
    return np.where(enough, np.maximum(mean - half, 0.0), 0.0), np.where(enough, np.minimum(mean + half, most), most)


def _at(ordered, p):
    """The p-quantile of each ordered column; p is one number, or one for each column."""
    place = np.clip(np.ceil(np.asarray(p) * len(ordered)).astype(int) - 1, 0, len(ordered) - 1)
    return np.take_along_axis(ordered, np.broadcast_to(place, ordered.shape[1])[None], axis=0)[0]
