"""Exact pseudo-regret V*_1(s_1) - V^pi_1(s_1) under the true model, by evaluating the policy of every episode."""

import numpy as np

from befrl.numerics import bellman

TOGETHER = 32  # episodes that are evaluated at once


class Regret:
    """Collects policies and first states, and evaluates them together."""

    def __init__(self, instance, n, episodes):
        self.instance = instance
        self.values = np.empty((n, episodes))
        self._rows = np.arange(n)[:, None]
        self._waiting, self._first = [], 0

    def add(self, policy, trajectory):
        # Deterministic and random policies have different shapes.
        if self._waiting and self._waiting[0][0].ndim != policy.ndim:
            self.flush()
        self._waiting.append((policy, trajectory.states[:, 0], trajectory.cells[:, 0]))
        if len(self._waiting) == TOGETHER:
            self.flush()

    def flush(self):
        if not self._waiting:
            return
        policies, starts, cells = (np.stack(part, axis=1) for part in zip(*self._waiting, strict=True))
        first, last, instance = self._first, self._first + policies.shape[1], self.instance
        if instance.model.smooth:
            self.values[:, first:last] = self._smooth(policies, starts, cells)
        else:
            V = bellman.evaluate(policies, instance.R, instance.P)
            reached = V[self._rows, np.arange(policies.shape[1]), cells]
            self.values[:, first:last] = instance.optimum[1][0][cells] - reached
        self._waiting, self._first = [], last

    def _smooth(self, policies, starts, cells):
        """Regret with the first step at s_1, not at an anchor: Q_1(s_1, a) = r(s_1, a) + sum_x p(x | s_1, a) V_2(x)."""
        instance, A = self.instance, self.instance.model.n_actions
        n, C = cells.shape
        later = bellman.evaluate(policies[:, :, 1:], instance.R, instance.P_factors)
        R, P = instance.first_step(starts.reshape(n * C, *starts.shape[2:]))
        R, P = R.reshape(n, C, A), P.reshape(n, C, A, -1)
        best = (R + P @ instance.optimum[1][1]).max(-1)
        Q = R + (P @ later[..., None])[..., 0]
        policy = policies[self._rows, np.arange(C), 0, cells]
        weights = policy if policies.ndim == 5 else np.eye(A)[policy]
        return best - (Q * weights).sum(-1)
