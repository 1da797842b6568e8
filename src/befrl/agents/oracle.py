"""The optimal policy of the true model. Its regret is zero, which checks how regret is measured.

**Deviations**: none.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import BaseAgent, Plan


@dataclass(frozen=True)
class Parameters:
    pass


class Agent(BaseAgent):
    needs_truth = True

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self._plan = Plan(
            np.stack([problem.optimal_policy] * problem.n), np.stack([problem.optimal_values] * problem.n), plans=0
        )

    def plan(self, k):
        return self._plan
