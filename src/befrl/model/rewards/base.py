"""The methods of every reward law. All act elementwise on arrays of c and are stable in the tails and near c = 0."""

from abc import ABC, abstractmethod


class RewardLaw(ABC):
    """A family p(r) = exp(r c - Z(c)) under a base measure."""

    # Whether rewards lie in [0, 1].
    bounded = True

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
