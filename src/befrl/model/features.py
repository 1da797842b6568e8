"""The feature matrices U(s,a) = [A_1 phi(s,a), ..., A_d phi(s,a)], p x d, stored by blocks.

theta is cut into blocks of m numbers, and each (anchor, action) uses one of them, through a p x m matrix. One-hot
features have one block per (anchor, action), with U = I; dense ones a single block, m = d. Shapes: N anchors, A
actions, n seeds; vectors of R^d are (n, d), symmetric d x d matrices (n, blocks, m, m).
"""

from functools import cached_property

import numpy as np

from befrl.common.errors import InputError
from befrl.numerics import linalg


class WrongShape(InputError):
    """A feature map or a matrix has the wrong shape; the message names the (s,a) or the A_i."""


class SingularDesign(InputError):
    """The A_i are linearly dependent, so that their parameters are not identifiable."""


class Features:
    """U (N, A, p, m), the block (N, A) that each (anchor, action) uses, and trace (blocks, m, m): bold A by block."""

    def __init__(self, U, block, trace):
        self.U = np.asarray(U, dtype=float)
        self.block = np.asarray(block)
        self.trace = np.asarray(trace, dtype=float)  # bold A = (tr A_i A_j')
        if self.U.ndim != 4 or self.trace.shape[1:] != (self.U.shape[-1],) * 2 or self.block.shape != self.U.shape[:2]:
            needed = "(states, actions, p, m), (states, actions) and (blocks, m, m)"
            shapes = f"{self.U.shape}, {self.block.shape} and {self.trace.shape}"
            raise WrongShape(f"U, block and trace have shapes {shapes}, they must have {needed}")
        self.n_anchors, self.n_actions, self.p, self.m = self.U.shape
        self.n_blocks = len(self.trace)
        self.d = self.n_blocks * self.m
        self._one_block_each = np.array_equal(self.block.ravel(), np.arange(self.n_blocks))
        self._identity = self.p == self.m and bool(np.all(self.U == np.eye(self.p)))
        self._unit_trace = bool(np.all(self.trace == np.eye(self.m)))
        self.orthonormal = self._identity and self._one_block_each and self._unit_trace  # designs are diagonal

    @classmethod
    def one_hot(cls, n_anchors, n_actions, p):
        """phi = one-hot(anchor, action) and A_i all p x q unit matrices: U = I on block (anchor, action)."""
        blocks = n_anchors * n_actions
        U = np.broadcast_to(np.eye(p), (n_anchors, n_actions, p, p))
        block = np.arange(blocks).reshape(n_anchors, n_actions)
        return cls(U, block, np.broadcast_to(np.eye(p), (blocks, p, p)))

    @classmethod
    def dense(cls, phi, A):
        """General features: phi (N, A, q), as an array or nested lists, and matrices A (d, p, q)."""
        phi, A = table_of(phi), _matrices(A)
        q, columns = phi.shape[-1], A.shape[-1]
        if q != columns:
            raise WrongShape(f"phi has {q} components at (s, a) = (0, 0), but A_1 has {columns} columns")
        U, trace = np.einsum("ipq,xaq->xapi", A, phi), np.einsum("ipq,jpq->ij", A, A)
        features = cls(U, np.zeros(phi.shape[:2], dtype=int), trace[None])
        features.A = A
        return features

    def on(self, phi):
        """The same matrices A_i with other features phi, (N', A, q); dense features only."""
        return Features.dense(phi, self.A)

    def matrix(self, theta):
        """M_theta = sum_i theta_i A_i for one theta (d,), (p, q); dense features only."""
        return np.tensordot(theta, self.A, axes=1)

    @cached_property
    def gram(self):
        """G_{s,a} = U'U within its block, (N, A, m, m)."""
        return self.U if self._identity else np.swapaxes(self.U, -1, -2) @ self.U

    def local(self, blocks):
        """The block of each (anchor, action), (n, blocks, ...) -> (n, N, A, ...)."""
        if self._one_block_each:
            return blocks.reshape(len(blocks), self.n_anchors, self.n_actions, *blocks.shape[2:])
        return blocks[:, self.block]

    def gather(self, local):
        """The sum over the (anchor, action) of each block, (n, N, A, ...) -> (n, blocks, ...)."""
        flat = local.reshape(len(local), self.n_anchors * self.n_actions, *local.shape[3:])
        if self._one_block_each:
            return flat
        order = np.argsort(self.block.ravel(), kind="stable")
        touched, starts = np.unique(self.block.ravel()[order], return_index=True)
        blocks = np.zeros((len(local), self.n_blocks, *local.shape[3:]))
        blocks[:, touched] = np.add.reduceat(flat[:, order], starts, axis=1)
        return blocks

    def natural(self, theta):
        """The natural parameter U theta, (n, d) -> (n, N, A, p)."""
        local = self.local(theta.reshape(len(theta), self.n_blocks, self.m))
        return local if self._identity else (self.U * local[..., None, :]).sum(-1)

    def pull(self, vectors):
        """The sum over (anchor, action) of U' v, (n, N, A, p) -> (n, d)."""
        local = vectors if self._identity else (self.U * vectors[..., None]).sum(-2)
        return self.gather(local).reshape(len(vectors), self.d)

    def sandwich(self, matrices, diagonal=False):
        """The sum over (anchor, action) of U' C U, (n, N, A, p, p) -> (n, blocks, m, m); `diagonal` if all C are."""
        if self._identity:
            return self.gather(matrices)
        if self.n_blocks == 1:
            rows = self.U.reshape(-1, self.m)
            return (rows.T @ (matrices @ self.U).reshape(len(matrices), -1, self.m))[:, None]
        return self.gather(np.swapaxes(self.U, -1, -2) @ matrices @ self.U)

    def design(self, counts):
        """The sum over visits of G_{s,a}, (n, N, A) -> (n, blocks, m, m), or (n, d, 1, 1) if it is diagonal."""
        if self.orthonormal:
            return np.repeat(counts.reshape(len(counts), -1), self.m, axis=1)[..., None, None]
        if self.n_blocks == 1:
            flat = self.gram.reshape(-1, self.m * self.m)
            return (counts.reshape(len(counts), 1, -1) @ flat).reshape(-1, 1, self.m, self.m)
        return self.gather(counts[..., None, None] * self.gram)

    def plus_trace(self, blocks, weight):
        """A matrix plus weight times bold A, with one weight or one for each row."""
        weight = np.reshape(weight, (-1, 1, 1, 1))
        if blocks.shape[-1] < self.m:
            return blocks + weight
        if not self._unit_trace:
            return blocks + weight * self.trace
        grown = blocks.copy(order="K")
        for i in range(self.m):
            grown[..., i, i] += weight[..., 0, 0]
        return grown

    def log_det_trace(self):
        """log det of bold A."""
        return float(linalg.log_determinant(linalg.cholesky(self.trace[None]))[0])

    def trace_norm(self, theta):
        """|theta|_A for one theta (d,)."""
        return float(np.sqrt(linalg.quadratic(self.trace[None], theta[None])[0]))

    def penalty_gradient(self, theta):
        """bold A theta, (n, d)."""
        return theta if self._unit_trace else linalg.product(self.trace[None], theta)

    def spread(self, matrix):
        """U matrix^-1 U' of each (anchor, action), (n, N, A, p, p)."""
        if matrix.shape[-1] < self.m:
            variances = 1.0 / matrix.reshape(len(matrix), self.n_anchors, self.n_actions, self.m)
            return variances[..., None] * np.eye(self.m)
        inverse = linalg.inverse(linalg.cholesky(matrix))
        local = inverse[:, :, None] if self.n_blocks == 1 and not self._identity else self.local(inverse)
        if not self._identity:
            local = local @ np.swapaxes(self.U, -1, -2)
        if self.m == 1 and self.p == 1:
            return local * local
        return np.swapaxes(local, -1, -2) @ local

    def norms(self, matrix):
        """tr(U matrix^-1 U') of each (anchor, action), (n, N, A)."""
        if matrix.shape[-1] < self.m:
            return (1.0 / matrix).reshape(len(matrix), self.n_anchors, self.n_actions, self.m).sum(-1)
        return np.trace(self.spread(matrix), axis1=-2, axis2=-1)

    def bound(self):
        """sup over (anchor, action) of the operator norm of A^-1 G_{s,a}."""
        if self.orthonormal:
            return 1.0
        _check_independent(self.trace)
        return float(np.linalg.norm(np.linalg.solve(self.trace[self.block], self.gram), ord=2, axis=(-2, -1)).max())


def table_of(phi):
    """phi as an array (N, A, q); raise at the first (s,a) whose length differs from that of (0, 0)."""
    if isinstance(phi, np.ndarray) and phi.ndim == 3:
        return phi.astype(float)
    try:
        q = len(phi[0][0])
        for s, row in enumerate(phi):
            if len(row) != len(phi[0]):
                raise WrongShape(f"phi has {len(row)} actions at s = {s}, but {len(phi[0])} at s = 0")
            for a, vector in enumerate(row):
                if np.shape(vector) != (q,):
                    raise WrongShape(f"phi at (s, a) = ({s}, {a}) has shape {np.shape(vector)}, it must have ({q},)")
    except TypeError:
        raise WrongShape(f"phi has shape {np.shape(phi)}, it must have (states, actions, q)") from None
    return np.array(phi, dtype=float)


def _matrices(A):
    for i, matrix in enumerate(A):
        if np.ndim(matrix) != 2 or np.shape(matrix) != np.shape(A[0]):
            raise WrongShape(f"A_{i + 1} has shape {np.shape(matrix)}, it must be a matrix of the shape of A_1")
    return np.array(A, dtype=float)


def _check_independent(trace):
    for block, values in enumerate(trace):
        if not np.all(np.isfinite(values)):
            return
        eigenvalues, vectors = np.linalg.eigh(values)
        if eigenvalues[0] <= 1e-12 * np.abs(values).max():
            # Name the last one that takes part, so that rounding does not decide.
            part = np.flatnonzero(np.abs(vectors[:, 0]) > 1e-6)
            i = block * len(values) + int(part[-1]) + 1
            why = f"A_{i} is a combination of the others, so that (tr A_i A_j') is singular; drop it"
            raise SingularDesign(f"the matrices A_i are linearly dependent: {why}")
