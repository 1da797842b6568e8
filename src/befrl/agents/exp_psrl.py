"""EXP-PSRL (Chowdhury, Gopalan, Maillard, AISTATS 2021): plan in a model drawn from the posterior.

With the Gaussian prior N(0, (eta A)^-1) the posterior is approximated at its mode (Laplace):

    theta~ ~ N(theta^, v^2 H^-1),   H = sum U' Cov_{theta^}[psi] U + eta A,
    Q_h = E[r] + P_{theta~_p} V_{h+1}

and the optimal policy of the draw is played for the episode. `scale` is v; the theory's is 1. In track U the reward's
parameter is drawn in the same way from its own posterior.

**Deviations.** The posterior is the Laplace approximation; the published algorithm assumes exact draws and a known
reward.
"""

from dataclasses import dataclass

from befrl import bellman, linalg
from befrl.agents.base import BaseAgent, Plan
from befrl.learner import Learner, LearnerParameters
from befrl.parameters import scale
from befrl.planning.base import PlannerParameters, planner_for


@dataclass(frozen=True)
class Parameters(LearnerParameters, PlannerParameters):
    scale: float | str = scale("multiple v of the posterior's standard deviation; theory means 1")


class Agent(BaseAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.learner = Learner(problem, parameters)
        self.planner = planner_for(problem, parameters)
        self.v = 1.0 if parameters.scale == "theory" else parameters.scale

    def _draw(self, theta, hessian):
        z = self.problem.normals.take(self.problem.model.d)
        return theta + self.v * linalg.solve_transposed_factor(linalg.cholesky(hessian), z)

    def plan(self, k):
        model, learner = self.problem.model, self.learner
        theta_p = self._draw(learner.theta_p, learner.hessian_p)
        theta_r = learner.theta_r if learner.known_reward else self._draw(learner.theta_r, learner.hessian_r)
        R = model.mean_reward(theta_r)
        Q, V = self.planner.plan(R, theta_p, self.problem.horizon)
        return Plan(bellman.cell_policy(Q, model.space), V[:, 0], R)

    def update(self, trajectory):
        self.learner.update(trajectory)
