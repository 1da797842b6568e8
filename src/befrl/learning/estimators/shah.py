"""The convex loss of Shah, Shah and Wornell (NeurIPS 2021), conditional on (s,a), which does not contain Z.

    L(theta) = sum_t exp( -theta . U_t' (psi(s'_t) - E_0 psi) ) + eta/2 |theta|_A^2,   E_0 under the base law of (s,a).

The mean gradient of a term vanishes at theta*, so that the estimate is consistent at rate 1/n in KL. The sum over t is
kept in a table (n, N, A, G) on the nodes of s'. At theta* the Hessian is exp(-KL(p_0, p_theta*)) times that at zero,
while the terms vary by exp(|theta . T|): for sharp laws the penalty and the few largest terms dominate until n is of
order exp(KL), which is out of reach on `chain` and `literal` with their defaults.

**Deviations.** The source has no base measure and centres psi by the uniform law on a bounded support. Here psi is
centred by the base measure, since with any other law theta* is not the limit; this admits R^m too. The source minimises
over a ball of known radius; here the penalty keeps theta finite, and steps are limited (`base.TrustRegion`).
"""

import numpy as np

from befrl.learning.data import Visits
from befrl.learning.estimators import base
from befrl.learning.node_table import NodeTable
from befrl.numerics import linalg

# A block of theta stops at a squared Newton decrement of DECREMENT; after ROUNDS rounds the next episode continues.
ROUNDS, DECREMENT = 12, 1e-9
STEEPEST = 600.0  # cap of exponents at trial points: finite, but too large to be accepted


class Estimator(base.Estimator):
    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        self.table, self.trust = NodeTable(model, n, "shah"), base.TrustRegion(model)

    def loss(self, theta):
        """L (n, blocks), gradient (n, d) and Hessian blocks; L is the sum over the blocks."""
        features, space = self.model.features, self.model.space
        exponent = self.table.exponent(-features.natural(theta))
        total, first, second = self.table.sums(np.minimum(exponent, STEEPEST, out=exponent))
        pull = self.eta[:, None] * features.penalty_gradient(theta)
        size = 0.5 * (theta * pull).reshape(self.n, self.trust.n_blocks, -1).sum(-1)
        # Interpolation weights have both signs: where a sum of exponentials is negative, theta is too steep for them.
        by_cell = total.reshape(self.n, space.n_cells, space.per_cell, -1).sum(2)
        by_cell = np.where(by_cell >= -1e-9, by_cell, np.inf)
        value = self.by_block(np.repeat(by_cell / space.per_cell, space.per_cell, axis=1)) + size
        return value, pull - features.pull(first), features.plus_trace(features.sandwich(second), self.eta)

    def by_block(self, values):
        """Sums over the (anchor, action) of each block, (n, N, A) -> (n, blocks)."""
        return values.sum((1, 2))[:, None] if self.trust.n_blocks == 1 else self.model.features.gather(values)

    def update(self, data, trajectory):
        visits = Visits(self.model, trajectory)
        self.table.add(visits.where, visits.weights, trajectory.next_states)
        theta, parts = self.theta, self.loss(self.theta)
        # L(0) is the number of terms. From a worse estimate Newton's method takes too many steps.
        worse = parts[0] > self.by_block(data.counts) + 1e-9
        if worse.any():
            zero = np.zeros_like(theta)
            theta, parts = _choose(worse, (zero, self.loss(zero)), (theta, parts))
        length = np.ones(worse.shape)
        for _ in range(ROUNDS):
            direction = linalg.solve(parts[2], parts[1])
            moving = np.abs((direction * parts[1]).reshape(*length.shape, -1).sum(-1)) > DECREMENT
            if not moving.any():
                break
            step = self.trust.limit(direction).reshape(*length.shape, -1)
            trial = theta - (length[..., None] * step).reshape(theta.shape)
            new = self.loss(trial)
            lower = new[0] <= parts[0]
            theta, parts = _choose(moving & lower, (trial, new), (theta, parts))
            length = np.where(lower, 1.0, 0.25 * length)
        self.theta = theta
        return self.theta


def _choose(where, one, other):
    """theta and the parts of its loss, for each block from `one` where `where` (n, blocks), else from `other`."""
    each = np.repeat(where, one[0].shape[1] // where.shape[1], axis=1)
    theta = np.where(each, one[0], other[0])
    value, gradient, hessian = zip(one[1], other[1], strict=True)
    return theta, (np.where(where, *value), np.where(each, *gradient), np.where(where[..., None, None], *hessian))
