"""The methods of every reward law. All act elementwise on arrays of c and are stable in the tails and near c = 0."""

from abc import ABC, abstractmethod

import numpy as np

from befrl.common.errors import InputError


class RewardLaw(ABC):
    """A family p(r) = exp(r c - Z(c)) under a base measure."""

    bounded = True  # whether rewards lie in [0, 1]

    @property
    def variance_bound(self):
        """beta with Z'' <= beta everywhere, infinite if none is known."""
        return 1 / 4 if self.bounded else np.inf

    @property
    def self_concordance(self):
        """M with |Z'''| <= M Z'' everywhere, infinite if none is known; the range of the rewards will do."""
        return 1.0 if self.bounded else np.inf

    @abstractmethod
    def log_partition(self, c):
        """Z(c)."""

    @abstractmethod
    def mean(self, c):
        """Z'(c)."""

    @abstractmethod
    def variance(self, c):
        """Z''(c)."""

    @abstractmethod
    def natural(self, mean):
        """The natural parameter c of a mean."""

    @abstractmethod
    def quantile(self, c, u):
        """The inverse CDF at u."""

    @abstractmethod
    def variance_range(self, radius):
        """The smallest and the largest variance over |c| <= radius."""

    def moments(self, c):
        """Z, mean and variance."""
        return self.log_partition(c), self.mean(c), self.variance(c)


def within_unit(mean):
    """The means as an array; raise unless all are between 0 and 1, where laws on [0, 1] have natural parameters."""
    mean = np.asarray(mean, dtype=float)
    bad = mean[~((mean > 0) & (mean < 1))]
    if bad.size:
        raise InputError(
            f"a mean reward of {bad[0]:g} is not allowed: rewards lie in [0, 1], so that their means are between"
        )
    return mean
