"""A table (n, N, A, G) of all next states, summed onto the nodes of their space; its size does not grow with the data.

A state between nodes counts on the nodes of its panel with its Lagrange weights, as states do in `data.py`.
"""

import numpy as np

from befrl.common.errors import Refused
from befrl.learning.estimators.base import base_moments
from befrl.model.spaces import lagrange

LARGEST, LARGEST_PRODUCTS = 1 << 20, 1 << 24  # entries per seed (8 MB), and products of psi for all seeds (128 MB)


class NodeTable:
    """`centred` is psi - E_0 psi on the nodes, (N, A, G, p), or (1, 1, G, p) if all (s,a) have one base measure."""

    def __init__(self, model, n, owner):
        self.space, family = model.space, model.family
        size = model.n_anchors * model.n_actions * len(self.space.nodes)
        # In two dimensions cells are coarse, and their few nodes cannot interpolate steep functions of s'.
        if self.space.dim > 1 or size > LARGEST:
            raise Refused(
                f"estimator '{owner}' cannot work with {type(family).__name__} in dimension {self.space.dim} "
                f"with {size} (state, action, next state): it needs dimension 1, and at most {LARGEST} of these"
            )
        laws = family.log_base.shape[0] * family.log_base.shape[1]
        products = laws * len(self.space.nodes) * (1 + family.p + family.p**2)
        if products > LARGEST_PRODUCTS:
            raise Refused(
                f"estimator '{owner}' cannot work with {type(family).__name__} of p = {family.p}: it would keep "
                f"{products} products of psi, and at most {LARGEST_PRODUCTS} are allowed"
            )
        self.values = np.zeros((n, model.n_anchors, model.n_actions, len(self.space.nodes)))
        self.base_mean = base_moments(family)[0]
        self.centred = family.psi - self.base_mean[..., None, :]
        pairs = (self.centred[..., :, None] * self.centred[..., None, :]).reshape(*self.centred.shape[:-1], -1)
        self._powers = np.concatenate([np.ones_like(self.centred[..., :1]), self.centred, pairs], axis=-1)

    def add(self, where, weights, s):
        """Add next states s (...,) at the (seed, anchor, action) numbered `where`: (...,), or (..., k) with weights."""
        nodes, inner = node_weights(self.space, s)
        if weights is not None:
            nodes, inner = nodes[..., None, :], inner[..., None, :] * weights[..., :, None]
        number = where[..., None] * self.values.shape[-1] + nodes
        np.add.at(self.values.reshape(-1), number.ravel(), np.broadcast_to(inner, number.shape).ravel())

    def exponent(self, natural):
        """natural . (psi - E_0 psi) on the nodes, (n, N, A, p) -> (n, N, A, G)."""
        return _per_pair(natural, np.swapaxes(self.centred, -1, -2))

    def sums(self, exponent):
        """Sums over the states of e, e c and e c c' (n, N, A, ...), e = exp(exponent), c = centred; overwrites them."""
        factor = np.exp(exponent, out=exponent)
        factor *= self.values
        sums = _per_pair(factor, self._powers)
        p = self.centred.shape[-1]
        return sums[..., 0], sums[..., 1 : p + 1], sums[..., p + 1 :].reshape(*sums.shape[:-1], p, p)


def _per_pair(rows, matrices):
    """rows (n, N, A, i) times matrices (N, A, i, j), or (1, 1, i, j)."""
    if len(matrices) == 1:
        return (rows.reshape(len(rows), -1, rows.shape[-1]) @ matrices[0, 0]).reshape(*rows.shape[:-1], -1)
    return (rows[..., None, :] @ matrices)[..., 0, :]


def node_weights(space, s):
    """The nodes that states (...,) count on, and their weights, (..., k) each."""
    if space.discrete:
        return s[..., None], np.ones((*s.shape, 1))
    cell = space.cell(s)
    if space.per_cell > 1:
        count, weights = space.per_cell, space.interpolation(s)
    else:
        count = space.nodes_per_cell
        weights = lagrange(2.0 * (s * space.n_cells - cell) - 1.0, count)
    return cell[..., None] * count + np.arange(count), weights
