"""The Jacobi-Anger expansion for families on the circle: deterministic, and accurate to rounding with few terms.

Where |psi| = 1, as in the von Mises family, psi(s') = (cos t, sin t), v = kappa (cos mu, sin mu) and

    exp(psi.v) = exp(kappa cos(t - mu)) = I_0(kappa) + 2 sum_m I_m(kappa) (cos(m mu) cos(m t) + sin(m mu) sin(m t)).

D features are the terms up to M = (D - 1)/2, rounded down. I_m falls faster than geometrically beyond m = kappa.
"""

import numpy as np
from scipy.special import i0e, ive

from befrl.common.errors import Refused
from befrl.planning.planners import base


class Planner(base.LowRank):
    def __init__(self, model, n, features, normals):
        super().__init__(model, n, features, normals)
        psi = model.family.psi
        if model.family.p != 2 or not np.allclose(np.square(psi).sum(-1), 1.0, rtol=0, atol=1e-12):
            raise Refused(
                f"planner 'jacobi-anger' cannot plan in the family {type(model.family).__name__}, p = "
                f"{model.family.p}: psi(s') must lie on the unit circle of R^2, as in the instance 'circle'"
            )
        self.M = (features - 1) // 2
        right, self.top = self.integrate(self._waves(np.arctan2(psi[:, 1], psi[:, 0])), np.zeros(len(psi)))
        self.right = right[None]

    def _waves(self, angle):
        """1, cos(m t), sin(m t), (...,) -> (..., 2 M + 1)."""
        turns = angle[..., None] * np.arange(1, self.M + 1)
        return np.concatenate([np.ones((*angle.shape, 1)), np.cos(turns), np.sin(turns)], axis=-1)

    def factors(self, v):
        kappa = np.hypot(v[..., 0], v[..., 1])
        I = scaled_bessel(kappa, self.M)
        left = self._waves(np.arctan2(v[..., 1], v[..., 0]))
        left *= np.concatenate([I[..., :1], 2 * I[..., 1:], 2 * I[..., 1:]], axis=-1)
        return left, self.right, kappa - self.model.family.log_partition(v) + self.top


def scaled_bessel(z, M):
    """e^-z I_m(z) for m = 0, ..., M, z >= 0, (...,) -> (..., M + 1), by ratios I_m/I_(m-1): stable downwards in m."""
    I = np.empty((M + 1, *z.shape))
    last, beyond = ive(M, z), ive(M + 1, z)
    tiny = last < 1e-290  # where I_M underflows, the ratio for small z is used
    ratio = np.where(tiny, z / (2 * M + 2), beyond / np.where(tiny, 1.0, last))
    for m in range(M, 0, -1):
        ratio = I[m] = z / (2 * m + z * ratio)
    I[0] = i0e(z)
    return np.moveaxis(np.cumprod(I, axis=0), 0, -1)
