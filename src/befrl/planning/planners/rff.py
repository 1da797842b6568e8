"""Random Fourier features with all their factors: the paper's planner, corrected so that it estimates P.

With v = U theta and k(x, y) = exp(-|x - y|^2/2), since 2 psi.v = |psi|^2 + |v|^2 - |psi - v|^2,

    exp(psi.v + b - Z) = e^(|psi|^2/2 + b) e^(|v|^2/2 - Z) k(psi, v)
    k(x, y)            = E[f(x) f(y)],   f(x) = sqrt(2) cos(w.x + beta),   w ~ N(0, I), beta uniform on [0, 2 pi]

by Bochner's theorem, with w (n, p, D) and beta (n, 1, D). The estimate of p is unbiased with variance
e^(|psi|^2 + |v|^2 + 2b - 2Z) (1 + k^4/2 - k^2)/D. The paper's count of features takes the exponential for 1. That holds
if a Gaussian base measure cancels |psi|^2/2 and Z is near |v|^2/2; else it grows like e^(|v|^2), and no feasible D
suffices.
"""

import numpy as np
from scipy.special import ndtr

from befrl.planning.planners import base


def half_square(x):
    """|x|^2/2 over the last axis."""
    return 0.5 * np.square(x).sum(-1)


class Planner(base.LowRank):
    def __init__(self, model, n, features, normals):
        super().__init__(model, n, features, normals)
        self.draws = self.draw()
        psi = model.family.psi
        self.right, self.top = self.columns([psi] * n, [self.node_scale(psi)] * n)

    def draw(self):
        """The random arguments of `basis`, with the seed as first axis."""
        p, D = self.model.family.p, self.features
        w = self.normals.take(p * D).reshape(self.n, p, D)
        beta = 2 * np.pi * ndtr(self.normals.take(D)).reshape(self.n, 1, D)
        return w, beta

    def basis(self, x, w, beta):
        """f/sqrt(D), (..., m, p) -> (..., m, D)."""
        return np.sqrt(2 / w.shape[-1]) * np.cos(x @ w + beta)

    def node_scale(self, psi):
        """The logarithm of the factor of k that depends on s', (G,)."""
        return half_square(psi)

    def row_scale(self, v):
        """The logarithm of the factor of k that depends on (s,a), (n, N, A)."""
        return half_square(v) - self.model.family.log_partition(v)

    def columns(self, points, log_scales):
        """right (n, N, D) and its scales (n,), from points (G, p) and scales (G,) of each seed."""
        # One seed at a time: all nodes of all seeds together would not fit into memory.
        parts = [
            self.integrate(self.basis(y, *draws), scale)
            for y, scale, *draws in zip(points, log_scales, *self.draws, strict=True)
        ]
        right, top = zip(*parts, strict=True)
        return np.stack(right), np.array(top)

    def left(self, x):
        n, N, A, p = x.shape
        return self.basis(x.reshape(n, N * A, p), *self.draws).reshape(n, N, A, -1)

    def factors(self, v):
        return self.left(v), self.right, self.row_scale(v) + self.top[:, None, None]
