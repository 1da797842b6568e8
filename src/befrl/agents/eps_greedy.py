"""Certainty equivalence with uniform exploration: the greedy action, or with probability epsilon a random one.

    Q_h = E_{theta^_r}[r] + P_{theta^_p} V_{h+1},   V_h = max_a Q_h
    pi_h(a | s) = (1 - epsilon) 1[a = argmax Q_h(s,.)] + epsilon/A

Regret is that of the mixture pi. `model: counts` is the baseline of Ayoub, Jia, Szepesvari, Wang, Yang (ICML 2020,
Appendix C), on cells, with N(s,a,s') visits and, in their code, V_{h+1} of the previous episode (`backup: previous`):

    P^  = N(s,a,s')/(N(s,a) + 1),   Q_h = Pi_[0,H]( r + P^ V_{h+1} ),   V_h = (1-eps) max_a Q_h + eps mean_a Q_h

Shapes: policy (n, H, C, A), counts (n, 1, C, A, C). **Deviations.** By default the plan is the greedy policy's, in the
family's estimate and without clipping. Ayoub et al. have epsilon = 0.01 on RiverSwim. Rewards are the true ones in
track K and the family's estimates in track U. The agent's own value is the greedy policy's, with counts the mixture's.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import EXACT, MISSPECIFIED, BaseAgent, Plan
from befrl.agents.shared import cells
from befrl.common.parameters import choice, number
from befrl.learning.data import Data
from befrl.learning.learner import Learner, LearnerParameters
from befrl.learning.reward_learner import RewardLearner
from befrl.numerics import bellman
from befrl.planning.planners.base import PlannerParameters, planner_for


@dataclass(frozen=True)
class Parameters(LearnerParameters, PlannerParameters):
    epsilon: float = number(0.05, 0.0, 1.0, "probability of a uniformly random action at each step")
    model: str = choice("family", ("family", "counts"), "the model to plan in: the family's estimate, or counts")
    backup: str = choice("same", ("same", "previous"), "with counts, the plan whose V_{h+1} is used")


class Agent(BaseAgent):
    @classmethod
    def specification(cls, model, parameters):
        return MISSPECIFIED if parameters.model == "counts" and model.smooth else EXACT

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        if parameters.model == "family":
            self.learner = Learner(problem, parameters)
            self.planner = planner_for(problem, parameters)
        else:
            self.counts, self.data = cells.Counts(problem, "steps"), Data(problem.model, problem.n)
            self.reward = RewardLearner(problem, parameters.eta)
            self.V = self.last_V = np.zeros((problem.horizon + 1, problem.n, problem.model.n_cells))

    def plan(self, k):
        model, epsilon = self.problem.model, self.parameters.epsilon[:, None, None, None]
        if self.parameters.model == "counts":
            R = model.mean_reward(self.reward.theta)
            Q, V = self._in_counts(bellman.ordered(model.space.cell_means(R)))
            greedy, values = self.greedy(Q), model.space.on_anchors(V)
        else:
            R = model.mean_reward(self.learner.theta_r)
            Q, V = self.planner.plan(R, self.learner.theta_p, self.problem.horizon)
            greedy, values = self.cell_policy(Q), V[:, 0]
        mixture = (1.0 - epsilon) * np.eye(model.n_actions)[greedy] + epsilon / model.n_actions
        return Plan(mixture, values, R)

    def _in_counts(self, R):
        """Q (n, H, C, A) and V_1 (n, C) of the mixture, for R (n, C, A)."""
        H, epsilon = self.problem.horizon, self.parameters.epsilon[:, None]
        P = (self.counts.following / (self.counts.visits[..., None] + 1.0))[:, 0]

        def clipped(mean):
            return np.clip(R + mean, 0.0, float(H))

        def value(Q):
            return (1.0 - epsilon) * bellman.largest(Q) + epsilon * Q.mean(-1)

        if self.parameters.backup == "previous":
            Q, V = bellman.previous_backup(P, self.last_V, clipped, value)
        else:
            expected = bellman.expectation(P)
            Q, V = bellman.recursion(lambda h, V: clipped(expected(V)), H, R.shape, value)
        self.V = V.swapaxes(0, 1)
        return Q, V[:, 0]

    def facts(self):
        return {"epsilon": self.parameters.epsilon}

    def update(self, trajectory):
        super().update(trajectory)
        if self.parameters.model == "counts":
            self.last_V = self.V
            self.counts.add(trajectory)
            self.data.add(trajectory)
            self.reward.update(self.data)
