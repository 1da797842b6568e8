"""What an agent may know: the family, the features, the reward's shape; everything but theta.

`Model` turns parameters into kernels and mean rewards on the cells. `Instance` adds the truth.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from befrl import planning
from befrl.errors import InputError


@dataclass(frozen=True)
class Model:
    """features: U; family: next-state laws; reward: reward law; B (p,): the reward's vector."""

    features: object
    family: object
    reward: object
    B: np.ndarray

    @property
    def space(self):
        return self.family.space

    @property
    def n_cells(self):
        return self.features.n_cells

    @property
    def n_actions(self):
        return self.features.n_actions

    @property
    def d(self):
        return self.features.d

    @cached_property
    def x_r(self):
        """Reward features U' B within their blocks, (N, A, m)."""
        return self.features.reward_vectors(self.B)

    def reward_natural(self, theta_r):
        """theta_r . x_r, (n, d) -> (n, N, A)."""
        return (self.features.local(self.features.split(theta_r)) * self.x_r).sum(-1)

    def mean_reward(self, theta_r):
        return self.reward.mean(self.reward_natural(theta_r))

    def kernel(self, theta_p):
        """P(next cell | cell, action), (n, d) -> (n, N, A, N)."""
        return self.family.kernel(self.features.natural(theta_p))


@dataclass(frozen=True)
class Instance:
    """A model with its true parameters, horizon and start.

    theta_p, theta_r (d,); `start(u)` maps uniforms (n,) to first states; `start_masses` (N,) is its law on cells.
    `family_name` and `parameters` say how to make it again; `instances.build` fills them in, and the constants.
    `constants` holds those of Assumption 1 and Theorem 1, on the compact set that they state (`constants.py`).
    """

    model: Model
    horizon: int
    theta_p: np.ndarray
    theta_r: np.ndarray
    start: object
    start_masses: np.ndarray
    family_name: str = "unnamed"
    parameters: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)

    def __post_init__(self):
        features, d, N = self.model.features, self.model.d, self.model.n_cells
        for name, value, shape in (
            ("theta_p", self.theta_p, (d,)),
            ("theta_r", self.theta_r, (d,)),
            ("start_masses", self.start_masses, (N,)),
            ("B", self.model.B, (features.p,)),
        ):
            if np.shape(value) != shape:
                self._refuse(f"{name} has shape {np.shape(value)}, it must have {shape}")
            self._finite(name, value)
        self._finite("the features U", features.U)
        self._finite("the matrix (tr A_i A_j')", features.trace)
        if np.any(self.start_masses < 0) or abs(self.start_masses.sum() - 1) > 1e-9:
            self._refuse(f"start_masses sum to {self.start_masses.sum():g}, they must be a law on the cells")
        cells = self.model.space.cell(np.asarray(self.start(np.linspace(0, 1, 101)[:-1])))
        if np.any(cells < 0) or np.any(cells >= N) or np.any(self.start_masses[np.clip(cells, 0, N - 1)] <= 0):
            self._refuse("start(u) leaves the cells that start_masses allows")
        self._finite("P of theta*", self.P)
        self._finite("R of theta*", self.R)

    def _refuse(self, what):
        raise InputError(f"instance '{self.family_name}': {what}")

    def _finite(self, name, value):
        if not np.all(np.isfinite(value)):
            self._refuse(f"{name} has entries that are not finite numbers")

    @cached_property
    def P(self):
        """True kernel on cells, (N, A, N)."""
        return self.model.kernel(self.theta_p[None])[0]

    @cached_property
    def R(self):
        """True mean rewards, (N, A)."""
        return self.model.mean_reward(self.theta_r[None])[0]

    @cached_property
    def optimum(self):
        """Q* (H, N, A) and V* (H + 1, N)."""
        Q, V = planning.backward_induction(self.R[None], self.P[None], self.horizon)
        return Q[0], V[0]

    @property
    def optimal_value(self):
        """V*_1 averaged over the first state."""
        return float(self.start_masses @ self.optimum[1][0])

    @cached_property
    def optimal_policy(self):
        """(H, N); the smallest action among the best."""
        return planning.greedy(self.optimum[0])

    @cached_property
    def uniform_value(self):
        """V_1 of the uniformly random policy, averaged over the first state."""
        A = self.model.n_actions
        policy = np.full((1, 1, self.horizon, self.model.n_cells, A), 1.0 / A)
        V = planning.evaluate(policy, self.R, self.P)
        return float(self.start_masses @ V[0, 0])

    @cached_property
    def reachable(self):
        """Which (h, cell) some policy reaches, (H, N)."""
        reach = np.zeros((self.horizon, self.model.n_cells), dtype=bool)
        reach[0] = self.start_masses > 0
        step = (self.P > 0).any(1)
        for h in range(1, self.horizon):
            reach[h] = reach[h - 1] @ step
        return reach

    @cached_property
    def gap(self):
        """Smallest positive V*_h(s) - Q*_h(s, a) over what can be reached."""
        Q, V = self.optimum
        gaps = (V[:-1, :, None] - Q)[self.reachable]
        # Below 1e-12 a difference is rounding, not a gap.
        positive = gaps[gaps > 1e-12]
        return float(positive.min()) if positive.size else 0.0
