"""Least-squares value iteration: the ridge regression of the linear agents, on sufficient statistics.

With features x(s,a) in R^D, for each step h,

    Lambda_h = lam I + sum x x',   W_h = sum x e(s')',   b_h = sum x r
    w_h(V)   = Lambda_h^-1 sum x (r + V(s')) = Lambda_h^-1 (b_h + W_h V)      for every V

where e(s')' V evaluates a function V on the anchors at s'. A plan costs the same at episode 10 and at episode 100,000.
In track K the targets are V(s') only, and the true mean reward is added to the prediction.

Two presentations of an instance (`presentation`), both with |x| <= 1:

- `one-hot`: x(s,a) = e_(cell, action), D = C A, points are cells. Lambda is diagonal, w is a table. Exact where
  features are constant on cells, misspecified where they vary within them.
- `random-features`: x(s,a) = (cos omega_i . phi(s,a), sin omega_i . phi(s,a))_i / sqrt(D/2), omega_i ~ N(0, I/l^2),
  i <= D/2, |x| = 1, points are anchors: a random approximation of the Gaussian kernel between the phi(s,a). l is
  `bandwidth` times the root mean square distance of two of them. Where features are constant on cells phi is the
  one-hot vector of the (cell, action): D >= C A then spans all functions, and fewer do not. Each seed has its own
  omega. V at s' is interpolated between the anchors of its cell (its kinks within cells are smoothed).

Actions maximise the mean of Q over the anchors of the cell, where the papers maximise Q at the visited state. The
theory's constants are the papers' for `share: none`. With `share: steps` they are kept, though targets then depend on
the data of other steps of the same episode.

Shapes: n seeds, T = H regressions or T = 1 (`share: steps`, the laws do not depend on h), S points, A actions.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import EXACT, MISSPECIFIED, BaseAgent, Plan
from befrl.agents.shared import cells
from befrl.common.parameters import choice, integer, number
from befrl.numerics import bellman
from befrl.numerics.largest_normal import largest_normal


@dataclass(frozen=True)
class RegressionParameters:
    """The parameters that all linear agents share."""

    presentation: str = choice("one-hot", ("one-hot", "random-features"), "the features x(s,a) of the regression")
    frequencies: int = integer(
        32, 1, 2048, "number of frequencies of the random features, with a cosine and a sine each: D is twice that"
    )
    bandwidth: float = number(0.5, 1e-2, 1e2, "length scale of the random features, in distances between phi(s,a)")
    share: str = cells.share("none")
    lam: float = number(1.0, 1e-6, 1e6, "ridge penalty lambda", ridge=True)


def exact(model, parameters) -> bool:
    """Whether the instance is a linear MDP in these features."""
    enough = parameters.presentation == "one-hot" or 2 * parameters.frequencies >= model.n_cells * model.n_actions
    return cells.exact(model) and enough


def regression_for(problem, parameters):
    """The regression of the parameters' presentation."""
    kind = OneHot if parameters.presentation == "one-hot" else RandomFeatures
    return kind(problem, parameters)


class LinearAgent(BaseAgent):
    """An agent whose Q_h is made of the regression of each step: `plan` calls `value_iteration`."""

    @classmethod
    def specification(cls, model, parameters):
        return EXACT if exact(model, parameters) else MISSPECIFIED

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.regression = regression_for(problem, parameters)

    def value_iteration(self, value) -> Plan:
        """The plan with Q_h = value(h, step), where `step` is the regression of step h on V_{h+1} = max_a Q_{h+1}."""
        regression = self.regression
        shape = (regression.n, regression.points, self.problem.model.n_actions)
        Q, V = bellman.recursion(lambda h, V: value(h, regression.step(h, V)), regression.horizon, shape)
        return Plan(
            self.cell_policy(Q) if regression.on == "anchors" else self.greedy(Q), regression.on_anchors(V[:, 0])
        )

    def update(self, trajectory):
        self.regression.update(trajectory)


class OneHot:
    """One-hot features x(s,a) = e_(cell, action), for which Lambda = lam + visits."""

    on = "cells"

    def __init__(self, problem, parameters):
        self.problem, self.lam = problem, parameters.lam
        self.n, self.horizon, self.points = problem.n, problem.horizon, problem.model.n_cells
        self.D = self.points * problem.model.n_actions
        self.R = cells.known_rewards(problem)
        self.counts = cells.Counts(problem, parameters.share)
        self._scales = {}

    def update(self, trajectory):
        self.counts.add(trajectory)
        self._scales.clear()

    def scales(self, t):
        """Lambda and |x|_{Lambda^-1} of table t, (n, C, A) each; found once for all steps that share the table."""
        if t not in self._scales:
            Lambda = self.lam[:, None, None] + self.counts.visits[:, t]
            self._scales[t] = (Lambda, 1.0 / np.sqrt(Lambda))
        return self._scales[t]

    def step(self, h, V):
        return OneHotStep(self, self.counts.table(h), V)

    def on_anchors(self, V):
        return self.problem.model.space.on_anchors(V)


class OneHotStep:
    """One step's regression: `mean`, `width` and `noise` are (n, C, A)."""

    def __init__(self, owner, t, V):
        self.owner, self.t, self.V = owner, t, V
        self.Lambda, self._width = owner.scales(t)

    def mean(self):
        """x' w(V), plus the reward if it is known."""
        counts, R, t = self.owner.counts, self.owner.R, self.t
        total = bellman.expectation(counts.following[:, t])(self.V)
        if R is None:
            return (counts.rewards[:, t] + total) / self.Lambda
        return R + total / self.Lambda

    def width(self):
        """|x|_{Lambda^-1}."""
        return self._width

    def noise(self, members=1):
        """The maximum over `members` independent draws of x' xi_m, xi_m ~ N(0, Lambda^-1); members is a number or (n,).

        The components of xi are independent and each point depends on one of them. The maximum of M standard normals
        has the distribution function Phi^M, so that one uniform number suffices.
        """
        problem = self.owner.problem
        if np.ndim(members) == 0 and members == 1:
            z = problem.normals.take(self.owner.D)
        else:
            z = largest_normal(problem.uniforms.take(self.owner.D), np.reshape(members, (-1, 1)))
        z = z.reshape(self._width.shape)
        # In the memory order of the tables, as everything that it meets.
        return (np.asfortranarray(z) if self._width.flags.f_contiguous else z) * self._width


class RandomFeatures:
    """Random Fourier features X (n, N A, D) on the anchors.

    Each table keeps F (D, D) with F F' = Lambda^-1, |x|^2_{Lambda^-1} of the rows of X, W' (N, D) and b (D).

    Potter's square-root update: with u = F'x, (Lambda + x x')^-1 = F (I - u u'/(1 + u'u)) F', and the matrix between
    has the root I - g u u', g = 1/(s (s + 1)), s = sqrt(1 + u'u). A sample costs D^2, without any factorisation.
    """

    on = "anchors"

    def __init__(self, problem, parameters):
        model, n = problem.model, problem.n
        self.problem, self.n, self.horizon, self.points = problem, n, problem.horizon, model.n_anchors
        self.D = D = 2 * parameters.frequencies
        rows = self.points * model.n_actions
        phi = model.phi(model.space.nodes).reshape(rows, -1) if model.smooth else np.eye(rows)
        distance = np.sqrt(2.0 * phi.var(0).sum())
        omega = problem.normals.take(phi.shape[1] * parameters.frequencies)
        self.omega = omega.reshape(n, phi.shape[1], -1) / (parameters.bandwidth * distance)[:, None, None]
        self.X = self._waves(phi)
        known = problem.known_theta_r
        self.R = None if known is None else model.mean_reward(known[None])[0]
        self.tables = 1 if parameters.share == "steps" else problem.horizon
        lam = parameters.lam[:, None, None]
        self.F = np.tile(np.eye(D), (n, self.tables, 1, 1)) / np.sqrt(lam[..., None])
        self.squares = np.ones((n, self.tables, rows)) / lam
        self.W = np.zeros((n, self.tables, self.points, D))
        self.b = np.zeros((n, self.tables, D))

    def _waves(self, phi):
        """The features x of phi (..., q), (n, ..., D)."""
        angles = phi @ self.omega
        return np.concatenate([np.cos(angles), np.sin(angles)], axis=-1) * np.sqrt(2.0 / self.D)

    def features(self, trajectory):
        """The features x of the visits, (n, H, D)."""
        model, actions = self.problem.model, trajectory.actions
        if not model.smooth:
            return self.X[np.arange(self.n)[:, None], trajectory.cells * model.n_actions + actions]
        states = trajectory.states.reshape(actions.size, *trajectory.states.shape[2:])
        phi = model.phi(states)[np.arange(actions.size), actions.ravel()]
        return self._waves(phi.reshape(*actions.shape, -1))

    def table(self, h):
        """The table of step h, counted from 0."""
        return h if self.tables > 1 else 0

    def update(self, trajectory):
        space, x, seeds = self.problem.model.space, self.features(trajectory), np.arange(self.n)[:, None]
        # e(s'): the anchors of the cell of s', and their weights, (n, H, per_cell).
        near = space.cell(trajectory.next_states)[..., None] * space.per_cell + np.arange(space.per_cell)
        smooth = space.per_cell > 1
        weights = space.interpolation(trajectory.next_states) if smooth else np.ones(near.shape)
        for h in range(self.horizon):
            t = self.table(h)
            self.W[seeds, t, near[:, h]] += weights[:, h, :, None] * x[:, h, None]
            self.b[:, t] += trajectory.rewards[:, h, None] * x[:, h]
            self._absorb(t, x[:, h])

    def _absorb(self, t, x):
        """Update table t from Lambda to Lambda + x x', for x (n, D)."""
        F = self.F[:, t]
        u = (x[:, None] @ F)[:, 0]
        Fu = (F @ u[..., None])[..., 0]
        grown = 1.0 + np.square(u).sum(-1)
        self.squares[:, t] -= np.square((self.X @ Fu[..., None])[..., 0]) / grown[:, None]
        g = 1.0 / (grown + np.sqrt(grown))
        F -= (g[:, None] * Fu)[..., None] * u[:, None]

    def step(self, h, V):
        return FeatureStep(self, self.table(h), V)

    def on_anchors(self, V):
        return V


class FeatureStep:
    """One step's regression: `mean`, `width` and `noise` are (n, N, A)."""

    def __init__(self, owner, t, V):
        self.owner, self.t, self.V = owner, t, V
        self.F = owner.F[:, t]

    def _table(self, values):
        return values.reshape(self.owner.n, self.owner.points, -1)

    def mean(self):
        """x' w(V), plus the reward if it is known."""
        owner, t = self.owner, self.t
        target = self.V[:, None] @ owner.W[:, t]
        if owner.R is None:
            target += owner.b[:, t, None]
        w = self.F @ (target @ self.F).swapaxes(1, 2)
        prediction = self._table(owner.X @ w)
        return prediction if owner.R is None else owner.R + prediction

    def width(self):
        """|x|_{Lambda^-1}."""
        return self._table(np.sqrt(np.maximum(self.owner.squares[:, self.t], 0.0)))

    def noise(self, members=1):
        """The maximum over `members` independent draws of x' xi_m, xi_m ~ N(0, Lambda^-1), as many in all rows."""
        owner, members = self.owner, int(np.max(members))
        z = owner.problem.normals.take(owner.D * members).reshape(owner.n, owner.D, members)
        return self._table((owner.X @ (self.F @ z)).max(-1))
