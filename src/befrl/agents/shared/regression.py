"""Least-squares value iteration: the ridge regression of the linear agents, on sufficient statistics.

    Lambda_h = lam I + sum x x',   W_h = sum x e(s')',   b_h = sum x r
    w_h(V)   = Lambda_h^-1 sum x (r + V(s')) = Lambda_h^-1 (b_h + W_h V)      for every V

for features x(s,a) in R^D, |x| <= 1, where e(s')' V is V at s': the cost of a plan does not grow with the episodes. In
track K the targets are V(s') only, and the true mean reward is added to the prediction. Shapes: n seeds, T = H
regressions or T = 1 (`share: steps`), S points, A actions. Both choices of x (`presentation`) have `mean(h, V)`,
`width(h)` and `noise(h)`, (n, S, A) each, with h counted from 0. They have `weights(h, V)`, the w_h(V), also with noise
added to b_h; `predict(w)`, x'w plus the known reward; `normals()`, standard normal weights; `functions(f)`, which apply
f(Lambda_h) to weights; and `add_noise(N, trajectory, eps)`, which adds sum x eps to N (n, T, D, M), eps (n, H, M):

- `one-hot`: x(s,a) = e_(cell, action), D = C A, points are cells. Exact where features are constant on cells.
- `random-features`: x(s,a) = (cos omega_i . phi(s,a), sin omega_i . phi(s,a))_i / sqrt(D/2) for i <= D/2, omega_i ~
  N(0, I/l^2) new for each seed, points are anchors. This approximates the Gaussian kernel between the phi(s,a); l is
  `bandwidth` times the root mean square distance of two of them. Where features are constant on cells phi is one-hot
  (cell, action), and only D >= C A spans all functions. V at s' is interpolated between the anchors of its cell.

**Deviations** of all linear agents. Actions maximise the mean of Q over the anchors of the cell; in the papers, Q at
the visited state. The theory's constants are the papers' for `share: none`. They are kept in track K, and with `share:
steps`, though targets then depend on other steps of the same episode. Clips and defaults assume rewards in [0, 1].
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
    presentation: str = choice("one-hot", ("one-hot", "random-features"), "the features x(s,a) of the regression")
    frequencies: int = integer(32, 1, 2048, "number D/2 of frequencies, with a cosine and a sine each")
    bandwidth: float = number(0.5, 1e-2, 1e2, "length scale of the random features, in distances between phi(s,a)")
    share: str = cells.share("none")
    lam: float = number(1.0, 1e-6, 1e6, "ridge penalty lambda", ridge=True)


class LinearAgent(BaseAgent):
    """An agent whose Q_h is made of the regression of each step: `plan` calls `value_iteration`."""

    @classmethod
    def specification(cls, model, parameters):
        one_hot = parameters.presentation == "one-hot"
        enough = one_hot or 2 * parameters.frequencies >= model.n_cells * model.n_actions
        return EXACT if enough and not model.smooth else MISSPECIFIED

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.one_hot = parameters.presentation == "one-hot"
        self.regression = (OneHot if self.one_hot else RandomFeatures)(problem, parameters)

    def value_iteration(self, value) -> Plan:
        """The plan with Q_h = value(h, V_{h+1}), V_h = max_a Q_h."""
        Q, V = bellman.recursion(value, self.problem.horizon, self.regression.shape)
        if self.one_hot:
            return Plan(self.greedy(Q), self.problem.model.space.on_anchors(V[:, 0]))
        return Plan(self.cell_policy(Q), V[:, 0])

    def update(self, trajectory):
        self.regression.update(trajectory)


class OneHot:
    """One-hot features x(s,a) = e_(cell, action), for which Lambda = lam + visits is diagonal and w a table."""

    def __init__(self, problem, parameters):
        self.problem, self.lam = problem, parameters.lam
        self.shape = (problem.n, problem.model.n_cells, problem.model.n_actions)
        self.D = self.shape[1] * self.shape[2]
        self.R = cells.known_rewards(problem)
        self.counts = cells.Counts(problem, parameters.share)
        self.tables = self.counts.tables
        self._scales = {}

    def update(self, trajectory):
        self.counts.add(trajectory)
        self._scales.clear()

    def scales(self, h):
        """Lambda and |x|_{Lambda^-1}, (n, C, A) each; found once for all steps that share a table."""
        t = self.counts.table(h)
        if t not in self._scales:
            Lambda = self.lam[:, None, None] + self.counts.visits[:, t]
            self._scales[t] = (Lambda, 1.0 / np.sqrt(Lambda))
        return self._scales[t]

    def weights(self, h, V, noise=None):
        """w(V), (n, C, A); `noise` (n, T, D) is added to the b of its table."""
        t, (Lambda, _) = self.counts.table(h), self.scales(h)
        total = bellman.expectation(self.counts.following[:, t])(V)
        if self.R is None:
            total = self.counts.rewards[:, t] + total
        if noise is not None:
            total = total + bellman.ordered(noise[:, t].reshape(self.shape))
        return total / Lambda

    def predict(self, w):
        return w if self.R is None else self.R + w

    def mean(self, h, V):
        return self.predict(self.weights(h, V))

    def width(self, h):
        """|x|_{Lambda^-1}."""
        return self.scales(h)[1]

    def noise(self, h, members=None):
        """x' xi, xi ~ N(0, Lambda^-1) with independent components, or the maximum of `members` (n,) draws, by Phi^M."""
        if members is None:
            return self.normals() * self.width(h)
        z = largest_normal(self.problem.uniforms.take(self.D), members[:, None])
        return bellman.ordered(z.reshape(self.shape)) * self.width(h)

    def normals(self):
        return bellman.ordered(self.problem.normals.take(self.D).reshape(self.shape))

    def functions(self, f):
        """The maps (h, w) -> g(Lambda_h) w, for every array g (n, T, C, A) that f makes of all eigenvalues."""
        made = f(self.lam[:, None, None, None] + self.counts.visits)
        return [lambda h, w, g=g: g[:, self.counts.table(h)] * w for g in made]

    def add_noise(self, N, trajectory, eps):
        places = trajectory.cells * self.shape[2] + trajectory.actions
        for h in range(places.shape[1]):
            N[np.arange(len(N)), self.counts.table(h), places[:, h]] += eps[:, h]


class RandomFeatures:
    """Random Fourier features X (n, N A, D) on the anchors.

    Each table keeps F (D, D) with F F' = Lambda^-1, |x|^2_{Lambda^-1} of the rows of X, W' (N, D) and b (D). Potter's
    square-root update of F costs D^2: with u = F'x, (Lambda + x x')^-1 = F (I - u u'/(1 + u'u)) F', and the matrix
    between has the root I - g u u', g = 1/(s (s + 1)), s = sqrt(1 + u'u).
    """

    def __init__(self, problem, parameters):
        model, n = problem.model, problem.n
        self.problem, self.shape = problem, (n, model.n_anchors, model.n_actions)
        self.D = D = 2 * parameters.frequencies
        rows = model.n_anchors * model.n_actions
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
        self.W = np.zeros((n, self.tables, model.n_anchors, D))
        self.b = np.zeros((n, self.tables, D))

    def _waves(self, phi):
        angles = phi @ self.omega
        return np.concatenate([np.cos(angles), np.sin(angles)], axis=-1) * np.sqrt(2.0 / self.D)

    def features(self, trajectory):
        """The features x of the visits, (n, H, D)."""
        model, actions = self.problem.model, trajectory.actions
        if not model.smooth:
            return self.X[np.arange(len(actions))[:, None], trajectory.cells * model.n_actions + actions]
        states = trajectory.states.reshape(actions.size, *trajectory.states.shape[2:])
        phi = model.phi(states)[np.arange(actions.size), actions.ravel()]
        return self._waves(phi.reshape(*actions.shape, -1))

    def update(self, trajectory):
        x, seeds = self.features(trajectory), np.arange(self.shape[0])[:, None]
        anchors, weights = cells.near(self.problem.model.space, trajectory.next_states)  # of e(s')
        for h in range(x.shape[1]):
            t = h % self.tables
            self.W[seeds, t, anchors[:, h]] += weights[:, h, :, None] * x[:, h, None]
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

    def weights(self, h, V, noise=None):
        """w(V), (n, D, 1); `noise` (n, T, D) is added to the b of its table."""
        t = h % self.tables
        F, target = self.F[:, t], V[:, None] @ self.W[:, t]
        if self.R is None:
            target += self.b[:, t, None]
        if noise is not None:
            target += noise[:, t, None]
        return F @ (target @ F).swapaxes(1, 2)

    def predict(self, w):
        prediction = (self.X @ w).reshape(self.shape)
        return prediction if self.R is None else self.R + prediction

    def mean(self, h, V):
        return self.predict(self.weights(h, V))

    def width(self, h):
        """|x|_{Lambda^-1}."""
        return np.sqrt(np.maximum(self.squares[:, h % self.tables], 0.0)).reshape(self.shape)

    def noise(self, h, members=None):
        """x' xi, xi ~ N(0, Lambda^-1), or the maximum over `members` (n,) draws of it, as many in all rows."""
        members = 1 if members is None else int(members[0])
        z = self.problem.normals.take(self.D * members).reshape(self.shape[0], self.D, members)
        return (self.X @ (self.F[:, h % self.tables] @ z)).max(-1).reshape(self.shape)

    def normals(self):
        return self.problem.normals.take(self.D)[..., None]

    def functions(self, f):
        """The maps (h, w) -> g(Lambda_h) w, for every array g (n, T, D, 1) that f makes of all eigenvalues."""
        U, s, _ = np.linalg.svd(self.F)  # Lambda^-1 = F F' = U s^2 U', more accurate than by Lambda itself

        def function(g):
            def apply(h, w):
                t = h % self.tables
                return U[:, t] @ (g[:, t] * (U[:, t].swapaxes(1, 2) @ w))

            return apply

        return [function(g) for g in f(s[..., None] ** -2)]

    def add_noise(self, N, trajectory, eps):
        x = self.features(trajectory)
        for h in range(x.shape[1]):
            N[:, h % self.tables] += x[:, h, :, None] * eps[:, h, None]
