"""Certainty equivalence: plan in the estimated model as if it were true. The baseline without exploration.

    Q_h = E_{theta^_r}[r] + P_{theta^_p} V_{h+1},   V_h = max_a Q_h

BEF-RLSVI with x = 0. **Deviations**: none; in track K the rewards are the true ones.
"""

from dataclasses import dataclass

from befrl import planning
from befrl.agents.base import BaseAgent, Plan
from befrl.estimation.learner import learner_for
from befrl.parameters import number


@dataclass(frozen=True)
class Parameters:
    eta: float = number(1.0, 1e-6, 1e6, "weight of the penalty")


class Agent(BaseAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.learner = learner_for(problem, parameters.eta)

    def plan(self, k):
        model, learner = self.problem.model, self.learner
        R = model.mean_reward(learner.theta_r)
        Q, V = planning.backward_induction(R, model.kernel(learner.theta_p), self.problem.horizon)
        return Plan(planning.greedy(Q), V[:, 0], R)

    def update(self, trajectory):
        self.learner.update(trajectory)
