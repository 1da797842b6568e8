"""Truncated-exponential rewards: r in [0, 1] under Lebesgue measure, the literal reading of the paper's equation."""

from dataclasses import dataclass

import numpy as np

from befrl.model.rewards.base import RewardLaw, within_unit


def _split(c, near):
    """c as an array, whether |c| < near, where a series is used, and |c|, or 1 where it is near."""
    c = np.asarray(c, dtype=float)
    small = np.abs(c) < near
    return c, small, np.where(small, 1.0, np.abs(c))


@dataclass(frozen=True)
class Law(RewardLaw):
    variance_bound = 1 / 12
    self_concordance = 0.28  # the largest |Z'''|/Z'' is 0.2737, at |c| = 5; `test_likelihood_sets.py` bounds it

    def log_partition(self, c):
        c, small, size = _split(c, 0.1)
        # Z(c) = Z(|c|) + min(c, 0), since the family is symmetric about r = 1/2.
        tail = size + np.log(-np.expm1(-size)) - np.log(size) + np.minimum(c, 0.0)
        q = c * c
        return np.where(small, c / 2 + q * (1 / 24 - q * (1 / 2880 - q / 181440)), tail)

    def mean(self, c):
        c, small, size = _split(c, 0.1)
        tail = 0.5 + np.sign(c) * (0.5 - 1 / size + np.exp(-size) / -np.expm1(-size))
        q = c * c
        return np.where(small, 0.5 + c * (1 / 12 - q * (1 / 720 - q * (1 / 30240 - q / 1209600))), tail)

    def variance(self, c):
        c, small, size = _split(c, 0.2)
        q, tail = c * c, 1 / size**2 - np.exp(-size) / np.expm1(-size) ** 2
        series = 1 / 12 - q * (1 / 240 - q * (1 / 6048 - q * (1 / 172800 - q / 5322240)))
        return np.where(small, series, tail)

    def natural(self, mean):
        mean = within_unit(mean)
        low, high = np.full(mean.shape, -1e4), np.full(mean.shape, 1e4)
        for _ in range(200):
            middle = (low + high) / 2
            above = self.mean(middle) > mean
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return (low + high) / 2

    def quantile(self, c, u):
        c, small, size = _split(c, 1e-9)
        flipped = np.where(c > 0, 1 - u, u)
        # The CDF at -|c| is (1 - e^(-|c| r)) / (1 - e^-|c|); r -> 1 - r turns it into the one at |c|.
        r = -np.log1p(flipped * np.expm1(-size)) / size
        r = np.where(c > 0, 1 - r, r)
        return np.clip(np.where(small, u, r), 0.0, 1.0)

    def variance_range(self, radius):
        return self.variance(radius), 1 / 12
