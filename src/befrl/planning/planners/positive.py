"""Positive random features: exp(psi.v) = E[f(psi) f(v)] with f(x) = exp(w.x - |x|^2/2), w ~ N(0, I).

No estimated probability is negative. The estimate is unbiased with relative variance (e^(|psi + v|^2) - 1)/D: small
only where psi is near -v, and there p has no mass. Its median is far below its mean.
"""

import numpy as np

from befrl.planning.planners import rff
from befrl.planning.planners.rff import half_square


class Planner(rff.Planner):
    def draw(self):
        p, D = self.model.family.p, self.features
        return (self.normals.take(p * D).reshape(self.n, p, D),)

    def basis(self, x, w):
        """f/sqrt(D), which is at most e^(|w|^2/2)/sqrt(D) and needs no scale."""
        return np.exp(x @ w - half_square(x)[..., None]) / np.sqrt(w.shape[-1])

    def node_scale(self, psi):
        return np.zeros(len(psi))

    def row_scale(self, v):
        return -half_square(v) - self.model.family.log_partition(v)

    def factors(self, v):
        """The largest w.v of a row is made part of its scale, so that rows of large v do not vanish."""
        n, N, A, p = v.shape
        (w,) = self.draws
        logs = (v.reshape(n, N * A, p) @ w).reshape(n, N, A, -1)
        top = logs.max(-1)
        left = np.exp(logs - top[..., None]) / np.sqrt(w.shape[-1])
        return left, self.right, top + self.row_scale(v) + self.top[:, None, None]
