"""Features with all p x q unit matrices A_i = e_r e_j': M_theta is any p x q matrix, d = p q and U = I_p (x) phi'.

The methods are those of `Features`. Here bold A = I, and the design is block diagonal with p equal q x q blocks.
"""

from functools import cached_property

import numpy as np

from befrl.model.features import table_of
from befrl.numerics import linalg


class KroneckerFeatures:
    """phi (N, A, q) with all p x q unit matrices; theta holds the rows of M_theta."""

    def __init__(self, phi, p):
        self.phi = table_of(phi)
        self.n_anchors, self.n_actions, self.q = self.phi.shape
        self.p, self.d = p, p * self.q
        self._rows = self.phi.reshape(-1, self.q)

    def on(self, phi):
        return KroneckerFeatures(phi, self.p)

    def matrix(self, theta):
        return theta.reshape(self.p, self.q)

    @property
    def trace(self):
        return np.broadcast_to(np.eye(self.q), (self.p, self.q, self.q))

    @cached_property
    def U(self):
        """The dense matrices U, (N, A, p, d)."""
        return np.einsum("rs,xaj->xarsj", np.eye(self.p), self.phi).reshape(*self.phi.shape[:2], self.p, self.d)

    def natural(self, theta):
        M = theta.reshape(len(theta), self.p, self.q)
        return (self._rows @ np.swapaxes(M, -1, -2)).reshape(len(theta), self.n_anchors, self.n_actions, self.p)

    def pull(self, vectors):
        flat = vectors.reshape(len(vectors), -1, self.p)
        return (np.swapaxes(flat, -1, -2) @ self._rows).reshape(len(vectors), self.d)

    @cached_property
    def _products(self):
        """The pairs i <= j whose product phi_i phi_j does not vanish everywhere, and the products, (N A, pairs)."""
        i, j = np.triu_indices(self.q)
        products = self._rows[:, i] * self._rows[:, j]
        used = products.any(0)
        return i[used], j[used], np.ascontiguousarray(products[:, used])

    def _weighted(self, weights):
        """The sums over (anchor, action) of w phi phi' for k sets of weights, (n, N, A, k) -> (n, k, q, q)."""
        n, k = len(weights), weights.shape[-1]
        i, j, products = self._products
        sums = np.ascontiguousarray(np.moveaxis(weights.reshape(n, -1, k), -1, 1)) @ products
        whole = np.zeros((n, k, self.q, self.q))
        whole[..., i, j] = sums
        whole[..., j, i] = sums
        return whole

    def sandwich(self, matrices, diagonal=False):
        """The sum of U' C U: (n, p, q, q) if all C are diagonal, else (n, 1, d, d)."""
        n, p, q = len(matrices), self.p, self.q
        if diagonal:
            return self._weighted(np.diagonal(matrices, axis1=-2, axis2=-1))
        r, s = np.triu_indices(p)
        blocks = self._weighted(matrices[..., r, s])
        whole = np.empty((n, p, q, p, q))
        for pair in range(len(r)):
            whole[:, r[pair], :, s[pair]] = whole[:, s[pair], :, r[pair]] = blocks[:, pair]
        return whole.reshape(n, 1, self.d, self.d)

    def design(self, counts):
        """The sum of G_{s,a}: (n, p, q, q) with p equal blocks, stored once."""
        return self._equal(self._weighted(counts[..., None]))

    def _equal(self, block):
        """p times the same block, (n, 1, q, q) -> (n, p, q, q), without a copy."""
        return np.broadcast_to(block, (len(block), self.p, self.q, self.q))

    @staticmethod
    def _are_equal(blocks):
        """Whether the blocks are one, stored once."""
        return blocks.shape[1] > 1 and blocks.strides[1] == 0

    def plus_trace(self, blocks, weight):
        if self._are_equal(blocks):
            return self._equal(self.plus_trace(blocks[:, :1], weight))
        return blocks + np.reshape(weight, (-1, 1, 1, 1)) * np.eye(blocks.shape[-1])

    def log_det_trace(self):
        return 0.0

    def trace_norm(self, theta):
        return float(np.linalg.norm(theta))

    def penalty_gradient(self, theta):
        return theta

    def spread(self, matrix):
        n, p, q = len(matrix), self.p, self.q
        whole = np.zeros((n, self.n_anchors, self.n_actions, p, p))
        if matrix.shape[1] == p:
            for r in range(p):
                whole[..., r, r] = self._along(matrix[:, r])
            return whole
        columns = linalg.inverse(linalg.cholesky(matrix)).reshape(n, self.d, p, q)
        along = [self._rows @ np.swapaxes(columns[:, :, r], -1, -2) for r in range(p)]
        for r, s in np.ndindex(p, p):
            whole[..., r, s] = (along[r] * along[s]).sum(-1).reshape(n, self.n_anchors, self.n_actions)
        return whole

    def norms(self, matrix):
        if self._are_equal(matrix):
            return self.p * self._along(matrix[:, 0])
        return np.trace(self.spread(matrix), axis1=-2, axis2=-1)

    def _along(self, block):
        """phi' block^-1 phi of each (anchor, action), (n, q, q) -> (n, N, A)."""
        scaled = self._rows @ np.swapaxes(linalg.inverse(linalg.cholesky(block)), -1, -2)
        return np.square(scaled, out=scaled).sum(-1).reshape(len(block), self.n_anchors, self.n_actions)

    def bound(self):
        return float(np.square(self.phi).sum(-1).max())
