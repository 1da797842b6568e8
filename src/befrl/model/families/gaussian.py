"""Gaussian next states on R^m: psi(s') = s'/sigma under the base measure N(0, sigma^2 I), m = 1 or 2.

    s' ~ N(sigma v, sigma^2 I),   Z = |v|^2/2,   E psi = v,   Cov psi = I,   KL = |v - v'|^2/2

Moments and draws are those of R^m. Along an axis each panel of a box has its exact mass, which the quadrature
distributes over its nodes; the outermost panels extend to infinity.
"""

from functools import cached_property, reduce

import numpy as np
from scipy.special import ndtr, ndtri

from befrl.model.families.base import ContinuousFamily, unfold
from befrl.model.spaces import legendre_rule

SMALLEST = 2.0**-54  # uniform numbers may be 0, whose normal quantile is infinite
ROOT_2PI = np.sqrt(2 * np.pi)


class GaussianStates(ContinuousFamily):
    """The Gaussian family, p = m."""

    diagonal = constant_covariance = tails_included = exact_cells = True
    covariance_bound, self_concordance = 1.0, 0.0

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

    def on(self, space):
        """The same laws with the nodes of another box."""
        return GaussianStates(space, self.sigma)

    def masses(self, natural):
        return self._joint([mass for mass, _ in self._factors(natural)]), self.log_partition(natural)

    def kernel_and_partial_means(self, natural):
        factors = self._factors(natural, partial=True)
        joint = [self._joint([factors[j][j == axis] for j in range(self.p)]) for axis in range(self.p)]
        return self._joint([mass for mass, _ in factors]), np.stack(joint, axis=-1)

    def _linear(self, natural, product):
        factors, shape = [_by_rows(mass) for mass, _ in self._factors(natural)], natural.shape[1:-1]
        if self.p == 1:
            return lambda V: unfold(product(V, factors[0]), shape)

        def several(V):
            if V.ndim == 2:
                return unfold(self._sum(factors, V), shape)
            sums = np.stack([self._sum(factors, each) for each in np.moveaxis(V, -1, 0)], axis=1)
            return unfold(sums.swapaxes(1, 2), shape)

        return several

    def value_moments(self, natural):
        factors = [[_by_rows(part) for part in along] for along in self._factors(natural, partial=True)]
        # The masses along all axes (axis = p), then E[x 1(node)] along one of them.
        chosen = [[along[j == axis] for j, along in enumerate(factors)] for axis in (self.p, *range(self.p))]

        def moments(V):
            mean, *products = (self._sum(part, V).reshape(natural.shape[:-1]) for part in chosen)
            return mean, [product - natural[..., axis] * mean for axis, product in enumerate(products)]

        return moments

    def _sum(self, factors, V):
        """The sum over the nodes of V (n, N) times the product of factors (n, rows, nodes of an axis), (n, rows)."""
        if self.p == 1:
            return (factors[0] @ V[..., None])[..., 0]
        order, (first, second) = self.space.order, self.space.shape
        grid = V.reshape(len(V), first, second, order, order).swapaxes(2, 3).reshape(len(V), first * order, -1)
        return np.vecdot(factors[0] @ grid, factors[1])

    def _joint(self, factors):
        """The product over the axes of (..., panels, order): cells first, then the nodes within them."""
        grid = factors[0]
        if len(factors) == 2:
            grid = grid[..., :, None, :, None] * factors[1][..., None, :, None, :]
        return grid.reshape(*factors[0].shape[:-2], -1)

    def _factors(self, natural, partial=False):
        """Masses along each axis, (..., panels, order), and E[x 1(node)], or None; the sums over a panel are exact."""
        return [self._along(axis, natural[..., axis], partial) for axis in range(self.p)]

    @cached_property
    def _panels(self):
        """Of each axis: cuts, centres (panels,), offsets from them (order, panels), weights there, all in sigma."""
        parts = []
        for edges in self.space.edges:
            x, w = legendre_rule(edges / self.sigma, self.space.order)
            centre = 0.5 * (edges[:-1] + edges[1:]) / self.sigma
            offset = np.ascontiguousarray((x - centre[:, None]).T)
            parts.append((edges[1:-1] / self.sigma, centre, offset, np.log(w.T) - 0.5 * np.square(offset)))
        return parts

    def _along(self, axis, mean, partial):
        cuts, centre, offset, log_weight = self._panels[axis]
        # (x - mean)^2 = (x - c)^2 - 2 (x - c)(mean - c) + (mean - c)^2, where the last term is that of the panel.
        gap = mean[..., None] - centre
        logits = [gap * shift + weight for shift, weight in zip(offset, log_weight, strict=True)]
        cuts = cuts - mean[..., None]
        mass = np.diff(ndtr(cuts), prepend=0.0, append=1.0)
        if not partial:
            return spread_within(mass, logits), None
        # E[x 1(a < x < b)] = mean P(a < x < b) + density(a) - density(b), spread over the nodes like the mass.
        within = spread_within(np.ones(mass.shape), logits)
        nodes = within * mass[..., None]
        x = centre[:, None] + offset.T
        heights = np.diff(np.exp(-0.5 * cuts * cuts) / ROOT_2PI, prepend=0.0, append=0.0)
        missing = mean[..., None] * mass - heights - (nodes * x).sum(-1)
        return nodes, nodes * x + within * missing[..., None]

    def quantile(self, natural, u):
        """The inverse CDF for natural (n, p) at u (n,), or (n, m)."""
        z = ndtri(np.maximum(u, SMALLEST))
        return self.sigma * (natural + z if self.space.dim > 1 else natural[:, 0] + z)


def _by_rows(table):
    """(n, ..., panels, order) -> (n, rows, nodes)."""
    return table.reshape(len(table), -1, table.shape[-2] * table.shape[-1])


def spread_within(mass, logits):
    """The mass (..., panels) of panels spread over their nodes in proportion to e^logits, (..., panels, order)."""
    top = reduce(np.maximum, logits)
    nodes, total = np.empty((*mass.shape, len(logits))), np.zeros(mass.shape)
    for node, logit in enumerate(logits):
        logit -= top
        total += np.exp(logit, out=logit)
        nodes[..., node] = logit
    nodes *= (mass / total)[..., None]
    return nodes
