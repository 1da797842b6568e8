"""Bernoulli rewards: r in {0, 1} under the counting measure."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from befrl.model.rewards.base import RewardLaw, within_unit


@dataclass(frozen=True)
class Law(RewardLaw):
    def moments(self, c):
        """Z, mean and variance from one exponential."""
        e = np.exp(-np.abs(c))
        far = 1 / (1 + e)
        near = e * far
        return np.maximum(c, 0.0) + np.log1p(e), np.where(c < 0, near, far), near * far

    def log_partition(self, c):
        return self.moments(c)[0]

    def mean(self, c):
        return expit(c)

    def variance(self, c):
        return self.moments(c)[2]

    def natural(self, mean):
        return logit(within_unit(mean))

    def quantile(self, c, u):
        return (u >= expit(-c)).astype(float)

    def variance_range(self, radius):
        return self.variance(radius), 0.25
