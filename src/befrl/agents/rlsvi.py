"""RLSVI (Osband, Van Roy, Wen, ICML 2016): value iteration with one draw of each step's regression weights.

    y        = r + max_a x(s',a)' theta~_{h+1}                                                     (Algorithm 1)
    Sigma_h  = ( Phi'Phi/sigma^2 + lambda I )^-1,   theta^_h = Sigma_h Phi'y/sigma^2
    theta~_h ~ N( theta^_h, Sigma_h ),   Q_h = x' theta~_h,   no clipping
    sigma^2  = beta_k = 1/2 S H^3 log(2 H S A k)                                                   (Russo, NeurIPS 2019)

The parameter `lam` is lambda sigma^2: with Lambda_h = Phi'Phi + lam I, theta^_h = Lambda_h^-1 Phi'y and Sigma_h =
sigma^2 Lambda_h^-1, and the prior of a weight is N(0, sigma^2/lam). Shapes: Q_h (n, S, A), S A = D of `regression.py`.

**Deviations.** The paper's own theorem is Bayesian, for a prior over MDPs. The theory's sigma is that of Russo's
worst-case bound for tables, whose noise has the variance beta_k/(n(s,a) + 1), with the estimate of lam = 1.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.shared.regression import LinearAgent, RegressionParameters
from befrl.common.errors import InputError
from befrl.common.parameters import given_or, optional, scale


@dataclass(frozen=True)
class Parameters(RegressionParameters):
    scale: float | str = scale("multiple of the theory's sigma; theory means 1")
    sigma: float | None = optional(0.0, 1e6, "an absolute sigma instead of a multiple")

    def __post_init__(self):
        if self.sigma is not None and self.scale != "theory":
            raise InputError("agent 'rlsvi': set either sigma or scale, not both")


class Agent(LinearAgent):
    def sigma(self, k):
        """The noise scale of episode k, counted from 0, (n,)."""
        d, A, H = self.regression.D, self.problem.model.n_actions, self.problem.horizon
        theory = np.sqrt(0.5 * d / A * H**3 * np.log(2 * H * d * (k + 1)))
        return given_or(self.parameters.sigma, self.parameters.scale * theory)

    def plan(self, k):
        sigma, regression = self.sigma(k)[:, None, None], self.regression
        return self.value_iteration(lambda h, V: regression.mean(h, V) + sigma * regression.noise(h))

    def facts(self):
        last = self.problem.episodes - 1
        return {"d": self.regression.D, "sigma_first": self.sigma(0), "sigma_last": self.sigma(last)}
