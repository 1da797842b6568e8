"""EXP-UCRL (Chowdhury, Gopalan, Maillard, AISTATS 2021) with a value-aware local bonus instead of an oracle.

The published algorithm plays argmax_pi max_{theta in Theta_n} V_theta, Theta_n = { KL + eta/2 |.|_A^2 <= beta_n },
which is intractable. To second order Theta_n is the ellipsoid |theta - theta^|_H^2 <= rho^2, and to first order in
theta the value of one step moves by (theta - theta^)' U' Cov(psi, V), so that its maximum is a bonus:

    rho   = sqrt(2 beta_n),   beta_n = eta/2 B_A^2 + log(2 C_n/delta),   C_n = det(I + beta/eta A^-1 sum G)
    b_h   = rho | U' Cov_{theta^}(psi, V_{h+1}) |_{H^-1},   H = sum U' Cov_{theta^}[psi] U + eta A
    Q_h   = clip( E[r] + P_{theta^} V_{h+1} + b_h, 0, H-h+1 ),   V_h = max_a Q_h

In track U the reward is optimistic too: min(1, Z_r'(theta^_r . x + rho_r |x|_{H_r^-1})), rho_r likewise with beta_r.
`scale` multiplies rho and rho_r.

**Deviations.** Q is clipped, which the published algorithm has no need for. Transitions and rewards have a confidence
set each, both at delta; B_A and beta are computed from theta* and told to the agent. The bonus replaces the joint
maximisation over theta, rectangularly at each (s,a,h); H is the local Hessian at the estimate. The optimistic reward is
an extension that the authors mention but do not print.
"""

from dataclasses import dataclass

import numpy as np

from befrl import bellman, linalg
from befrl.agents.base import BaseAgent, Plan
from befrl.learner import Learner, LearnerParameters
from befrl.parameters import number, scale


@dataclass(frozen=True)
class Parameters(LearnerParameters):
    scale: float | str = scale("multiple of the confidence radius rho; theory means 1")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the confidence set")


def _norm(spread, slope):
    """sqrt( v' (U H^-1 U') v ): the norm of U'v in H^-1."""
    if slope.shape[-1] == 1:
        return np.sqrt(spread[..., 0, 0]) * np.abs(slope[..., 0])
    return np.sqrt(np.maximum(((spread @ slope[..., None])[..., 0] * slope).sum(-1), 0.0))


class Agent(BaseAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.learner = Learner(problem, parameters)
        self.multiple = 1.0 if parameters.scale == "theory" else parameters.scale

    def radius(self, beta):
        """rho = sqrt(2 beta_n), (n,)."""
        features, eta = self.problem.model.features, self.parameters.eta
        grown = features.plus_trace(beta / eta * features.design(self.learner.data.counts), 1.0)
        log_C = linalg.log_determinant(linalg.cholesky(grown)) - features.log_det_trace()
        beta_n = eta / 2 * self.problem.constants["B_A"] ** 2 + np.log(2 / self.parameters.delta) + log_C
        return self.multiple * np.sqrt(2 * beta_n)

    def optimistic_reward(self):
        model, learner = self.problem.model, self.learner
        c = model.reward_natural(learner.theta_r)
        if learner.known_reward:
            return model.reward.mean(c)
        width = np.sqrt((model.features.spread(learner.hessian_r) * model.BB).sum((-1, -2)))
        rho = self.radius(self.problem.constants["beta_r"])[:, None, None]
        return np.minimum(1.0, model.reward.mean(c + rho * width))

    def plan(self, k):
        model, learner, H = self.problem.model, self.learner, self.problem.horizon
        features = model.features
        P, partial = model.family.kernel_and_partial_means(features.natural(learner.theta_p))
        n, N, A = partial.shape[:3]
        mean = partial.sum(-2)
        # Cov(psi, V) = sum over next anchors of V (E[psi 1(anchor)] - P(anchor) E psi); spread is U H^-1 U'.
        contrast = np.swapaxes(partial - P[..., None] * mean[..., None, :], -1, -2)
        contrast = contrast.reshape(n, -1, N)
        spread = features.spread(learner.hessian_p)
        rho = self.radius(self.problem.constants["beta_p"])[:, None, None]
        R = self.optimistic_reward()
        rows = P.reshape(n, N * A, N)
        Q = np.empty((n, H, N, A))
        V = np.zeros((n, N))
        for h in reversed(range(H)):
            future = (rows @ V[..., None]).reshape(n, N, A)
            slope = (contrast @ V[..., None]).reshape(n, N, A, -1)
            bonus = rho * _norm(spread, slope)
            Q[:, h] = np.clip(R + future + bonus, 0.0, float(H - h))
            V = bellman.largest(Q[:, h])
        return Plan(bellman.cell_policy(Q, model.space), V, R)

    def update(self, trajectory):
        self.learner.update(trajectory)
