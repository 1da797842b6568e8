"""BEF-RLSVI (Ouhamma, Basu, Maillard): plan in the estimated model with one Gaussian perturbation of the reward.

Algorithm 1 of the paper, for episode k with both penalised MLEs of episodes 1 .. k-1:

    Gbar_k  = eta/alpha_p A + sum_{tau<k, h} G_{s,a}
    xi_k    ~ N(0, x_k Gbar_k^-1),     theta~_r = theta^_r + xi_k      (one draw, shared by all steps h)
    Q_h     = E_{theta~_r}[r] + P_{theta^_p} V_{h+1},   V_h = max_a Q_h,   no clipping
    x_k     = ( H sqrt(beta_p B_p/(alpha_p alpha_r)) + sqrt(beta_r B_r min(1, alpha_p/alpha_r))/(2 alpha_r) )^2
    B_i     = eta/2 B_A^2 + gamma_i + log(1/delta),   gamma_i = d log(1 + beta_i B_phi_A H K/eta)    (Theorem 1)

Variants: `noise: step` draws xi_{k,h} for each step; `clip: range` cuts Q_h to [0, H-h+1]; `design: hessian` replaces
Gbar by the Hessian sum U' Cov_{theta^_p}[psi] U + eta A, which lies between alpha_p Gbar and beta_p Gbar. Shapes: theta
and xi (n, d), Gbar (n, blocks, m, m), x (n,).

**Deviations.** The family has a known base measure, as in Chowdhury et al., and psi may be signed. The penalty is
|theta|_A^2/2; the printed norm does not yield the score equations. Estimators of episode k use the data before k (the
printed sums run to k). alpha, beta and B_A are computed from theta* (`constants.py`) and given to the agent; alpha_r is
the constant along B, alpha_p ignores directions in which psi does not vary, and the MLE is not constrained to the
compact set behind them. x_k and B_i are Theorem 1's, as equalities. Elsewhere the paper has k for K and no square
(lemma on the learning error), H on both terms, no alpha_r in the first root and 2 alpha_r in the second (sketch of the
proof), and log(2 C/delta) (corollaries). In track K the noise is added to theta*_r and x_k keeps only its first term.
Planning is exact by default; the paper plans with random features.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import EXACT, BaseAgent, Plan
from befrl.common.errors import InputError, Refused
from befrl.common.parameters import choice, given_or, number, optional, scale
from befrl.learning.learner import Learner, LearnerParameters
from befrl.model.theorem import theorem_x
from befrl.numerics import bellman, linalg
from befrl.planning.planners.base import PlannerParameters, planner_for


@dataclass(frozen=True)
class Parameters(LearnerParameters, PlannerParameters):
    scale: float | str = scale("multiple of Theorem 1's x_k; theory means 1")
    x: float | None = optional(0.0, 1e12, "an absolute x instead of a multiple of x_k")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate in x_k")
    noise: str = choice("episode", ("episode", "step"), "one draw for all steps of an episode, or one for each")
    clip: str = choice("none", ("none", "range"), "whether Q_h is cut to [0, H-h+1]")
    design: str = choice("gram", ("gram", "hessian"), "precision of the noise: Gbar, or the likelihood's Hessian")

    def __post_init__(self):
        if self.x is not None and self.scale != "theory":
            raise InputError("agent 'bef-rlsvi': set either x or scale, not both")

    @property
    def by_steps(self):
        """Whether R or the clip depends on the step h, which only exact planning supports."""
        return self.noise == "step" or self.clip == "range"


class Agent(BaseAgent):
    @classmethod
    def specification(cls, model, parameters):
        if parameters.by_steps and parameters.planner != "exact":
            raise Refused(
                f"agent 'bef-rlsvi': planner '{parameters.planner}' has one reward for all steps and does not clip: "
                "noise = step and clip = range need planner = exact"
            )
        return EXACT

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.learner = Learner(problem, parameters)
        self.planner = planner_for(problem, parameters)
        d, H, K, known = problem.model.d, problem.horizon, problem.episodes, problem.known_theta_r is not None
        theory = theorem_x(problem.constants, d, H, K, parameters.eta, parameters.delta, known_reward=known)
        self.x = given_or(parameters.x, parameters.scale * theory)

    def perturbed_rewards(self, factor):
        """The mean rewards (n, N, A) at theta~_r, with new noise; `factor` is the Cholesky factor of its precision."""
        model, z = self.problem.model, self.problem.normals.take(self.problem.model.d)
        xi = np.sqrt(self.x)[:, None] * linalg.solve_transposed_factor(factor, z)
        return model.mean_reward(self.learner.theta_r + xi)

    def plan(self, k):
        learner, H, chosen = self.learner, self.problem.horizon, self.parameters
        factor = linalg.cholesky(learner.hessian_p if chosen.design == "hessian" else learner.design())
        R = self.perturbed_rewards(factor)
        if not chosen.by_steps:
            Q, V = self.planner.plan(R, learner.theta_p, H)
            return Plan(self.cell_policy(Q), V[:, 0], R)
        expected = bellman.expectation(self.problem.model.kernel(learner.theta_p))

        def step(h, V):
            nonlocal R
            if chosen.noise == "step" and h < H - 1:
                R = self.perturbed_rewards(factor)
            Q = R + expected(V)
            return np.clip(Q, 0.0, float(H - h)) if chosen.clip == "range" else Q

        Q, V = bellman.recursion(step, H, R.shape)
        return Plan(self.cell_policy(Q), V[:, 0], R)

    def facts(self):
        return {"x": self.x}
