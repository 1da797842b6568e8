"""The tabular softmax family: psi(s') = one-hot(s') without the reference state 0, p = S - 1.

    Cov psi = diag(m) - m m',   m = P(s' = 1, ..., S - 1),

in S^2 operations for each (s,a) instead of the S^3 of a general psi.
"""

import numpy as np

from befrl.model.families.base import FiniteFamily


class Softmax(FiniteFamily):
    """`log_base` (S, A, S) is 0 on the known support and -inf off it."""

    def __init__(self, space, log_base):
        S = space.n_cells
        super().__init__(space, np.eye(S)[:, 1:], log_base)
        self._others = 1.0 - np.eye(S)

    def moments(self, natural):
        mass, Z = self.masses(natural)
        mean = mass[..., 1:]
        cov = -mean[..., :, None] * mean[..., None, :]
        # m (1 - m), with 1 - m as the sum of the other masses: exact for nearly certain transitions too.
        diagonal = np.arange(self.p)
        cov[..., diagonal, diagonal] = (mass * (mass @ self._others))[..., 1:]
        return Z, mean, cov
