"""An instance as a finite MDP on its cells: what tabular agents see, and the counts that they learn from.

A cell's states are taken for one. That is exact where features are constant on cells, and a misspecified model where
they vary within them. Laws do not depend on the step h, which agents may use (`share: steps`, one table for all steps)
or not (`share: none`, a table for each step, as where laws do depend on it).

Shapes: n seeds, T = H tables or T = 1, C cells, A actions.
"""

import numpy as np

from befrl.common.parameters import choice


def share(default):
    """The parameter that says whether steps share their data."""
    return choice(default, ("none", "steps"), "none: each step h learns from its own data; steps: from those of all")


def exact(model) -> bool:
    """Whether nothing is lost by taking a cell's states for one."""
    return model.space.per_cell == 1


def known_rewards(problem):
    """True mean rewards of the cells, (C, A), in track K; None in track U."""
    if problem.known_theta_r is None:
        return None
    model = problem.model
    return model.space.cell_means(model.mean_reward(problem.known_theta_r[None])[0])


def support(model):
    """Which next cells the known base measure allows, (C, A, C)."""
    C, A = model.n_cells, model.n_actions
    allowed = np.isfinite(model.family.log_base)
    allowed = allowed.reshape(*allowed.shape[:2], C, -1).any(-1)
    if len(allowed) > C:
        allowed = allowed.reshape(C, -1, *allowed.shape[1:]).any(1)
    return np.broadcast_to(allowed, (C, A, C))


class Counts:
    """visits (n, T, C, A), those by next cell (n, T, C, A, C), and sums of rewards (n, T, C, A)."""

    def __init__(self, problem, share):
        model = problem.model
        self.space = model.space
        self.tables = 1 if share == "steps" else problem.horizon
        shape = (problem.n, self.tables, model.n_cells, model.n_actions)
        self.visits, self.rewards = np.zeros((2, *shape))
        self.following = np.zeros((*shape, model.n_cells))

    def table(self, h):
        """The table of step h, from 0."""
        return h if self.tables > 1 else 0

    def add(self, trajectory):
        n, T, C, A = self.visits.shape
        table = np.arange(n)[:, None] * T + (np.arange(trajectory.cells.shape[1]) if T > 1 else 0)
        where = (table * C + trajectory.cells) * A + trajectory.actions
        np.add.at(self.visits.reshape(-1), where, 1.0)
        np.add.at(self.rewards.reshape(-1), where, trajectory.rewards)
        np.add.at(self.following.reshape(-1), where * C + self.space.cell(trajectory.next_states), 1.0)
