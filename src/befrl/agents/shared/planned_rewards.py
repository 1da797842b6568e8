"""Mean rewards for the agents whose papers assume a known reward.

**Deviations.** In track K these are the true means, in track U the optimistic means of `learning/confidence.py`, an
extension of the papers, with eta = 1 and the same delta as the transitions, without a union bound. `reward_scale`, by
default the agent's `scale`, multiplies the radius rho_r: a multiple of 1e-4, useful for transitions, would leave no
optimism about rewards, whose theory is tighter. Clips that assume rewards in [0, 1] are kept for other rewards.
"""

from dataclasses import dataclass

from befrl.common.parameters import given_or, optional
from befrl.learning.confidence import optimistic_rewards
from befrl.learning.data import Data
from befrl.learning.reward_learner import RewardLearner


@dataclass(frozen=True)
class RewardParameters:
    reward_scale: float | None = optional(0.0, 1e6, "multiple of the rewards' radius; as scale if none", rewards=True)


class PlannedRewards:
    """The mean rewards that an agent plans with, and the statistics `data` of its episodes; delta (n,)."""

    def __init__(self, problem, parameters, delta):
        self.problem, self.delta = problem, delta
        self.multiple = given_or(parameters.reward_scale, parameters.scale)
        self.data = Data(problem.model, problem.n)
        self.reward = RewardLearner(problem, eta=1.0)

    def means(self):
        """The mean rewards on the anchors, (n, N, A)."""
        return optimistic_rewards(self.problem, self.reward, self.data.counts, self.delta, self.multiple)

    def update(self, trajectory):
        self.data.add(trajectory)
        self.reward.update(self.data)
