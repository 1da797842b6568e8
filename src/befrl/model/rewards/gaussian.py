"""Gaussian rewards: r ~ N(sd^2 c, sd^2), which has the base measure N(0, sd^2) and is unbounded."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from befrl.model.rewards.base import RewardLaw


@dataclass(frozen=True)
class Law(RewardLaw):
    sd: float = 1.0
    bounded = False
    self_concordance = 0.0

    @property
    def variance_bound(self):
        return self.sd**2

    def log_partition(self, c):
        return self.sd**2 * np.square(c) / 2

    def mean(self, c):
        return self.sd**2 * np.asarray(c, dtype=float)

    def variance(self, c):
        return np.full(np.shape(c), self.sd**2)

    def natural(self, mean):
        return np.asarray(mean, dtype=float) / self.sd**2

    def quantile(self, c, u):
        return self.mean(c) + self.sd * ndtri(u)

    def variance_range(self, radius):
        return self.sd**2, self.sd**2
