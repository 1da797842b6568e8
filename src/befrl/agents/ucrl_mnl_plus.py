"""UCRL-MNL+ (Cho, Hwang, Lee, Oh, NeurIPS 2024, Appendix E): ORRL-MNL with a bonus in the place of the noise.

With f(s,a,s') = U(s,a)'(psi(s') - psi(s'_0)) on the reachable states, fbar(s') = f(s') - E_theta f, and theta and B of
the online mirror descent in `mnl.py` (eq. 5 and 6), one step for each transition,

    nu   = H beta sum_s' P_theta(s') |fbar(s,a,s')|_{B^-1} + 3 H beta^2 max_s' |f(s,a,s')|^2_{B^-1}
    Q_h  = r + P_theta V_{h+1} + nu,   V_h = min( max_a Q_h, H )                                           (eq. 104)

with the beta, lam and eta of ORRL-MNL (eq. 53 and Lemmas 13 to 15):

    beta_t^2 = alpha (Gamma^A + Gamma^B) + lam L_theta^2,   alpha = log U + 2 (1 + L_f L_theta)
    Gamma^A  = (3 log(U t) + L_f L_theta) (5/4 lam + 4 log(H sqrt(1 + 2t)/delta)) + 2
    Gamma^B  = sqrt 6 (2 alpha/3) d log(1 + 2 t L_f^2/(d lam))
    eta      = alpha/2,   lam = max(12 sqrt 2 L_f^3 alpha, 48 L_f^2 d alpha)

`scale` multiplies beta, so that the second-order bonus goes with its square.

Shapes: theta (n, blocks, m), B (n, blocks, m, m), |fbar| (n, N, A, R).

**Deviations.** The paper has a parameter for each stage h, and one step an episode for each; here one parameter serves
all stages, as transitions do not depend on h, and it takes a step for each of the H transitions: t counts transitions.
With scale theory lam and eta are as above, which leaves theta near 0 for long; with a number lam = eta = 1, eta the
gain of least squares, for the authors tuned theirs and do not print them. The H in Gamma^A is the paper's union over
its H parameters, kept with one. Eq. 53 ends in an unspecified constant; beta is the line before it. |theta| is
|theta|_A (`mnl.py`). Ties go to the smallest action. In track U rewards are optimistic estimates
(`planned_rewards.py`). Rewards outside [0, 1] break the paper's assumption; the clip stays.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import EXACT, BaseAgent, Plan
from befrl.agents.shared import mnl
from befrl.agents.shared.planned_rewards import PlannedRewards, RewardParameters
from befrl.common.parameters import number, optional, scale
from befrl.learning.data import Data
from befrl.numerics import bellman


@dataclass(frozen=True)
class Parameters(RewardParameters):
    scale: float | str = scale("multiple of the radius beta; theory means 1")
    lam: float | None = optional(1e-6, 1e6, "weight of the penalty; if none, the theory's with scale theory, else 1")
    eta: float | None = optional(1e-6, 1e6, "step size; if none, the theory's with scale theory, else 1")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the confidence set")


class Agent(BaseAgent):
    @classmethod
    def specification(cls, model, parameters):
        mnl.check_finite(model, "ucrl-mnl-plus")
        return EXACT

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        lam, eta = parameters.lam, parameters.eta
        self.multiple = 1.0
        if parameters.scale != "theory":
            self.multiple = parameters.scale
            lam, eta = (1.0 if value is None else value for value in (lam, eta))
        self.reachable = mnl.Reachable(problem.model, problem.constants)
        self.estimator = mnl.MirrorDescent(self.reachable, problem.n, lam, eta)
        self.data = Data(problem.model, problem.n)
        self.rewards = PlannedRewards(problem, parameters, self.data, self.multiple, parameters.delta)

    def radius(self, k):
        """beta, with k from 0."""
        H = self.problem.horizon
        return self.multiple * self.estimator.radius(k * H + 1, H, self.parameters.delta)

    def bonus(self, k, P):
        """nu, (n, N, A), for P (n, N, A, R) on the reachable states."""
        r, H, beta = self.reachable, self.problem.horizon, self.radius(k)
        spread = r.features.spread(self.estimator.B)
        first = (P * np.sqrt(r.quadratic(r.centred(P), spread))).sum(-1)
        second = r.quadratic(r.contrast, spread).max(-1)
        return H * beta * first + 3 * H * beta**2 * second

    def plan(self, k):
        model, H, n = self.problem.model, self.problem.horizon, self.problem.n
        kernel = model.kernel(self.estimator.theta.reshape(n, -1))
        nu = self.bonus(k, self.reachable.probabilities(kernel))
        R = self.rewards.means()
        Q, V = mnl.plan(R, kernel, [nu] * H, low=-np.inf, clip_values=True)
        return Plan(bellman.cell_policy(Q, model.space), V, R)

    def facts(self):
        return {
            "lam": float(self.estimator.lam),
            "eta": float(self.estimator.eta),
            "L_f": self.reachable.L_f,
            "beta": float(self.radius(self.problem.episodes - 1)),
        }

    def update(self, trajectory):
        self.estimator.update(trajectory)
        self.data.add(trajectory)
        self.rewards.update()
