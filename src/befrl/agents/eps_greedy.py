"""Certainty equivalence with uniform exploration: the greedy action, or with probability epsilon any action.

    Q_h = E_{theta^_r}[r] + P_{theta^_p} V_{h+1},   V_h = max_a Q_h
    pi_h(a | s) = (1 - epsilon) 1[a = argmax Q_h(s,.)] + epsilon/A

Epsilon is constant: regret grows linearly at last. It is that of the mixture pi, not of the greedy policy.
Shapes: policy (n, H, C, A).

**Deviations.** Ayoub et al. (ICML 2020, Appendix C), who run it beside UCRL-VTR with a constant epsilon (0.01 on
RiverSwim, 0.1 on WideTree), plan with the value of the mixture, in their code (1-epsilon/2) max Q + epsilon/2 min Q for
two actions, cut Q to [0, H], break ties at random, and take counts/(visits + 1) or value targets for their model. Here
the plan is the greedy policy's in the family's estimate, without clipping, and ties go to the smallest action. In track
K the rewards are the true ones. The agent's own value is that of its greedy policy, its estimate of V*.
"""

from dataclasses import dataclass

import numpy as np

from befrl import bellman
from befrl.agents.base import BaseAgent, Plan
from befrl.learner import Learner, LearnerParameters
from befrl.parameters import number
from befrl.planning.base import PlannerParameters, planner_for


@dataclass(frozen=True)
class Parameters(LearnerParameters, PlannerParameters):
    epsilon: float = number(0.05, 0.0, 1.0, "probability of a uniformly random action at each step")


def mixture(greedy, epsilon, A):
    """Actions (...) -> probabilities (..., A)."""
    return (1.0 - epsilon) * np.eye(A)[greedy] + epsilon / A


class Agent(BaseAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.learner = Learner(problem, parameters)
        self.planner = planner_for(problem, parameters)

    def plan(self, k):
        model, learner = self.problem.model, self.learner
        R = model.mean_reward(learner.theta_r)
        Q, V = self.planner.plan(R, learner.theta_p, self.problem.horizon)
        policy = mixture(bellman.cell_policy(Q, model.space), self.parameters.epsilon, model.n_actions)
        return Plan(policy, V[:, 0], R)

    def facts(self):
        return {"epsilon": self.parameters.epsilon}

    def update(self, trajectory):
        self.learner.update(trajectory)
