"""The uniformly random baseline."""

import numpy as np

from befrl.agents.base import BaseAgent, NoParameters, Plan

Parameters = NoParameters


class Agent(BaseAgent):
    def plan(self, k):
        n, model, A = self.problem.n, self.problem.model, self.problem.model.n_actions
        policy = np.full((n, self.problem.horizon, model.n_cells, A), 1.0 / A)
        return Plan(policy, np.full((n, model.n_anchors), np.nan), plans=0)
