"""An MDP of the family: a model with its true parameters, horizon and law of the first state."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from befrl.common.errors import InputError
from befrl.model.features import WrongShape
from befrl.model.model import Model
from befrl.numerics import bellman

# Singular values of P below this share of the largest are rounding errors.
RANK = 1e-15


class OutsideDomain(InputError):
    """Z is infinite at theta, or the law leaves the box that stands for all of R^m."""


@dataclass(frozen=True)
class Instance:
    """A model with its true parameters, horizon and law of the first state.

    theta_p, theta_r         (d,) each
    start, start_masses      `start(u)` maps uniforms (n,) to first states; their law on anchors, (N,)
    family_name, parameters  how to build the instance again; `instances.build` fills them in
    name                     the instance's name in a study, which keys its random streams; by default family_name
    constants                those of Assumption 1 and Theorem 1, on the compact set of `constants.py`
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
    name: str = ""

    def __post_init__(self):
        if not self.name:
            object.__setattr__(self, "name", self.family_name)
        features, d, N = self.model.features, self.model.d, self.model.n_anchors
        for name, value, shape in (
            ("theta_p", self.theta_p, (d,)),
            ("theta_r", self.theta_r, (d,)),
            ("start_masses", self.start_masses, (N,)),
            ("B", self.model.B, (features.p,)),
        ):
            if np.shape(value) != shape:
                self._refuse(f"{name} has shape {np.shape(value)}, it must have {shape}", WrongShape)
            self._finite(name, value)
        if features.n_anchors != self.model.space.n_anchors:
            self._refuse(
                f"the features have {features.n_anchors} states, the space {self.model.space.n_anchors}", WrongShape
            )
        self._finite("the matrix (tr A_i A_j')", features.trace)
        self._each("the features U", np.isfinite(features.natural(np.ones((1, d)))).all(-1)[0])
        if np.any(self.start_masses < 0) or abs(self.start_masses.sum() - 1) > 1e-9:
            self._refuse(f"start_masses sum to {self.start_masses.sum():g}, they must be a law on the states")
        C = self.model.n_cells
        allowed = self.start_masses.reshape(C, -1).sum(-1) > 0
        cells = self.model.space.cell(np.asarray(self.start(np.linspace(0, 1, 101)[:-1])))
        if np.any(cells < 0) or np.any(cells >= C) or not np.all(allowed[np.clip(cells, 0, C - 1)]):
            self._refuse("start(u) leaves the cells that start_masses allows")
        if self.model.smooth:
            self._check_phi()
        self._check_domain()
        self._finite("R of theta*", self.R)

    def _check_phi(self):
        """Check that phi is given and agrees with the features on the anchors."""
        model, anchors = self.model, self.model.space.nodes
        if model.phi is None:
            self._refuse("its features vary within cells, so that Model needs phi, a function of the states")
        given = model.phi(anchors[:1])
        q = model.features.matrix(self.theta_p).shape[1]
        if np.shape(given) != (1, model.n_actions, q):
            self._refuse(
                f"phi at s = {anchors[0]} has shape {np.shape(given)[1:]}, it must have ({model.n_actions}, {q})",
                WrongShape,
            )
        if not np.allclose(self.natural_at(self.theta_p, anchors), model.features.natural(self.theta_p[None])[0]):
            self._refuse("phi does not give the features that the model has on the anchors")

    def _check_domain(self):
        """Check that Z is finite at theta*, and that the law does not leave a box that stands for all of R^m."""
        natural = self.model.features.natural(self.theta_p[None])
        with np.errstate(all="ignore"):
            Z = self.model.family.log_partition(natural)[0]
        self._each("the log-partition Z of theta*", np.isfinite(Z), OutsideDomain)
        with np.errstate(all="ignore"):
            P = self.P
        self._each("P of theta*", np.isfinite(P).all(-1), OutsideDomain)
        if self.model.space.unbounded and not self.model.family.tails_included:
            # The mass beyond the box is far smaller than the mass of its outermost cells.
            edge = P[..., self.model.space.outermost].sum(-1)
            self._each("the law of theta*", edge < 1e-6, OutsideDomain, "{name} leaves the box, which must be larger,")

    def _refuse(self, what, kind=InputError):
        raise kind(f"instance '{self.family_name}': {what}")

    def _each(self, name, good, kind=InputError, sentence="{name} is not finite"):
        """Refuse the instance if some (s,a) is not good, (N, A), and name the first."""
        bad = np.argwhere(~good)
        if len(bad):
            s, a = self.model.space.nodes[self.model.space.node_anchor == bad[0][0]][0], bad[0][1]
            self._refuse(sentence.format(name=name) + f" at (s, a) = ({s}, {a})", kind)

    def _finite(self, name, value):
        if not np.all(np.isfinite(value)):
            self._refuse(f"{name} has entries that are not finite numbers")

    @cached_property
    def P(self):
        """The true kernel on anchors, (N, A, N)."""
        return self.model.kernel(self.theta_p[None])[0]

    @cached_property
    def P_factors(self):
        """Factors (N, A, r) and (r, N) of the true kernel, equal to it up to rounding; r is small for smooth laws."""
        N, A = self.P.shape[:2]
        left, sizes, right = np.linalg.svd(self.P.reshape(N * A, N), full_matrices=False)
        rank = np.count_nonzero(sizes > RANK * sizes[0])
        return (left[:, :rank] * sizes[:rank]).reshape(N, A, rank), right[:rank]

    @cached_property
    def R(self):
        """The true mean rewards on anchors, (N, A)."""
        return self.model.mean_reward(self.theta_r[None])[0]

    @cached_property
    def optimum(self):
        """Q* (H, N, A) and V* (H + 1, N)."""
        Q, V = bellman.backward_induction(self.R[None], self.P[None], self.horizon)
        return Q[0], V[0]

    @property
    def optimal_value(self):
        """V*_1 averaged over the first state."""
        return float(self.start_masses @ self.optimum[1][0])

    @cached_property
    def optimal_policy(self):
        """The optimal policy, (H, cells), with ties broken towards the smallest action."""
        return bellman.cell_policy(self.optimum[0], self.model.space)

    def natural_at(self, theta, s):
        """U(s,a) theta for one theta (d,) at arbitrary states, (n, A, p)."""
        return self.model.phi(s) @ self.model.features.matrix(theta).T

    def first_step(self, s):
        """Mean rewards (n, A) and P(next anchor) (n, A, N) of the true model at arbitrary states."""
        c = self.natural_at(self.theta_r, s) @ self.model.B
        kernel = self.model.family.kernel(self.natural_at(self.theta_p, s)[:, None])[:, 0]
        return self.model.reward.mean(c), kernel

    @cached_property
    def uniform_value(self):
        """V_1 of the uniformly random policy, averaged over the first state."""
        A = self.model.n_actions
        policy = np.full((1, 1, self.horizon, self.model.n_cells, A), 1.0 / A)
        V = bellman.evaluate(policy, self.R, self.P)
        return float(self.start_masses @ V[0, 0])

    @cached_property
    def cell_loss(self):
        """The loss of value from policies that are constant on cells; zero if features are constant on cells."""
        V = bellman.evaluate(self.optimal_policy[None, None], self.R, self.P)
        return self.optimal_value - float(self.start_masses @ V[0, 0])

    @cached_property
    def reachable(self):
        """Whether some policy reaches (h, anchor), (H, N)."""
        reach = np.zeros((self.horizon, self.model.n_anchors), dtype=bool)
        reach[0] = self.start_masses > 0
        step = (self.P > 0).any(1)
        for h in range(1, self.horizon):
            reach[h] = reach[h - 1] @ step
        return reach

    @cached_property
    def gap(self):
        """The smallest positive gap V*_h(s) - Q*_h(s, a) over the reachable (h, s)."""
        Q, V = self.optimum
        gaps = (V[:-1, :, None] - Q)[self.reachable]
        # Below 1e-12 a difference is rounding, not a gap.
        positive = gaps[gaps > 1e-12]
        return float(positive.min()) if positive.size else 0.0
