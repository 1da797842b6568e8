"""The truncated-exponential family on [0, 1]: psi(s') = s' under Lebesgue measure, in closed form.

Z(c) = log((e^c - 1)/c), E s' = 1/(1 - e^-c) - 1/c, Var s' = 1/c^2 - 1/(4 sinh^2(c/2)), CDF = (e^(c x) - 1)/(e^c - 1).
"""

import numpy as np

from befrl.model.families.base import ContinuousFamily
from befrl.model.rewards import truncated_exponential


class TruncatedExponentialStates(ContinuousFamily):
    """The family with p = 1, in closed form except for the partial means, which are computed by quadrature."""

    law = truncated_exponential.Law()
    covariance_bound, self_concordance = law.variance_bound, law.self_concordance

    def statistic(self, s):
        return np.asarray(s)[..., None]

    def log_partition(self, natural):
        return self.law.log_partition(natural[..., 0])

    def moments(self, natural):
        c = natural[..., 0]
        return self.law.log_partition(c), self.law.mean(c)[..., None], self.law.variance(c)[..., None, None]

    def kernel(self, natural):
        """Differences of the CDF; for c > 0, of its mirror image at -c, whose exponentials do not overflow."""
        c = natural[..., 0]
        size = np.maximum(np.abs(c), 1e-200)  # at c = 0 the ratio is the uniform law to the last bit
        edges = self.space.edges[:, None, None, None]
        cdf = np.expm1(-size * edges) / np.expm1(-size)
        mass = cdf[1:] - cdf[:-1]
        return np.moveaxis(np.where(c > 0, mass[::-1], mass), 0, -1)

    def sampler(self, natural):
        return lambda cell, action, u: self.law.quantile(natural[cell, action, 0], u)
