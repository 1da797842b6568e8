"""The tabular softmax family: psi(s') = one-hot(s') without the reference state 0, p = S - 1.

Cov psi = diag(m) - m m', m = P(s' = 1, ..., S - 1), takes S^2 operations for each (s,a), not S^3 as for a general psi.
"""

from itertools import accumulate

import numpy as np

from befrl.model.families.base import FiniteFamily


class Softmax(FiniteFamily):
    """The softmax family; `log_base` (S, A, S) is 0 on the known support and -inf elsewhere."""

    covariance_bound = 0.5  # x'Cov x is the variance of a number whose range is at most sqrt(2) |x|

    def __init__(self, space, log_base):
        super().__init__(space, np.eye(space.n_cells)[:, 1:], log_base)

    def masses(self, natural):
        """As in `Family`, with next states first in memory: all operations run over contiguous arrays."""
        mass = np.zeros((self.p + 1, *natural.shape[:-1]))
        mass[1:] = np.moveaxis(natural, -1, 0)
        mass += np.moveaxis(self.log_base, -1, 0)[:, None]
        top = mass.max(0)
        mass -= top
        np.exp(mass, out=mass)
        total = mass.sum(0)
        mass /= total
        return np.moveaxis(mass, 0, -1), top + np.log(total)

    def moments(self, natural):
        mass, Z = self.masses(natural)
        m = np.moveaxis(mass, -1, 0)
        cov = m[1:, None] * -m[1:]
        # m (1 - m), with 1 - m as the sum of the other masses: exact for nearly certain transitions too.
        below, above = (list(accumulate(part, np.add)) for part in (m, m[:1:-1]))
        for i in range(self.p):
            others = below[i] + above[-1 - i] if i < self.p - 1 else below[i]
            cov[i, i] = m[i + 1] * others
        return Z, mass[..., 1:], np.moveaxis(cov, (0, 1), (-2, -1))
