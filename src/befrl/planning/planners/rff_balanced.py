"""Random Fourier features of a centred and balanced product, which writes the same P with smaller factors.

`rff` is applied to exp(x.y) with psi.v = x.y + m.v + u.(psi - m), x = (v - u)/c, y = c (psi - m). An error of k is
multiplied by at most e^E, E convex in c^2:

    E = max_{s,a} (|x|^2/2 + m.v - Z) + max_{s'} (|y|^2/2 + u.(psi - m) + b).

m is the middle of the range of psi. c and u, zero or the middle of the range of v, minimise E on a grid, for each plan.
"""

import numpy as np

from befrl.planning.planners import rff
from befrl.planning.planners.rff import half_square

# Factors of the c^2 = |v - u|/|psi - m| that balances both sides where there is no base measure.
GRID = np.geomspace(1 / 32, 32, 21)


def middle(x):
    """The middle of the range of x, (..., m, p) -> (..., 1, p)."""
    return 0.5 * (x.max(-2, keepdims=True) + x.min(-2, keepdims=True))


class Planner(rff.Planner):
    def factors(self, v):
        family, (n, N, A, p) = self.model.family, v.shape
        rows = v.reshape(n, N * A, p)
        m = middle(family.psi)
        log_mass = (rows @ m[0]).reshape(n, N, A) - family.log_partition(v)
        y = family.psi - m
        c, u = self._balance(rows, y, log_mass.reshape(n, N * A))
        tilt = (y @ u.swapaxes(1, 2))[..., 0]
        y = c[:, None, None] * y
        right, top = self.columns(y, half_square(y) + tilt)
        x = ((rows - u) / c[:, None, None]).reshape(v.shape)
        return self.left(x), right, half_square(x) + log_mass + top[:, None, None]

    def _balance(self, v, y, log_mass):
        """c (n,) and u (n, 1, p) for v (n, N A, p) and y (G, p)."""
        log_base = self.model.family.log_base.max((0, 1))
        least = np.full(len(v), np.inf)
        best_c, best_u = np.ones(len(v)), np.zeros((len(v), 1, v.shape[-1]))
        for u in (np.zeros_like(best_u), middle(v)):
            left, right = half_square(v - u), half_square(y)
            even = np.sqrt(left.max(-1) / right.max())
            even = np.where(even > 0, even, 1.0)  # with theta = 0 all v are zero, and any c works
            fixed = (y @ u.swapaxes(1, 2))[..., 0] + log_base
            for factor in GRID:
                square = (factor * even)[:, None]
                E = (left / square + log_mass).max(-1) + (square * right + fixed).max(-1)
                better = E < least
                least = np.where(better, E, least)
                best_c = np.where(better, np.sqrt(square[:, 0]), best_c)
                best_u = np.where(better[:, None, None], u, best_u)
        return best_c, best_u
