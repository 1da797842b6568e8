"""Interpolation between the kernels of D parameters, for p = 1: deterministic, and accurate to rounding with few nodes.

With D Chebyshev nodes v_j on the range of all numbers v(s,a) = U theta, and Lagrange's polynomials in barycentric form,

    P_v ~ sum_j l_j(v) P_(v_j),   l_j(v) = (q_j/(v - v_j)) / sum_i q_i/(v - v_i),   q_j = (-1)^j sin((j + 1/2) pi/D).

Rows sum to one, and the error falls geometrically once D is large enough. For D < N A a plan is cheaper than exact.
"""

import numpy as np

from befrl.common.errors import Refused
from befrl.planning.planners import base


class Planner(base.LowRank):
    def __init__(self, model, n, features, normals):
        super().__init__(model, n, features, normals)
        if model.family.p != 1 or not self.shared_base:
            raise Refused(
                f"planner 'chebyshev' cannot plan in the family {type(model.family).__name__}, p = {model.family.p}: "
                "psi(s') must be a number and the base measure the same for all (s, a), as in 'chain' and 'literal'"
            )
        angle = (np.arange(features) + 0.5) * np.pi / features
        self.nodes, self.q = np.cos(angle), np.sin(angle) * (-1.0) ** np.arange(features)

    def factors(self, v):
        v = v[..., 0]
        low, high = v.min((1, 2)), v.max((1, 2))
        middle = 0.5 * (low + high)
        reach = np.maximum(0.5 * (high - low), 1e-9)  # with theta = 0 all v are equal, and any range works
        t = (v - middle[:, None, None]) / reach[:, None, None]
        kernels = self.model.family.kernel((middle[:, None] + reach[:, None] * self.nodes)[:, :, None, None])
        return self._lagrange(t), kernels[:, :, 0].swapaxes(1, 2), np.zeros_like(t)

    def _lagrange(self, t):
        """l_j at t in [-1, 1], (...,) -> (..., D)."""
        gap = t[..., None] - self.nodes
        hit = gap == 0
        terms = self.q / np.where(hit, 1.0, gap)
        terms = np.where(hit.any(-1, keepdims=True), hit, terms)  # at a node its own l_j is 1, the others are 0
        return terms / terms.sum(-1, keepdims=True)
