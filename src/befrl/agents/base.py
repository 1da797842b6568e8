"""What every agent has: `plan(k)`, `act(h, s)`, `update(trajectory)`; and what it may know.

n seeds run in lock step: states, actions and rewards are arrays of shape (n,), tables have the seed first.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from befrl.common.streams import Stream

EXACT, MISSPECIFIED = "exact", "misspecified"


@dataclass(frozen=True)
class Problem:
    """What an agent is told before the first episode. In track U `known_theta_r` is None."""

    model: object
    horizon: int
    episodes: int
    n: int
    constants: dict
    known_theta_r: np.ndarray | None
    normals: Stream
    uniforms: Stream
    stream: object  # a function: the stream of another purpose
    optimal_policy: np.ndarray | None  # for the oracle only
    optimal_values: np.ndarray | None  # V*_1 on anchors, for the oracle only


@dataclass(frozen=True)
class Trajectory:
    """One episode of n seeds, (n, H) each, states in several dimensions (n, H, dim).

    `cells` are those of the `states` in which the actions were taken.
    """

    states: np.ndarray
    cells: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    next_states: np.ndarray


@dataclass(frozen=True)
class Plan:
    """What the agent will do in the episode and what it expects of it.

    policy  (n, H, cells) actions, or (n, H, cells, A) probabilities
    values  (n, N)  its own V_1 on the anchors; NaN where it has none
    rewards (n, N, A)  the mean rewards that it planned with, or None
    plans   how many backward inductions it took
    """

    policy: np.ndarray
    values: np.ndarray
    rewards: np.ndarray | None = None
    plans: int = 1


class BaseAgent(ABC):
    """Plays the planned table. `learner` is what the loop reads the estimation errors from, if there is one."""

    learner = None
    needs_truth = False
    # One sentence if the constants of the source are not known: what stands in for them.
    surrogate = ""

    @classmethod
    def specification(cls, model, parameters) -> str:
        """EXACT if the model satisfies what the agent assumes, MISSPECIFIED if not.

        Called before anything runs; raises `Refused` with the reason if the agent cannot run at all.
        """
        return EXACT

    def __init__(self, problem: Problem, parameters):
        self.problem, self.parameters = problem, parameters
        self._cells = problem.model.n_cells
        self._first = problem.horizon * self._cells * np.arange(problem.n)

    @abstractmethod
    def plan(self, k: int) -> Plan:
        """The policy of episode k, from 0, and what the agent expects of it."""

    def act(self, h, cells, policy):
        """Actions (n,) in the cells (n,) at step h: table look-up, or a draw where the table holds probabilities."""
        if policy.ndim == 4:
            reached = policy[np.arange(len(cells)), h, cells].cumsum(-1)
            return (self.problem.uniforms.take(1) >= reached[:, :-1]).sum(-1)
        return policy.ravel()[self._first + (h * self._cells + cells)]

    def facts(self) -> dict:
        """Numbers that the agent derived before the first episode, to be stored with the run."""
        return {}

    def update(self, trajectory: Trajectory):
        """Learn from an episode; agents that do not learn leave it as it is."""
        return None
