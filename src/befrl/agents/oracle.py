"""The optimal policy of the true model, whose measured regret must be zero."""

import numpy as np

from befrl.agents.base import BaseAgent, NoParameters, Plan

Parameters = NoParameters


class Agent(BaseAgent):
    needs_truth = True

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        policy, values = (np.stack([part] * problem.n) for part in (problem.optimal_policy, problem.optimal_values))
        self._plan = Plan(policy, values, plans=0)

    def plan(self, k):
        return self._plan
