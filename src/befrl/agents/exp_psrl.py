"""EXP-PSRL (Chowdhury, Gopalan, Maillard, AISTATS 2021): plan in a model drawn from the posterior.

    theta~ ~ N(theta^, v^2 H^-1),   H = sum U' Cov_{theta^}[psi] U + eta A,   Q_h = E[r] + P_{theta~_p} V_{h+1}

The draw is from the Laplace approximation of the posterior, for the prior N(0, (eta A)^-1). `scale` is v, 1 in theory.
In track U the reward's parameter is drawn likewise. With `posterior: mala` the draw starts a chain of `steps`
Metropolis-adjusted Langevin steps (`langevin.py`) with invariant law exp(-L(theta)/v^2), L the penalised negative
log-likelihood: the exact posterior for v = 1. Shapes: theta (n, d), H (n, blocks, m, m).

**Deviations.** The source assumes exact draws and a known reward; here draws are approximate. Its conjugate prior
exp(n_0 (theta . T(s_0'|s_0,a_0) - Z)) is not implemented. Its bound is Bayesian, with theta* drawn from the prior; here
theta* is fixed. Where features vary within cells L is interpolated.
"""

from dataclasses import dataclass

from befrl.agents.base import BaseAgent, Plan
from befrl.common.parameters import choice, integer, scale
from befrl.learning import likelihood
from befrl.learning.learner import Learner, LearnerParameters
from befrl.numerics import langevin, linalg
from befrl.planning.planners.base import PlannerParameters, planner_for


@dataclass(frozen=True)
class Parameters(LearnerParameters, PlannerParameters):
    scale: float | str = scale("multiple v of the posterior's standard deviation; theory means 1")
    posterior: str = choice("laplace", ("laplace", "mala"), "a normal law at the mode, or Langevin steps from its draw")
    steps: int = integer(30, 1, 100000, "number of Langevin steps")


class Agent(BaseAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.learner = Learner(problem, parameters)
        self.planner = planner_for(problem, parameters)

    def _draw(self, theta, hessian, loss):
        chosen, normals, uniforms = self.parameters, self.problem.normals, self.problem.uniforms
        draw = linalg.laplace_draw(theta, hessian, chosen.scale, normals)
        if chosen.posterior == "laplace":
            return draw

        def loss_at(theta):
            return loss(self.problem.model, self.learner.data, chosen.eta, theta)

        # Where v = 0 the draw is the mode, which the chain does not leave.
        return langevin.mala(loss_at, draw, hessian, chosen.scale, chosen.steps, normals, uniforms)

    def plan(self, k):
        learner = self.learner
        theta_p = self._draw(learner.theta_p, learner.hessian_p, likelihood.transitions)
        theta_r = learner.theta_r
        if not learner.reward.known:
            theta_r = self._draw(theta_r, learner.hessian_r, likelihood.rewards)
        R = self.problem.model.mean_reward(theta_r)
        Q, V = self.planner.plan(R, theta_p, self.problem.horizon)
        return Plan(self.cell_policy(Q), V[:, 0], R)
