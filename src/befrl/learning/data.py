"""Sufficient statistics of all episodes on the anchors; their size does not grow with the number of episodes.

Where features are smooth, a visit at s counts on the anchors x_j of its cell with their Lagrange weights l_j(s). Then
sum_j l_j(s) f(x_j) equals f(s) up to the interpolation error, for every function f of the state in the likelihood.
"""

import math

import numpy as np


class Data:
    """The number of visits (n, N, A) and the sums of psi(s') (n, N, A, p) and r (n, N, A), for n seeds."""

    def __init__(self, model, n):
        self.model, self.n = model, n
        shape = (n, model.n_anchors, model.n_actions)
        self.counts = np.zeros(shape)
        self.sum_psi = np.zeros((*shape, model.features.p))
        self.sum_reward = np.zeros(shape)

    def add(self, trajectory):
        visits = Visits(self.model, trajectory)
        self.counts += visits.count()
        self.sum_reward += visits.total(trajectory.rewards)
        self.sum_psi += visits.total(self.model.family.statistic(trajectory.next_states))


class Visits:
    """Visits of an episode: numbers `where` of (seed, anchor, action), (n, H), or (n, H, per_cell) with `weights`."""

    def __init__(self, model, trajectory):
        n, N, A, space = len(trajectory.actions), model.n_anchors, model.n_actions, model.space
        self.shape = (n, N, A)
        self.where = (np.arange(n)[:, None] * N + trajectory.cells * space.per_cell) * A + trajectory.actions
        self.weights = None
        if space.per_cell > 1:
            self.where = self.where[..., None] + A * np.arange(space.per_cell)
            self.weights = space.interpolation(trajectory.states)
        self._places = self.where.T.ravel()  # steps come first in the memory of a trajectory

    def read(self, table):
        """The values of a table at the visits, (n, N, A, p) -> (n, H, p)."""
        near = table.reshape(-1, table.shape[-1])[self.where]
        return near if self.weights is None else (near * self.weights[..., None]).sum(2)

    def count(self):
        """The number of visits, (n, N, A)."""
        return self._sum(self.weights)

    def total(self, values):
        """Sums over the visits of values (n, H, ...), on anchors: (n, N, A, ...)."""
        values = np.asarray(values, dtype=float)
        parts = np.moveaxis(values.reshape(*values.shape[:2], -1), -1, 0)
        totals = np.empty((*self.shape, len(parts)))
        for i, part in enumerate(parts):
            totals[..., i] = self._sum(part if self.weights is None else part[..., None] * self.weights)
        return totals.reshape(*self.shape, *values.shape[2:])

    def _sum(self, weights):
        weights = None if weights is None else weights.T.ravel()
        return np.bincount(self._places, weights, math.prod(self.shape)).reshape(self.shape)
