"""The optimal policy of the true model: regret zero, the check that regret is measured right.

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

    def plan(self, k):
        n = self.problem.n
        policy, values = self.problem.optimal_policy, self.problem.optimal_values
        return Plan(np.broadcast_to(policy, (n, *policy.shape)), np.broadcast_to(values, (n, *values.shape)))
