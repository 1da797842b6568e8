"""RRL-MNL (Cho, Hwang, Lee, Oh, NeurIPS 2024): Gaussian noise on values, along the most uncertain feature.

With f of `mnl.py`, and theta and A = B of `mirror_descent.py` with kappa (eq. 2 and 3),

    xi_h^(m)    ~ N(0, sigma^2 A^-1),   m <= M,  for each h;   fhat(s,a) = the f(s,a,s') with the largest |f|_{A^-1}
    Q_h         = min( r + P_theta V_{h+1} + max_m fhat' xi_h^(m), H ),   V_h = max_a Q_h                   (eq. 4)
    M           = ceil(1 - log H/log Phi(1)),   sigma = H alpha_t                            (Theorem 1, Lemma 11)
    alpha_t^2   = 8d/kappa log(1 + t U L_f^2/(d lam)) + 2 sqrt 2 + 2 lam L_theta^2                          (Lemma 1)
                  + (32/3 L_f L_theta + 16/kappa) log((1 + ceil(2 log2(t U L_f L_theta))) t^2/delta)

`scale` multiplies sigma. **Deviations.** Those of `mnl.py`. By default lam is L_f^2 and kappa the lower bound of
`mnl.py`; the authors tuned theirs and do not print them. Q is cut at H as in eq. 4; the proof of Lemma 11 cuts it at
H-h+1. The argument of log2 is at least 1. In track U rewards are not random.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from befrl.agents.shared.mirror_descent import OnlineEstimator
from befrl.agents.shared.mnl import MnlAgent, total
from befrl.agents.shared.planned_rewards import RewardParameters
from befrl.common.parameters import given_or, number, optional, scale
from befrl.numerics.largest_normal import largest_normal


@dataclass(frozen=True)
class Parameters(RewardParameters):
    scale: float | str = scale("multiple of the noise's sigma; theory means 1")
    lam: float | None = optional(1e-6, 1e6, "weight of the penalty; L_f^2 if none", ridge=True)
    kappa: float | None = optional(1e-9, 1.0, "kappa; a lower bound on it if none")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the confidence set")


class Agent(MnlAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        r = self.reachable
        lam, kappa = given_or(parameters.lam, r.L_f**2), given_or(parameters.kappa, r.kappa())
        self.estimator = OnlineEstimator(r, problem.n, lam, kappa=kappa)
        self.samples = int(np.ceil(1 - np.log(problem.horizon) / log_ndtr(1.0)))

    def sigma(self, k):
        """H alpha_t before episode k, counted from 0, (n,)."""
        r, lam, kappa, H = self.reachable, self.estimator.lam, self.estimator.kappa, self.problem.horizon
        size, t = r.L_f * r.L_theta, k * H + 1
        doublings = 1 + np.ceil(2 * np.log2(max(1.0, t * r.U * size)))
        alpha_squared = (
            8 * r.d / kappa * np.log1p(t * r.U * r.L_f**2 / (r.d * lam))
            + (32 / 3 * size + 16 / kappa) * np.log(doublings * t**2 / self.parameters.delta)
            + 2 * np.sqrt(2)
            + 2 * lam * r.L_theta**2
        )
        return self.parameters.scale * H * np.sqrt(alpha_squared)

    def noise(self):
        """max_m fhat' xi_h^(m)/sigma, (n, H, N A)."""
        problem, r, H = self.problem, self.reachable, self.problem.horizon
        turned = r.turned(self.estimator.matrix)
        lengths = total(np.square(turned))
        if r.own_blocks:
            # fhat' xi are independent for all (s,a), and the maximum of M normals is one draw from Phi^M.
            found = np.zeros((problem.n, H, lengths.shape[1]))
            u = problem.uniforms.take(H * len(r.random)).reshape(problem.n, H, -1)
            found[..., r.random] = largest_normal(u, self.samples)
            return found * np.sqrt(lengths.max(-1))[:, None]
        longest = lengths.argmax(-1)[None, ..., None]
        fhat = np.take_along_axis(turned, longest, axis=-1)[..., 0]
        return r.largest(fhat[None], problem.normals, self.samples, H, r.random)

    def plan(self, k):
        kernel, noise = self.kernel(), self.sigma(k)[:, None, None] * self.noise()
        return self.plan_with(noise.swapaxes(0, 1).reshape(self.problem.horizon, *kernel.shape[:3]), kernel)

    def facts(self):
        known = {"lam": self.estimator.lam, "kappa": self.estimator.kappa, "L_f": self.reachable.L_f}
        return known | {"samples": self.samples, "sigma": self.sigma(self.problem.episodes - 1)}
