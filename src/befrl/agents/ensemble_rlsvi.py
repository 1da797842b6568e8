"""Ensemble RLSVI (Lu, Van Roy, NeurIPS 2017; Osband, Van Roy, Russo, Wen, JMLR 2019): one of M perturbed regressions.

    theta~_m = argmin sum ( r + eps_m + max_a x(s',a)' theta~_{m,h+1} - x'theta )^2 + lambda |theta - xi_m|^2
    eps_m ~ N(0, sigma^2) for each sample, drawn once and kept,   xi_m ~ N(0, sigma^2/lambda I),   m = 1 .. M
    Q_h      = x' theta~_m, no clipping, with m uniform on 1 .. M, drawn anew in each episode
    sigma^2  = 1/2 S H^3 log(2 H S A K),   lambda = 1,   M = 20

The noise is additive: theta~_m = w_h(V_{m,h+1}) + sigma Lambda_h^-1 N_m with N_m = sqrt(lambda) xi + sum x eps for
standard normal xi and eps, so that an episode updates N_m and plans with one member; its cost does not grow with k.
Given the data N_m ~ N(0, Lambda_h): each member has the law of RLSVI's draw, but stays the same from episode to
episode, up to the new samples. Shapes: N (n, T, D, M), S A = D of `regression.py`.

**Deviations.** The source's constants are not known. The first source is on bandits; the text of the second was not at
hand. Public code of its group for networks (bsuite) keeps the noise of a sample, plays a uniform member and has M = 20,
as here; it takes gradient steps on half of the samples, while these regressions are exact and on all. sigma is that of
Russo's bound for RLSVI (NeurIPS 2019) in the last episode; there it grows with k, but a member's noise is kept. For
linear bandits M of the order d log T suffices (Janz, Litvak, Szepesvari, NeurIPS 2024), 160 for d = 16 and T = 20,000.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.shared.regression import LinearAgent, RegressionParameters
from befrl.common.errors import InputError
from befrl.common.parameters import given_or, integer, optional, scale


@dataclass(frozen=True)
class Parameters(RegressionParameters):
    scale: float | str = scale("multiple of the surrogate's sigma; theory means 1")
    sigma: float | None = optional(0.0, 1e6, "an absolute sigma instead of a multiple")
    members: int = integer(20, 1, 1000, "number M of perturbed regressions")

    def __post_init__(self):
        if self.sigma is not None and self.scale != "theory":
            raise InputError("agent 'ensemble-rlsvi': set either sigma or scale, not both")


class Agent(LinearAgent):
    surrogate = "sigma is that of Russo's bound for RLSVI in the last episode, and M = 20 as in bsuite's ensembles."

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        d, A, H, M = self.regression.D, problem.model.n_actions, problem.horizon, parameters.members
        theory = np.sqrt(0.5 * d / A * H**3 * np.log(2 * H * d * problem.episodes))
        self.sigma = given_or(parameters.sigma, parameters.scale * theory)
        xi = problem.normals.take(self.regression.tables * d * M)
        self.N = np.sqrt(parameters.lam)[:, None, None, None] * xi.reshape(problem.n, -1, d, M)

    def plan(self, k):
        regression = self.regression
        m = np.floor(self.parameters.members * self.problem.uniforms.take(1)[:, 0]).astype(int)
        noise = self.sigma[:, None, None] * self.N[np.arange(len(m)), :, :, m]
        return self.value_iteration(lambda h, V: regression.predict(regression.weights(h, V, noise)))

    def update(self, trajectory):
        super().update(trajectory)
        n, H = trajectory.actions.shape
        eps = self.problem.normals.take(H * self.parameters.members)
        self.regression.add_noise(self.N, trajectory, eps.reshape(n, H, -1))

    def facts(self):
        return {"d": self.regression.D, "sigma": self.sigma, "M": self.parameters.members}
