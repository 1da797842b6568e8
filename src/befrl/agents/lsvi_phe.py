"""LSVI-PHE (Ishfaq et al., ICML 2021): the maximum of M regressions on perturbed histories.

    theta~_m = argmin sum ( r + eps_m + V_{h+1}(s') - x'theta )^2 + lambda |theta - xi_m/lambda|^2,   m = 1 .. M,
               with eps_m ~ N(0, sigma^2) for each sample and xi_m ~ N(0, sigma^2 lambda I)
    Q_h      = min( max_m x'theta~_m, H-h+1 )^+,   V_h = max_a Q_h
    lambda = 1,   sigma = H sqrt(d iota),   iota = log(2 d T/delta),   M = d log(delta/9)/log Phi(1)

All targets are perturbed afresh in every episode. The noise sum x eps_m + xi_m has covariance sigma^2 Lambda_h, so that
theta~_m ~ N(theta^_h, sigma^2 Lambda_h^-1) is drawn directly. Shapes: Q_h (n, S, A), d = D of `regression.py`.

**Deviations.** The source's constants are not known. sigma has the order H sqrt d, with the constant 1 and the
logarithm of LSVI-UCB. M has the order d, as Cho et al. (NeurIPS 2024) quote it: a member is optimistic along x with
probability 1 - Phi(1), and 9^d points make a 1/4-net of the directions, so that log(delta/9^d)/log Phi(1) members
suffice. Targets use the current V_{h+1}; a co-author's notebook keeps the old ones, with M = sigma = 1.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from befrl.agents.shared.regression import LinearAgent, RegressionParameters
from befrl.common.errors import InputError
from befrl.common.parameters import given_or, number, optional, scale


@dataclass(frozen=True)
class Parameters(RegressionParameters):
    scale: float | str = scale("multiple of the theory's sigma; theory means 1")
    sigma: float | None = optional(0.0, 1e6, "an absolute sigma instead of a multiple")
    members: float | None = optional(1, 1e6, "number M of perturbed histories, rounded; the theory's if not given")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate in sigma and M")

    def __post_init__(self):
        if self.sigma is not None and self.scale != "theory":
            raise InputError("agent 'lsvi-phe': set either sigma or scale, not both")


class Agent(LinearAgent):
    surrogate = "sigma has the order H sqrt(d) with the logarithm of LSVI-UCB, and M the order d quoted by Cho et al."

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        d, H, delta = self.regression.D, problem.horizon, parameters.delta
        theory = H * np.sqrt(d * np.log(2 * d * problem.episodes * H / delta))
        self.sigma = given_or(parameters.sigma, parameters.scale * theory)
        members = np.ceil(d * np.log(delta / 9) / special.log_ndtr(1.0))
        self.M = np.round(given_or(parameters.members, members)).astype(int)
        if parameters.presentation == "random-features" and np.any(self.M != self.M[0]):
            raise InputError("agent 'lsvi-phe': with random features all settings side by side need the same members")

    def plan(self, k):
        H, regression = self.problem.horizon, self.regression

        def Q(h, V):
            return np.clip(regression.mean(h, V) + self.sigma[:, None, None] * regression.noise(h, self.M), 0.0, H - h)

        return self.value_iteration(Q)

    def facts(self):
        return {"d": self.regression.D, "sigma": self.sigma, "M": self.M}
