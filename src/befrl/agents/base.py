"""The interface of agents, `plan(k)`, `act(h, cells, policy)` and `update(trajectory)`, and the data they exchange.

n rows run in lock step, each with its own seed and setting. States, actions, rewards and the numbers among the
parameters (`common.parameters.per_row`) are arrays (n,); tables have the row as first axis.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from befrl.common.streams import Stream

EXACT, MISSPECIFIED = "exact", "misspecified"


@dataclass(frozen=True)
class Problem:
    """The information that an agent has before the first episode. In track U `known_theta_r` is None."""

    model: object
    horizon: int
    episodes: int
    n: int
    constants: dict
    known_theta_r: np.ndarray | None
    normals: Stream
    uniforms: Stream
    stream: object  # stream(purpose) -> Stream
    generators: object  # generators(purpose) -> a generator for each row
    ties: object  # numerics.ties: how the greedy action is chosen among equals
    optimal_policy: np.ndarray | None  # for the oracle only
    optimal_values: np.ndarray | None  # V*_1 on anchors, for the oracle only


@dataclass(frozen=True)
class Trajectory:
    """One episode of n seeds, (n, H) each, states in several dimensions (n, H, dim); `cells` are those of `states`."""

    states: np.ndarray
    cells: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    next_states: np.ndarray


@dataclass(frozen=True)
class Plan:
    """The policy of an episode and the agent's own estimate of its value.

    policy (n, H, cells) has actions, or (n, H, cells, A) probabilities; values (n, N) are V_1 on the anchors, or NaN;
    rewards (n, N, A) are the mean rewards planned with, or None; plans is the number of backward inductions.
    certificate (n, N) is an upper bound on V*_1 - V^pi_1 on the anchors that holds for all episodes together with the
    probability that the agent promises; None if the agent gives none.
    """

    policy: np.ndarray
    values: np.ndarray
    rewards: np.ndarray | None = None
    plans: int = 1
    certificate: np.ndarray | None = None


@dataclass(frozen=True)
class NoParameters:
    """The parameters of an agent that has none."""


class BaseAgent(ABC):
    """An agent that plays its planned table. The loop reads estimation errors from `learner`, if there is one."""

    learner = None
    needs_truth = False
    certifies = False  # True if every plan has a certificate; `facts()` then has `certificate_delta`
    surrogate = ""  # one sentence if the source's constants are not known: what stands in for them

    @classmethod
    def specification(cls, model, parameters) -> str:
        """EXACT if the model satisfies the agent's assumptions, else MISSPECIFIED; `Refused` if it cannot run."""
        return EXACT

    def __init__(self, problem: Problem, parameters):
        self.problem, self.parameters = problem, parameters
        self._cells = problem.model.n_cells
        self._first = problem.horizon * self._cells * np.arange(problem.n)

    @abstractmethod
    def plan(self, k: int) -> Plan:
        """The plan of episode k, counted from 0, from the data of the episodes before it."""

    def greedy(self, Q):
        """The greedy actions for Q on cells, (n, H, C, A) -> (n, H, C)."""
        return self.problem.ties.greedy(Q)

    def cell_policy(self, Q):
        """The greedy action of each cell for the mean of Q over its anchors, (n, H, N, A) -> (n, H, C)."""
        return self.greedy(self.problem.model.space.cell_means(Q))

    def act(self, h, cells, policy):
        """The actions (n,) in the cells (n,) at step h: looked up, or drawn if the policy holds probabilities."""
        if policy.ndim == 4:
            reached = policy[np.arange(len(cells)), h, cells].cumsum(-1)
            return (self.problem.uniforms.take(1) >= reached[:, :-1]).sum(-1)
        return policy.ravel()[self._first + (h * self._cells + cells)]

    def facts(self) -> dict:
        """Numbers that the agent derives before the first episode, stored with the run."""
        return {}

    def update(self, trajectory: Trajectory):
        """Learn from an episode; by default update the learner, if there is one."""
        if self.learner is not None:
            self.learner.update(trajectory)
