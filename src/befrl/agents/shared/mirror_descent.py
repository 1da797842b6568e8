"""Online mirror descent in the multinomial logistic model, and the agents of Cho et al. that learn by it."""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import EXACT, BaseAgent
from befrl.agents.shared import mnl
from befrl.agents.shared.planned_rewards import PlannedRewards, RewardParameters
from befrl.common.parameters import given_or, number, optional, scale
from befrl.learning.data import Data


class MirrorDescent:
    """The estimator of ORRL-MNL and UCRL-MNL+ (Cho et al., eq. 5 and 6), one step for each transition t.

        theta_{t+1} = argmin over |theta|_A <= L_theta of  |theta - theta_t|^2_{B~_t}/(2 eta) + theta' grad l_t(theta_t)
        B~_t = B_t + eta hess l_t(theta_t),   B_{t+1} = B_t + hess l_t(theta_{t+1}),   B_1 = lam A

    theta (n, blocks, q) and B (n, blocks, q, q) in the coordinates of `mnl.py`. `lam` and `eta` (n,) are
    Lemma 12's where they are NaN.
    """

    def __init__(self, reachable, n, lam, eta):
        self.reachable, self.n = reachable, n
        L_f, L_theta, d = reachable.L_f, reachable.L_theta, reachable.d
        self.alpha = np.log(reachable.U) + 2 * (1 + L_f * L_theta)
        self.lam = given_or(lam, max(12 * np.sqrt(2) * L_f**3 * self.alpha, 48 * L_f**2 * d * self.alpha))
        self.eta = given_or(eta, self.alpha / 2)
        self._state = mnl.Blocks(n, reachable.blocks, reachable.q, self.lam)
        self.theta, self.B = self._state.theta, self._state.matrix

    def radius(self, t, H, delta):
        """beta_t of eq. 53 with the constants of Lemmas 14 and 15, after t - 1 transitions."""
        reachable, lam, alpha = self.reachable, self.lam, self.alpha
        L_f, L_theta, d, U = reachable.L_f, reachable.L_theta, reachable.d, reachable.U
        size = 3 * np.log(U * t) + L_f * L_theta
        gamma_A = 5 / 4 * size * lam + 4 * size * np.log(H * np.sqrt(1 + 2 * t) / delta) + 2
        gamma_B = np.sqrt(6) * (2 * alpha / 3) * d * np.log1p(2 * t * L_f**2 / (d * lam))
        return np.sqrt(alpha * (gamma_A + gamma_B) + lam * L_theta**2)

    def update(self, trajectory):
        reachable, eta, state = self.reachable, self.eta, self._state
        for at, f, log_base, came in reachable.visits(trajectory):
            block = reachable.block[at]
            place = state.place(block)
            theta, B = state.read(place)
            P = mnl.laws(f, log_base, theta)
            gradient, B_tilde = mnl.mean(f, P - came), B + eta * mnl.hessian(f, P)
            state.write_theta(place, theta - eta * mnl.solve(B_tilde, gradient))
            reachable.project(self.theta, lambda some, B=B_tilde, b=block: self._with(some, b, B))
            state.write_matrix(place, B + mnl.hessian(f, mnl.laws(f, log_base, state.read(place)[0])))

    def _with(self, rows, block, B_tilde):
        """B~ of the seeds `rows`, which differs from B in the visited block only."""
        whole = self.B[rows]
        whole[np.arange(len(rows)), block[rows]] = B_tilde[:, :, rows].transpose(2, 0, 1)
        return whole


@dataclass(frozen=True)
class MirrorParameters(RewardParameters):
    """The parameters that ORRL-MNL and UCRL-MNL+ share."""

    scale: float | str = scale("multiple of the radius beta; theory means 1")
    lam: float | None = optional(1e-6, 1e6, "weight of the penalty; the theory's if none", ridge=True)
    eta: float | None = optional(1e-6, 1e6, "step size; the theory's if none")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the confidence set")


class MirrorAgent(BaseAgent):
    """An agent that estimates transitions by mirror descent and plans with optimistic rewards in track U."""

    @classmethod
    def specification(cls, model, parameters):
        mnl.check_finite(model, cls.__module__.rpartition(".")[2].replace("_", "-"))
        return EXACT

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.multiple = parameters.scale
        self.reachable = mnl.Reachable(problem.model, problem.constants)
        self.estimator = MirrorDescent(self.reachable, problem.n, parameters.lam, parameters.eta)
        self.data = Data(problem.model, problem.n)
        self.rewards = PlannedRewards(problem, parameters, self.data, self.multiple, parameters.delta)

    def radius(self, k):
        """beta, with k from 0."""
        H = self.problem.horizon
        return self.multiple * self.estimator.radius(k * H + 1, H, self.parameters.delta)

    def kernel(self):
        """P of the estimate, (n, N, A, N)."""
        return self.problem.model.kernel(self.reachable.whole(self.estimator.theta))

    def facts(self):
        return {
            "lam": self.estimator.lam,
            "eta": self.estimator.eta,
            "L_f": self.reachable.L_f,
            "beta": self.radius(self.problem.episodes - 1),
        }

    def update(self, trajectory):
        self.estimator.update(trajectory)
        self.data.add(trajectory)
        self.rewards.update()
