"""The uniformly random baseline.

**Deviations**: none.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import BaseAgent, Plan


@dataclass(frozen=True)
class Parameters:
    pass


class Agent(BaseAgent):
    def plan(self, k):
        n, H = self.problem.n, self.problem.horizon
        model = self.problem.model
        A = model.n_actions
        return Plan(np.full((n, H, model.n_cells, A), 1.0 / A), np.full((n, model.n_anchors), np.nan), plans=0)
