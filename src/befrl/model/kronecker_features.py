"""Features with all p x q unit matrices A_i = e_r e_j': M_theta is any p x q matrix, d = p q and U = I_p (x) phi'.

The methods are those of `Features`. Here bold A = I, and the design is block diagonal with p equal q x q blocks; a
Hessian is block diagonal too if the components of psi are uncorrelated.
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

    @cached_property
    def U(self):
        """The dense matrices U, (N, A, p, d), for callers that need them."""
        return np.einsum("rs,xaj->xarsj", np.eye(self.p), self.phi).reshape(*self.phi.shape[:2], self.p, self.d)

    @property
    def trace(self):
        return np.broadcast_to(np.eye(self.q), (self.p, self.q, self.q))

    def natural(self, theta):
        M = theta.reshape(len(theta), self.p, self.q)
        return (self._rows @ np.swapaxes(M, -1, -2)).reshape(len(theta), self.n_anchors, self.n_actions, self.p)

    def pull(self, vectors):
        flat = vectors.reshape(len(vectors), -1, self.p)
        return (np.swapaxes(flat, -1, -2) @ self._rows).reshape(len(vectors), self.d)

    def _weighted(self, weights):
        """The sum over (anchor, action) of w phi phi', (n, N, A) -> (n, q, q)."""
        return self._rows.T @ (weights.reshape(len(weights), -1, 1) * self._rows)

    def sandwich(self, matrices, diagonal=False):
        """The sum of U' C U: (n, p, q, q) if all C are diagonal, else (n, 1, d, d)."""
        n, p, q = len(matrices), self.p, self.q
        if diagonal:
            return np.stack([self._weighted(matrices[..., r, r]) for r in range(p)], axis=1)
        whole = np.empty((n, p, q, p, q))
        for r in range(p):
            for s in range(r + 1):
                whole[:, r, :, s] = self._weighted(matrices[..., r, s])
                whole[:, s, :, r] = whole[:, r, :, s]
        return whole.reshape(n, 1, self.d, self.d)

    def design(self, counts):
        """The sum of G_{s,a}: (n, p, q, q) with p equal blocks."""
        block = self._weighted(counts)
        return np.broadcast_to(block[:, None], (len(counts), self.p, self.q, self.q))

    def plus_trace(self, blocks, weight):
        return blocks + np.reshape(weight, (-1, 1, 1, 1)) * np.eye(blocks.shape[-1])

    def log_det_trace(self):
        return 0.0

    def trace_norm(self, theta):
        return float(np.linalg.norm(theta))

    def penalty_gradient(self, theta):
        return theta

    def spread(self, matrix):
        n, p, q = len(matrix), self.p, self.q
        inverse = linalg.inverse(linalg.cholesky(matrix))
        whole = np.zeros((n, self.n_anchors, self.n_actions, p, p))
        if inverse.shape[1] == p:
            for r in range(p):
                along = self._rows @ np.swapaxes(inverse[:, r], -1, -2)
                whole[..., r, r] = np.square(along).sum(-1).reshape(n, self.n_anchors, self.n_actions)
            return whole
        columns = inverse.reshape(n, self.d, p, q)
        along = [self._rows @ np.swapaxes(columns[:, :, r], -1, -2) for r in range(p)]
        for r in range(p):
            for s in range(p):
                whole[..., r, s] = (along[r] * along[s]).sum(-1).reshape(n, self.n_anchors, self.n_actions)
        return whole

    def norms(self, matrix):
        return np.trace(self.spread(matrix), axis1=-2, axis2=-1)

    def bound(self):
        return float(np.square(self.phi).sum(-1).max())
