"""OPT-RLSVI (Zanette, Brandfonbrener, Brunskill, Pirotta, Lazaric, AISTATS 2020): RLSVI with a default value.

    theta^_t = Sigma_t^-1 sum x [ r + V_{t+1}(s') ],   xi_t ~ N(0, sigma^2 Sigma_t^-1),   Sigma_t = lambda I + sum x x'
    Q_t(s,a) = (1 - w) x'(theta^_t + xi_t) + w (H-t+1),   w = clip( (|x|_{Sigma_t^-1} - alpha_L)/alpha_L, 0, 1 )
    sqrt(beta_k)  = c_1 H d sqrt( log(H d k max(1,L_phi) max(1,L_psi) max(1,L_r) lambda/delta) )
    sqrt(nu_k)    = sqrt(beta_k) + sqrt(lambda) L_phi (3 H L_psi + L_r)
    sqrt(gamma_k) = c_2 sqrt( d H nu_k log(d/delta) )
    sigma^2 = H nu_k,   alpha_U = 1/(4 sqrt(gamma_k)),   alpha_L = alpha_U/2,   lambda = 1          (Algorithm 1)

`scale` multiplies sqrt(nu_k), hence sigma, and divides alpha_U. Shapes: Q_t (n, S, A), d = D of `regression.py`.
**Deviations.** w is that of the paper's appendix, with which Q is continuous; Definition 1 has the weights swapped. c_1
= c_2 = 1 (left open), L_phi = 1, L_psi = L_r = sqrt(d) (as in a linear MDP), the misspecification is 0, the logarithm
in beta_k is at least 1. At the theory's alpha_U (2e-5 for d = H = 10, K = 1000) all actions keep the default.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.shared.regression import LinearAgent, RegressionParameters
from befrl.common.errors import InputError
from befrl.common.parameters import given_or, number, optional, scale


@dataclass(frozen=True)
class Parameters(RegressionParameters):
    scale: float | str = scale("multiple of the theory's sqrt(nu_k); theory means 1")
    sigma: float | None = optional(0.0, 1e6, "an absolute sigma instead of a multiple")
    alpha_u: float | None = optional(1e-9, 1e9, "an absolute alpha_U instead of a multiple")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate")

    def __post_init__(self):
        if (self.sigma is not None or self.alpha_u is not None) and self.scale != "theory":
            raise InputError("agent 'opt-rlsvi': set either sigma and alpha_u or scale, not both")


class Agent(LinearAgent):
    def constants(self, k):
        """sigma and alpha_U of episode k, counted from 0, (n,) each."""
        d, H, lam, delta = self.regression.D, self.problem.horizon, self.parameters.lam, self.parameters.delta
        L_phi, L_psi, L_r = 1.0, np.sqrt(d), np.sqrt(d)
        log = np.maximum(1.0, np.log(H * d * (k + 1) * L_psi * L_r * lam / delta))
        root_nu = H * d * np.sqrt(log) + np.sqrt(lam) * L_phi * (3 * H * L_psi + L_r)
        nu = (self.parameters.scale * root_nu) ** 2
        root_gamma = np.sqrt(d * H * nu * np.log(d / delta))
        # For 1/0 any number above all widths 1/sqrt(lambda) serves.
        alpha_U = given_or(self.parameters.alpha_u, 1 / (4 * np.maximum(root_gamma, 1e-12)))
        return given_or(self.parameters.sigma, np.sqrt(H * nu)), alpha_U

    def plan(self, k):
        H, regression = self.problem.horizon, self.regression
        sigma, alpha_U = (part[:, None, None] for part in self.constants(k))
        alpha_L = alpha_U / 2

        def Q(h, V):
            default = np.clip((regression.width(h) - alpha_L) / alpha_L, 0.0, 1.0)
            return (1 - default) * (regression.mean(h, V) + sigma * regression.noise(h)) + default * (H - h)

        return self.value_iteration(Q)

    def facts(self):
        sigma, alpha_U = self.constants(self.problem.episodes - 1)
        return {"d": self.regression.D, "sigma_last": sigma, "alpha_U_last": alpha_U}
