"""The statistics of all episodes, on anchors: what the likelihood depends on, whatever the number of episodes.

    counts (n, N, A),   sum of psi(s') (n, N, A, p),   sum of r (n, N, A)

Where features are constant on cells these are sufficient. Where they are smooth, a visit at s counts on the anchors of
its cell with their Lagrange weights at s: sum_j l_j(s) f(x_j) is f(s) up to the interpolation's error, for every
function f of the state that the likelihood is made of.
"""

import numpy as np


class Data:
    """Statistics of n seeds."""

    def __init__(self, model, n):
        self.model, self.n = model, n
        shape = (n, model.n_anchors, model.n_actions)
        self.counts = np.zeros(shape)
        self.sum_psi = np.zeros((*shape, model.features.p))
        self.sum_reward = np.zeros(shape)

    def add(self, trajectory):
        where, weights = self.places(trajectory)
        self.counts += self._total(where, weights)
        self.sum_reward += self.total(where, weights, trajectory.rewards)
        self.sum_psi += self.total(where, weights, self.model.family.statistic(trajectory.next_states))

    def places(self, trajectory):
        """Numbers of the (seed, anchor, action) that the visits count on, and their weights: (n, H, per_cell) both.

        Where cells have one anchor the weights are None, and the last axis is missing.
        """
        n, N, A = self.counts.shape
        space = self.model.space
        first = (np.arange(n)[:, None] * N + trajectory.cells * space.per_cell) * A + trajectory.actions
        if space.per_cell == 1:
            return first, None
        return first[..., None] + A * np.arange(space.per_cell), space.interpolation(trajectory.states)

    def total(self, where, weights, values):
        """Sums over the visits of values (n, H) or (n, H, ...), on anchors: (n, N, A) or (n, N, A, ...)."""
        values = np.asarray(values, dtype=float)
        inner = values.reshape(*values.shape[:2], -1)
        sums = [
            self._total(where, part if weights is None else part[..., None] * weights)
            for part in np.moveaxis(inner, -1, 0)
        ]
        return np.stack(sums, axis=-1).reshape(*self.counts.shape, *values.shape[2:])

    def _total(self, where, weights):
        weights = None if weights is None else weights.ravel()
        return np.bincount(where.ravel(), weights, self.counts.size).reshape(self.counts.shape)
