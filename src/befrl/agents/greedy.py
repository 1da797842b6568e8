"""Certainty equivalence, the baseline without exploration: plan in the estimated model as if it were true.

    Q_h = E_{theta^_r}[r] + P_{theta^_p} V_{h+1},   V_h = max_a Q_h

This is BEF-RLSVI with x = 0. In track U all actions tie before the first data. **Deviations**: none.
"""

from dataclasses import dataclass

from befrl.agents.base import BaseAgent, Plan
from befrl.learning.learner import Learner, LearnerParameters
from befrl.planning.planners.base import PlannerParameters, planner_for


@dataclass(frozen=True)
class Parameters(LearnerParameters, PlannerParameters):
    pass


class Agent(BaseAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.learner = Learner(problem, parameters)
        self.planner = planner_for(problem, parameters)

    def plan(self, k):
        R = self.problem.model.mean_reward(self.learner.theta_r)
        Q, V = self.planner.plan(R, self.learner.theta_p, self.problem.horizon)
        return Plan(self.cell_policy(Q), V[:, 0], R)
