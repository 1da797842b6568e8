"""The feature matrices U(s,a) = [A_1 phi(s,a), ..., A_d phi(s,a)], p x d, in block form.

theta is cut into blocks of m numbers and each (cell, action) touches one block only, through a p x m matrix:
one-hot features have one block per (cell, action), dense features have a single block with m = d. All design
matrices are then block diagonal, shape (n, blocks, m, m), and one-hot problems never build a d x d matrix.
"""

from functools import cached_property

import numpy as np


class Features:
    """U in blocks.

    U      (N, A, p, m)  the p x m matrix of each (cell, action) within its block
    block  (N, A)        the block that it touches
    trace  (blocks, m, m)  the matrix bold A = (tr A_i A_j') restricted to each block
    """

    def __init__(self, U, block, trace):
        self.U = np.ascontiguousarray(U, dtype=float)
        self.block = np.asarray(block)
        self.trace = np.asarray(trace, dtype=float)
        self.n_cells, self.n_actions, self.p, self.m = self.U.shape
        self.n_blocks = len(self.trace)
        self.d = self.n_blocks * self.m

    @classmethod
    def one_hot(cls, n_cells, n_actions, p):
        """phi = one-hot(cell, action) and A_i all p x q unit matrices: U is the identity on block (cell, action)."""
        blocks = n_cells * n_actions
        U = np.broadcast_to(np.eye(p), (n_cells, n_actions, p, p))
        block = np.arange(blocks).reshape(n_cells, n_actions)
        return cls(U, block, np.broadcast_to(np.eye(p), (blocks, p, p)))

    @classmethod
    def dense(cls, phi, A):
        """Any features: phi (N, A, q) and matrices A (d, p, q)."""
        U = np.einsum("ipq,xaq->xapi", A, phi)
        trace = np.einsum("ipq,jpq->ij", A, A)
        return cls(U, np.zeros(phi.shape[:2], dtype=int), trace[None])

    @cached_property
    def _one_block_each(self):
        return np.array_equal(self.block.ravel(), np.arange(self.n_blocks))

    @cached_property
    def _identity(self):
        return self.p == self.m and bool(np.all(self.U == np.eye(self.p)))

    @cached_property
    def gram(self):
        """G_{s,a} = U'U within its block, (N, A, m, m)."""
        return np.swapaxes(self.U, -1, -2) @ self.U

    def local(self, blocks):
        """What belongs to each (cell, action): (n, blocks, ...) -> (n, N, A, ...)."""
        if self._one_block_each:
            return blocks.reshape(len(blocks), self.n_cells, self.n_actions, *blocks.shape[2:])
        return blocks[:, self.block]

    def gather(self, local):
        """The sum over the (cell, action) of each block: (n, N, A, ...) -> (n, blocks, ...)."""
        flat = local.reshape(len(local), self.n_cells * self.n_actions, *local.shape[3:])
        if self._one_block_each:
            return flat
        order = np.argsort(self.block.ravel(), kind="stable")
        touched, starts = np.unique(self.block.ravel()[order], return_index=True)
        blocks = np.zeros((len(local), self.n_blocks, *local.shape[3:]))
        blocks[:, touched] = np.add.reduceat(flat[:, order], starts, axis=1)
        return blocks

    def split(self, theta):
        """(n, d) -> (n, blocks, m)."""
        return theta.reshape(len(theta), self.n_blocks, self.m)

    def natural(self, theta):
        """The natural parameter U theta: (n, d) -> (n, N, A, p)."""
        local = self.local(self.split(theta))
        if self._identity:
            return local
        return (self.U * local[..., None, :]).sum(-1)

    def pull(self, vectors):
        """sum over (cell, action) of U' v: (n, N, A, p) -> (n, blocks, m)."""
        if self._identity:
            return self.gather(vectors)
        return self.gather((self.U * vectors[..., None]).sum(-2))

    def sandwich(self, matrices):
        """sum over (cell, action) of U' C U: (n, N, A, p, p) -> (n, blocks, m, m)."""
        if self._identity:
            return self.gather(matrices)
        return self.gather(np.swapaxes(self.U, -1, -2) @ matrices @ self.U)

    def design(self, counts):
        """sum over visits of G_{s,a}: (n, N, A) -> (n, blocks, m, m)."""
        return self.gather(counts[..., None, None] * self.gram)

    def reward_vectors(self, B):
        """x_r = U' B within its block, (N, A, m)."""
        return np.einsum("xapm,p->xam", self.U, B)
