"""Mean rewards for the agents whose papers assume a known reward.

In track K these are the true means. In track U they are an extension that none of these papers print, the same for all
of these agents, so that they differ in their transitions only: the optimistic means of `learning/confidence.py`,

    r_opt  = min(1, Z_r'( theta^_r . x + rho_r |x|_{H_r^-1} )),   H_r the Hessian of the penalised likelihood.

The penalty has weight eta = 1, and transitions and rewards each use delta, without a union bound. rho_r is multiplied
by `reward_scale` or, if it is not given, by the agent's own `scale`. The two are apart because transition radii that
are useful at 1e-4 of the theory's would leave no optimism about rewards, whose theory is tighter.
"""

from dataclasses import dataclass

from befrl.common.parameters import given_or, optional
from befrl.learning.confidence import optimistic_rewards
from befrl.learning.reward_learner import RewardLearner


@dataclass(frozen=True)
class RewardParameters:
    """The parameters that these agents share."""

    reward_scale: float | None = optional(0.0, 1e6, "multiple of the rewards' radius in track U; as scale if none")


class PlannedRewards:
    """`data` (`learning.data.Data`) is the agent's: the agent adds an episode to it, then calls `update`."""

    def __init__(self, problem, parameters, data, multiple, delta):
        self.problem, self.data, self.delta = problem, data, delta
        self.multiple = given_or(parameters.reward_scale, multiple)
        self.reward = RewardLearner(problem, eta=1.0)

    def means(self):
        """The mean rewards on the anchors, (n, N, A)."""
        return optimistic_rewards(self.problem, self.reward, self.data.counts, self.delta, self.multiple)

    def update(self):
        self.reward.update(self.data)
