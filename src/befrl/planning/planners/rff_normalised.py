"""Random Fourier features with rows that sum to one: the features' own estimate of Z instead of the family's.

In P V = sum_i left_i int right_i V / sum_i left_i int right_i the factor e^(|v|^2/2 - Z) of `rff` cancels. The ratio is
consistent, not unbiased, and has heavy tails where the estimated mass comes near zero or is negative.
"""

import numpy as np

from befrl.planning.planners import base, rff


class Planner(rff.Planner):
    def row_scale(self, v):
        return np.zeros(v.shape[:-1])

    def factors(self, v):
        left, right, l = super().factors(v)
        return left, right, np.zeros_like(l)

    def expectation(self, theta_p, horizon):
        expected = super().expectation(theta_p, horizon)
        mass = expected(np.ones((self.n, self.model.n_anchors)))
        mass = np.where(np.abs(mass) < 1 / base.LIMIT, 1 / base.LIMIT, mass)
        return lambda V: expected(V) / mass
