"""MDPs of the family, with their optimal policies and values; all arrays are read-only."""

import copy
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from befrl.common.errors import InputError
from befrl.model.checks import check, numbers
from befrl.model.model import Model
from befrl.numerics import bellman


def frozen(*arrays):
    """The arrays, made read-only: a change in place would not reach the values that are computed from them."""
    for array in arrays:
        array.flags.writeable = False
    return arrays if len(arrays) > 1 else arrays[0]


@dataclass(frozen=True)
class Instance:
    """A model with its true parameters, horizon and law of the first state."""

    model: Model
    horizon: int
    theta_p: np.ndarray  # (d,)
    theta_r: np.ndarray  # (d,)
    start: object  # maps uniforms (n,) to first states
    start_masses: np.ndarray  # the law of the first state on anchors, (N,)
    family_name: str = "unnamed"  # how to build the instance again, with `parameters`; `instances.build` sets both
    parameters: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)  # of Assumption 1 and Theorem 1 (`constants.py`)
    name: str = ""  # the name in a study, which keys the random streams; by default family_name

    def __post_init__(self):
        if not self.name:
            object.__setattr__(self, "name", self.family_name)
        try:
            for name in ("theta_p", "theta_r", "start_masses"):
                object.__setattr__(self, name, frozen(numbers(name, getattr(self, name)).copy()))
            check(self)
        except InputError as error:
            raise type(error)(f"instance '{self.family_name}': {error}") from error

    def __repr__(self):
        model = self.model
        sizes = f"{model.n_cells} cells, {model.n_actions} actions, H = {self.horizon}, d = {model.d}"
        return f"Instance '{self.name}': {sizes}, V* = {self.optimal_value:.6g}"

    def known_as(self, **labels):
        """The same instance with another name, parameters or constants, which need no checks."""
        same = copy.copy(self)
        for key, value in labels.items():
            object.__setattr__(same, key, value)
        return same

    @cached_property
    def P(self):
        """The true kernel on anchors, (N, A, N)."""
        return frozen(self.model.kernel(self.theta_p[None])[0])

    @cached_property
    def P_factors(self):
        """Factors (N, A, r) and (r, N) of the true kernel, equal to it up to rounding; r is small for smooth laws."""
        N, A = self.P.shape[:2]
        left, sizes, right = np.linalg.svd(self.P.reshape(N * A, N), full_matrices=False)
        rank = np.count_nonzero(sizes > 1e-15 * sizes[0])  # the others are rounding errors
        return frozen((left[:, :rank] * sizes[:rank]).reshape(N, A, rank), right[:rank])

    @cached_property
    def R(self):
        """The true mean rewards on anchors, (N, A)."""
        return frozen(self.model.mean_reward(self.theta_r[None])[0])

    @cached_property
    def optimum(self):
        """Q* (H, N, A) and V* (H + 1, N)."""
        Q, V = bellman.backward_induction(self.R[None], self.P[None], self.horizon)
        return frozen(Q[0], V[0])

    @property
    def optimal_value(self):
        """V*_1 averaged over the first state."""
        return float(self.start_masses @ self.optimum[1][0])

    @cached_property
    def optimal_policy(self):
        """The optimal policy, (H, cells), with ties broken towards the smallest action."""
        return frozen(bellman.cell_policy(self.optimum[0], self.model.space))

    def natural_at(self, theta, s):
        """U(s,a) theta for one theta (d,) at arbitrary states, (n, A, p)."""
        return self.model.phi(s) @ self.model.features.matrix(theta).T

    def first_step(self, s):
        """Mean rewards (n, A) and P(next anchor) (n, A, N) of the true model at arbitrary states."""
        c = self.natural_at(self.theta_r, s) @ self.model.B
        kernel = self.model.family.kernel(self.natural_at(self.theta_p, s)[:, None])[:, 0]
        return self.model.reward.mean(c), kernel

    def optimal_action_values(self, h, s):
        """Q*_h at step h, counted from 0, and arbitrary states, (n, A)."""
        Q, V = self.optimum
        if not self.model.smooth:
            return Q[h, self.model.space.cell(s)]
        R, P = self.first_step(s)
        return R + P @ V[h + 1]

    @cached_property
    def uniform_value(self):
        """V_1 of the uniformly random policy, averaged over the first state."""
        A = self.model.n_actions
        return self._value(np.full((self.horizon, self.model.n_cells, A), 1.0 / A))

    @cached_property
    def cell_loss(self):
        """The loss of value from policies that are constant on cells; zero if features are constant on cells."""
        return self.optimal_value - self._value(self.optimal_policy)

    def _value(self, policy):
        return float(self.start_masses @ bellman.evaluate(policy[None, None], self.R, self.P)[0, 0])

    @cached_property
    def reachable(self):
        """Whether some policy reaches (h, anchor), (H, N)."""
        reach = np.zeros((self.horizon, self.model.n_anchors), dtype=bool)
        reach[0] = self.start_masses > 0
        step = (self.P > 0).any(1)
        for h in range(1, self.horizon):
            reach[h] = reach[h - 1] @ step
        return frozen(reach)

    @cached_property
    def identity(self):
        """Sums of the start's masses, P and R with fixed weights: equal, up to rounding, for the same MDP only."""
        tables = (self.start_masses, self.P, self.R)
        return [float(table.ravel() @ np.cos(np.arange(1, table.size + 1))) for table in tables]

    @cached_property
    def gap(self):
        """The smallest positive gap V*_h(s) - Q*_h(s, a) over the reachable (h, s)."""
        Q, V = self.optimum
        gaps = (V[:-1, :, None] - Q)[self.reachable]
        positive = gaps[gaps > 1e-12]  # smaller ones are rounding errors
        return float(positive.min()) if positive.size else 0.0
