"""The tabular view of an instance: a finite MDP on its cells, the counts of visits, and the base class of its agents.

All states of a cell are identified, which is exact where features are constant on cells. Laws do not depend on h:
`share: steps` has one table for all h, `share: none` one for each. Shapes: T = H or 1 tables, C cells, A actions.
"""

import math

import numpy as np

from befrl.agents.base import EXACT, MISSPECIFIED, BaseAgent
from befrl.common.parameters import choice
from befrl.numerics import bellman


def share(default):
    """The parameter that decides whether steps share their data."""
    return choice(default, ("none", "steps"), "none: each step h learns from its own data; steps: from those of all")


def known_rewards(problem):
    """The true mean rewards of the cells, (C, A), in track K; None in track U."""
    if problem.known_theta_r is None:
        return None
    model = problem.model
    return model.space.cell_means(model.mean_reward(problem.known_theta_r[None])[0])


def near(space, states):
    """The anchors of the cells of states (n, H, ...), and their Lagrange weights there, (n, H, per_cell) each."""
    anchors = space.cell(states)[..., None] * space.per_cell + np.arange(space.per_cell)
    return anchors, space.interpolation(states) if space.per_cell > 1 else np.ones(anchors.shape)


def support(model):
    """Whether the known base measure allows a next cell, (C, A, C)."""
    C, A = model.n_cells, model.n_actions
    allowed = np.isfinite(model.family.log_base)
    allowed = allowed.reshape(*allowed.shape[:2], C, -1).any(-1)
    if len(allowed) > C:
        allowed = allowed.reshape(C, -1, *allowed.shape[1:]).any(1)
    # In the memory order of `tables`: the order of sums over next cells must not depend on the number of rows.
    return np.asfortranarray(np.broadcast_to(allowed, (C, A, C)))


def tables(n, T, *shape):
    """Zeros (n, T, C, ...), with each table in the memory order of the recursion (`bellman.py`)."""
    memory = np.zeros(n * T * math.prod(shape))
    if shape[0] > bellman.FEW:
        return memory.reshape(n, T, *shape)
    return np.moveaxis(memory.reshape(T, *reversed(shape), n).T, -1, 1)


class Counts:
    """Numbers of visits (n, T, C, A), also by next cell (n, T, C, A, C), and sums of rewards (n, T, C, A)."""

    def __init__(self, problem, share):
        model = problem.model
        self.space = model.space
        self.tables = 1 if share == "steps" else problem.horizon
        shape = (problem.n, self.tables, model.n_cells, model.n_actions)
        self.visits, self.rewards = tables(*shape), tables(*shape)
        self.following = tables(*shape, model.n_cells)

    def table(self, h):
        """The table of step h, counted from 0."""
        return h % self.tables

    def add(self, trajectory):
        cells, actions, rewards = trajectory.cells.T, trajectory.actions.T, trajectory.rewards.T  # rows last in memory
        H, n = cells.shape
        visits = (np.arange(n), self.table(np.arange(H))[:, None], cells, actions)
        _add(self.visits, visits, 1.0)
        _add(self.rewards, visits, rewards.ravel())
        _add(self.following, (*visits, self.space.cell(trajectory.next_states.swapaxes(0, 1))), 1.0)


def _add(table, places, values):
    where = sum(place * (stride // table.itemsize) for place, stride in zip(places, table.strides, strict=True))
    np.add.at(table.base, where.ravel(), values)


class TabularAgent(BaseAgent):
    """An agent that learns from counts, with the parameter `share`; R are the known rewards, or None."""

    @classmethod
    def specification(cls, model, parameters):
        return MISSPECIFIED if model.smooth else EXACT

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.counts = Counts(problem, parameters.share)
        self.R = known_rewards(problem)

    def update(self, trajectory):
        self.counts.add(trajectory)
