"""ORRL-MNL (Cho, Hwang, Lee, Oh, NeurIPS 2024): noise on values along centred features, and a second-order bonus.

With f of `mnl.py`, fbar(s') = f(s') - E_theta f, and theta, B and beta of `mirror_descent.py` (eq. 5, 6 and 53),

    xi_h^(m) ~ N(0, sigma^2 B^-1),   m <= M, for each h;   xi^s' = the xi^(m) with the largest fbar(s,a,s')' xi^(m)
    nu_h     = sum_s' P_theta(s') fbar(s,a,s')' xi_h^s' + 3 H beta^2 max_s' |f(s,a,s')|^2_{B^-1}
    Q_h      = min( r + P_theta V_{h+1} + nu_h, H ),   V_h = max_a Q_h                                      (eq. 7)
    sigma    = H beta,   M = ceil(1 - log(H U)/log Phi(1))                                            (Theorem 2)

Shapes: nu (n, H, N A). **Deviations.** Those of `mirror_descent.py` and `mnl.py`. In track U rewards are not random.
"""

import numpy as np
from scipy.special import log_ndtr

from befrl.agents.shared.mirror_descent import MirrorAgent, MirrorParameters
from befrl.agents.shared.mnl import total
from befrl.numerics.largest_normal import range_of_normals

Parameters = MirrorParameters


class Agent(MirrorAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        tries = problem.horizon * self.reachable.U
        self.samples = int(np.ceil(1 - np.log(tries) / log_ndtr(1.0)))

    def noise(self, vectors):
        """sum_s' P(s') max_m fbar(s')' xi_h^(m)/sigma, (n, H, N A), for P(s') L^-1 fbar(s') (q, n, N A, R)."""
        problem, r, H = self.problem, self.reachable, self.problem.horizon
        if not r.own_blocks:
            return r.largest(np.moveaxis(vectors, -1, 0), problem.normals, self.samples, H, r.random)
        # With two reachable states P fbar' xi are opposite numbers: their maxima add up to the range of M normals.
        states = r.real.sum(-1).ravel()
        two, others = np.flatnonzero(states == 2), np.flatnonzero(states > 2)
        found = r.largest(np.moveaxis(vectors, -1, 0), problem.normals, self.samples, H, others)
        u = problem.uniforms.take(2 * H * len(two)).reshape(problem.n, 2, H, len(two))
        lengths = np.sqrt(total(np.square(vectors[..., two, 1])))[:, None]
        found[..., two] = lengths * range_of_normals(u[:, 0], u[:, 1], self.samples)
        return found

    def plan(self, k):
        H, beta, kernel = self.problem.horizon, self.radius(k)[:, None, None], self.kernel()
        P, centred, second = self.features(kernel)
        nu = H * beta * self.noise(P * centred) + (3 * H * beta**2) * second[:, None]
        return self.plan_with(nu.swapaxes(0, 1).reshape(H, *kernel.shape[:3]), kernel)

    def facts(self):
        return super().facts() | {"samples": self.samples}
