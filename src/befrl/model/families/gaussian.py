"""Gaussian next states on R^m: psi(s') = s'/sigma under the base measure N(0, sigma^2 I), m = 1 or 2.

    s' ~ N(sigma v, sigma^2 I),   Z = |v|^2/2,   E psi = v,   Cov psi = I,   KL = |v - v'|^2/2

Moments and draws are those of R^m. The masses of the nodes of a box are products over the axes; along an axis each
panel has its exact mass, by the normal CDF, which the quadrature distributes over the panel's nodes. The outermost
panels go on to infinity, so that nothing is lost where features do not vary any more.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from befrl.model.families.base import ContinuousFamily
from befrl.model.spaces import legendre_rule

# The generator can give u = 0, whose normal quantile is infinite.
SMALLEST = 2.0**-54
ROOT_2PI = np.sqrt(2 * np.pi)


class GaussianStates(ContinuousFamily):
    """p = m."""

    diagonal = True
    constant_covariance = True
    tails_included = True

    def __init__(self, space, sigma):
        self.sigma = sigma
        super().__init__(space)

    def statistic(self, s):
        return (s if self.space.dim > 1 else np.asarray(s)[..., None]) / self.sigma

    def log_base_at(self, s):
        return -0.5 * np.square(self.statistic(s)).sum(-1) - self.space.dim * np.log(self.sigma * ROOT_2PI)

    def log_partition(self, natural):
        return 0.5 * np.square(natural).sum(-1)

    def moments(self, natural):
        return self.log_partition(natural), natural, np.broadcast_to(np.eye(self.p), (*natural.shape, self.p))

    def masses(self, natural):
        mass = [self._along(edges, natural[..., axis])[0] for axis, edges in enumerate(self.space.edges)]
        return self._joint(mass), self.log_partition(natural)

    def kernel_and_partial_means(self, natural):
        along = [self._along(edges, natural[..., axis]) for axis, edges in enumerate(self.space.edges)]
        mass = [m for m, _ in along]
        partial = [self._joint([along[j][j == axis] for j in range(self.p)]) for axis in range(self.p)]
        return self._joint(mass), np.stack(partial, axis=-1)

    def _joint(self, factors):
        """The product over the axes of (..., panels, order): cells first, then the nodes within them."""
        grid = factors[0]
        if len(factors) == 2:
            grid = grid[..., :, None, :, None] * factors[1][..., None, :, None, :]
        return grid.reshape(*factors[0].shape[:-2], -1)

    def _along(self, edges, mean):
        """Masses along one axis, (..., panels, order), and E[x 1(node)]; sums over a panel are exact in both."""
        x, w = legendre_rule(edges, self.space.order)
        x = x / self.sigma
        logits = np.log(w) - 0.5 * np.square(x - mean[..., None, None])
        within = np.exp(logits - logits.max(-1, keepdims=True))
        within /= within.sum(-1, keepdims=True)
        cuts = edges[1:-1] / self.sigma - mean[..., None]
        ends = np.zeros((*mean.shape, 1))
        mass = np.diff(np.concatenate([ends, ndtr(cuts), ends + 1.0], axis=-1))
        heights = np.concatenate([ends, np.exp(-0.5 * cuts * cuts) / ROOT_2PI, ends], axis=-1)
        # E[x 1(a < x < b)] = mean P(a < x < b) + density(a) - density(b), spread over the nodes like the mass.
        missing = mean[..., None] * mass - np.diff(heights) - mass * (within * x).sum(-1)
        nodes = within * mass[..., None]
        return nodes, nodes * x + within * missing[..., None]

    def quantile(self, natural, u):
        """(n, p) and u (n,), or (n, m) -> (n,), or (n, m)."""
        z = ndtri(np.maximum(u, SMALLEST))
        return self.sigma * (natural + z if self.space.dim > 1 else natural[:, 0] + z)
