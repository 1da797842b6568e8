"""The von Mises family on the circle: psi(s') = (cos s', sin s') under Lebesgue measure on [-pi, pi].

With kappa = |v|, e = v/kappa and A(kappa) = I_1(kappa)/I_0(kappa):

    Z = log 2 pi I_0(kappa),   E psi = A e,   Cov psi = A' e e' + (A/kappa)(I - e e'),   A' = 1 - A/kappa - A^2.

A' cancels like 1/kappa^2 for large kappa, and A/kappa is 0/0 at zero; series are used in both places.
"""

from functools import cached_property

import numpy as np
from scipy.special import i0e, i1e

from befrl.model.families.base import ContinuousFamily

NEAR, FAR = 0.02, 300.0
HUGE = 1e4  # beyond this |v| the largest psi . v on the nodes may be so far below |v| that all masses underflow


class VonMises(ContinuousFamily):
    """The family with p = 2: moments in closed form, kernels and draws by quadrature."""

    covariance_bound = 0.5  # A/kappa and A' are at most 1/2
    self_concordance = 0.84  # the largest value is 0.8334, at kappa = 2, along v; `test_likelihood_sets.py` bounds it

    def statistic(self, s):
        return np.stack([np.cos(s), np.sin(s)], axis=-1)

    @cached_property
    def _factors(self):
        """psi, 1 and the log weights of the nodes, (4, G)."""
        return np.stack([*self.psi.T, np.ones(len(self.psi)), self.space.log_weights])

    def log_partition(self, natural):
        kappa = _size(natural)
        return np.log(2 * np.pi * i0e(kappa)) + kappa

    def _tilted(self, natural):
        # psi . v <= |v|, which is nearly attained on the nodes unless |v| is huge: no search for the maximum.
        top = _size(natural)
        huge = top > HUGE
        if huge.any():
            top = np.where(huge, self._logits(natural).max(-1), top)
        table = np.concatenate([natural, -top[..., None], np.ones_like(top)[..., None]], axis=-1) @ self._factors
        return np.exp(table, out=table)

    def moments(self, natural):
        # Component by component: numpy is slow on axes of two.
        v, w = natural[..., 0], natural[..., 1]
        kappa = _size(natural)
        scaled = i0e(kappa)
        ratio, slope = concentration(kappa, i1e(kappa) / scaled)
        mean, cov = np.empty(natural.shape), np.empty((*natural.shape, 2))
        mean[..., 0], mean[..., 1] = ratio * v, ratio * w
        # (A' - A/kappa) e e' with e = v/kappa; at zero the difference vanishes.
        excess = (slope - ratio) / np.maximum(kappa, 1e-150) ** 2
        cov[..., 0, 0], cov[..., 1, 1] = excess * (v * v) + ratio, excess * (w * w) + ratio
        cov[..., 0, 1] = cov[..., 1, 0] = excess * (v * w)
        return np.log(2 * np.pi * scaled) + kappa, mean, cov


def _size(natural):
    return np.sqrt(natural[..., 0] * natural[..., 0] + natural[..., 1] * natural[..., 1])


def concentration(kappa, A):
    """A/kappa and A', from A = I_1/I_0 where that is accurate."""
    near, far = kappa < NEAR, kappa > FAR
    k = np.where(near, 1.0, kappa)
    ratio = A / k
    slope = 1.0 - ratio - A * A
    if near.any():
        square = kappa * kappa
        ratio = np.where(near, 0.5 - square / 16 + square**2 / 96, ratio)
        slope = np.where(near, 0.5 - 3 * square / 16 + 5 * square**2 / 96, slope)
    if far.any():
        r = 1.0 / np.where(far, kappa, 1.0)
        slope = np.where(far, r * r * (1 / 2 + r * (1 / 4 + r * (3 / 8 + r * (25 / 32 + r * 65 / 32)))), slope)
    return ratio, slope
