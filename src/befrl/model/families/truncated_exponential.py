"""The truncated-exponential family on [0, 1]: psi(s') = s' under Lebesgue measure, in closed form.

    Z(c) = log((e^c - 1)/c),   E s' = 1/(1 - e^-c) - 1/c,   Var s' = 1/c^2 - 1/(4 sinh^2(c/2)),
    CDF  = (e^(c x) - 1)/(e^c - 1)

The same law as that of the truncated-exponential rewards; its tails and series live there.
"""

import numpy as np

from befrl.model.families.base import ContinuousFamily
from befrl.model.rewards import TruncatedExponential


class TruncatedExponentialStates(ContinuousFamily):
    """p = 1; the methods of `Family` in closed form, but for the partial means, which are taken by quadrature."""

    law = TruncatedExponential()

    def statistic(self, s):
        return np.asarray(s)[..., None]

    def log_partition(self, natural):
        return self.law.log_partition(natural[..., 0])

    def moments(self, natural):
        c = natural[..., 0]
        return self.law.log_partition(c), self.law.mean(c)[..., None], self.law.variance(c)[..., None, None]

    def kernel(self, natural):
        """Differences of the CDF; for c > 0 that of the mirror image -c, whose exponentials do not overflow."""
        c = natural[..., 0]
        size = np.maximum(np.abs(c), 1e-200)  # at zero the ratio is the uniform law to the last bit
        edges = self.space.edges[:, None, None, None]
        cdf = np.expm1(-size * edges) / np.expm1(-size)
        mass = cdf[1:] - cdf[:-1]
        return np.moveaxis(np.where(c > 0, mass[::-1], mass), 0, -1)

    def sampler(self, natural):
        c = natural[..., 0]

        def draw(cell, action, u):
            return self.law.quantile(c[cell, action], u)

        return draw
