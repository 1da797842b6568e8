"""The laws proportional to e^(v psi) under one base measure, for a number psi, by a separable expansion in v and psi.

With psi = middle + half y, |y| <= 1, z = half v and Chebyshev's polynomials T_k (Abramowitz and Stegun 9.6.34),

    e^(z y) = I_0(z) (1 + 2 sum_k rho_1 ... rho_k T_k(y)),   rho_k = I_k(z)/I_(k-1)(z) = z/(2 k + z rho_(k+1)).

For |z| <= REACH, TERMS terms are accurate to rounding. An expectation is a ratio of two such sums. It loses digits if
the denominator is small, where the base measure has little mass at the extremes of psi; `sound` is false there.
"""

import numpy as np
from scipy.special import i0e

REACH, TERMS = 16.0, 40
SMALLEST = 0.01  # the smallest denominator that is used; it is at most about 1, so that two digits are lost


class Tilts:
    """psi (G,) and the log masses of the base measure on the nodes (G,)."""

    def __init__(self, psi, log_mass):
        low, high = psi.min(), psi.max()
        self.middle, self.half = 0.5 * (high + low), 0.5 * (high - low)
        y = np.clip((psi - self.middle) / max(self.half, 1e-300), -1.0, 1.0)
        self.log_total = np.logaddexp.reduce(log_mass)
        waves = np.cos(np.arccos(y) * np.arange(TERMS + 1)[:, None]) * np.exp(log_mass - self.log_total)
        waves[1:] *= 2.0
        # T_k times the base measure, (TERMS + 1, G), and its sums with 1, y and y^2.
        self.waves = waves
        self.powers = np.stack([waves.sum(-1), waves @ y, waves @ (y * y)])

    def moments(self, v):
        """Z, E psi and Var psi of v (...,), and whether they are sound."""
        z = np.clip(self.half * v, -REACH, REACH)
        ratio = np.zeros(z.shape)
        sums = [np.full(z.shape, power[-1]) for power in self.powers]
        for k in range(TERMS, 0, -1):
            ratio *= z
            ratio += 2.0 * k
            np.divide(z, ratio, out=ratio)
            for total, power in zip(sums, self.powers, strict=True):
                total *= ratio
                total += power[k - 1]
        sound = (np.abs(self.half * v) <= REACH) & (sums[0] >= SMALLEST)
        first = np.where(sound, sums[0], 1.0)
        mean, square = sums[1] / first, sums[2] / first
        Z = np.log(first * i0e(z)) + np.abs(z) + self.middle * v + self.log_total
        return Z, self.middle + self.half * mean, self.half**2 * (square - mean * mean), sound

    def factors(self, v):
        """Factors (..., TERMS + 1) of the laws of v (...,): E V = factors . (waves V), and whether they are sound."""
        z = np.clip(self.half * v, -REACH, REACH)
        products = np.empty((TERMS + 1, *z.shape))
        ratio = np.zeros(z.shape)
        for k in range(TERMS, 0, -1):
            ratio = products[k] = z / (2.0 * k + z * ratio)
        products[0] = 1.0
        np.cumprod(products, axis=0, out=products)
        table = np.ascontiguousarray(np.moveaxis(products, 0, -1))
        total = table @ self.powers[0]
        sound = (np.abs(self.half * v) <= REACH) & (total >= SMALLEST)
        table /= np.where(sound, total, 1.0)[..., None]
        return table, sound
