"""UCRL-VTR (Jia, Yang, Szepesvari, Wang, L4DC 2020; Ayoub et al., ICML 2020): value-targeted model regression.

Transitions are a mixture P = sum_j theta_j P_j of known signed kernels. At every step the value of the next state is
regressed on the predictions of the kernels, with the values of the plan of episode k:

    X_{h,k} = ( int V_{h+1,k} dP_j(. | s_h, a_h) )_j,   y_{h,k} = V_{h+1,k}(s_{h+1})
    M <- M + X X',   w <- w + y X   at every step, M_1 = lam I;   theta = M^-1 w   at the end of the episode
    Q_h     = Pi_[0,H]( r + X' theta + beta_h |X|_{M^-1} ),   V_h = max_a Q_h,   X made of V_{h+1}
    beta_h  = sqrt(lam) m_2 + (H-h)/2 sqrt( 2 log(1/delta) + log det M - d log lam ),   h = 0, ..., H-1

beta_h is that of the authors' code and Appendix C, with delta = 1/K, lam = 1, m_2 >= |theta*|; `scale` multiplies it.
`presentation` says how a family is written as such a mixture, with C cells:

- one-hot, the authors' choice: P_j = 1[(s,a,s') = j] on cells, d = C^2 A, theta = P, m_2 = sqrt(C A). X is V_{h+1} in
  the block of (s,a): M^-1 is (n, C, A, C, C), w (n, C, A, C). Exact where features are constant on cells.
- linearised, a first-order heuristic: P_theta ~ P_theta0 + sum_i (theta - theta0)_i P_theta0 (T_i - E T_i) at the
  estimate theta0 of the episode's plan, X = U' Cov_theta0(psi, V), the target is y - E_theta0 V + X' theta0, and the
  plan has E_theta0 V in place of X' theta. m_2 = B_A; M (n, blocks, m, m) starts from lam times bold A, w is (n, d).

**Deviations.** Those of `planned_rewards.py`. This is Algorithm 3 of Ayoub et al. (Appendix C), which they run, not
their Algorithm 1, a maximum over a set of models. The first episode is planned with theta = 0, as in that listing; the
authors' code starts from Q = 0 and learns nothing from it. One estimate and one M serve all h, as in that code, which
cuts Q at H; `clip: H-h` cuts Q_h at the remaining steps, as Appendix C says of values. Known supports are not used.
Q is rounded to six decimals: its values enter a regression that is ill-conditioned for small lam, and differences in
the last digits, as between processors, would lead to other actions after ten episodes.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from befrl.agents.base import EXACT, MISSPECIFIED, BaseAgent, Plan
from befrl.agents.shared.cells import near
from befrl.agents.shared.planned_rewards import PlannedRewards, RewardParameters
from befrl.common.parameters import choice, given_or, number, optional, scale
from befrl.numerics import bellman, linalg
from befrl.planning.optimism import covariance_rows

DECIMALS = 6  # of Q


@dataclass(frozen=True)
class Parameters(RewardParameters):
    scale: float | str = scale("multiple of the radius beta; theory means 1")
    presentation: str = choice("one-hot", ("one-hot", "linearised"), "how the family is written as a mixture")
    clip: str = choice("H", ("H", "H-h"), "where Q is cut: at H, as in the authors' code, or at the remaining steps")
    lam: float = number(1.0, 1e-6, 1e6, "weight of the penalty: M_1 = lam I", ridge=True)
    delta: float | None = optional(1e-12, 1.0, "failure rate in beta; 1/K if none")


class OneHot:
    """theta is the table of P(next cell | cell, action)."""

    def __init__(self, problem, lam):
        self.space, n = problem.model.space, problem.n
        C, A = problem.model.n_cells, problem.model.n_actions
        self.m_2 = np.sqrt(C * A)
        self.inverse = np.tile(np.eye(C), (n, C, A, 1, 1)) / lam[:, None, None, None, None]
        self.w = np.zeros((n, C, A, C))
        self.log_det_ratio = np.zeros(n)
        self._rows, self._pairs = np.arange(n), np.triu_indices(C)

    def prepare(self):
        """theta = M^-1 w, and the linear maps V -> X' theta and V V' -> |X|^2_{M^-1}."""
        self.theta = np.einsum("ncajk,ncak->ncaj", self.inverse, self.w)
        self._expected = bellman.expectation(self.theta)
        first, second = self._pairs
        packed = self.inverse.reshape(*self.w.shape[:3], -1).take(first * self.w.shape[-1] + second, axis=-1)
        packed *= 1.0 + (first < second)  # M^-1 is symmetric: pairs of different cells count twice
        self._packed = np.asfortranarray(packed)

    def step(self, V):
        """X' theta and |X|_{M^-1} of every (cell, action) for V (n, C)."""
        first, second = self._pairs
        products = np.asfortranarray(V.take(first, axis=1) * V.take(second, axis=1))
        square = bellman.ordered(np.einsum("nsam,nm->nsa", self._packed, products))
        return self._expected(V), np.sqrt(np.maximum(square, 0.0, out=square), out=square)

    def learn(self, trajectory, V):
        _, C, A, _ = self.w.shape
        X = np.ascontiguousarray(V[:, 1:].swapaxes(0, 1))  # so that the order of sums does not depend on n
        places = (self._rows * C + trajectory.cells.T) * A + trajectory.actions.T
        following = self.space.cell(trajectory.next_states).T
        targets = np.take_along_axis(X, following[..., None], axis=-1) * X
        inverse, w = self.inverse.reshape(-1, C, C), self.w.reshape(-1, C)
        growths = np.empty(places.shape)
        for at, x, target, growth in zip(places, X, targets, growths, strict=True):
            # Sherman and Morrison: (M + X X')^-1 = M^-1 - g g'/(1 + X'g) with g = M^-1 X.
            old = inverse.take(at, axis=0)
            g = np.einsum("njk,nk->nj", old, x)
            np.einsum("nj,nj->n", x, g, out=growth)
            old -= g[:, :, None] * (g / (1.0 + growth)[:, None])[:, None, :]
            inverse[at] = old
            w[at] += target
        for grown in special.log1p(growths):
            self.log_det_ratio += grown


class Linearised:
    """theta is the family's parameter; kernels are expanded around the last estimate."""

    def __init__(self, problem, lam):
        self.model, self.n, self.m_2 = problem.model, problem.n, problem.constants["B_A"]
        features = problem.model.features
        self.theta, self.w = np.zeros((2, self.n, features.d))
        one = hasattr(features, "block")  # Kronecker features, which have no `block`, form a single block
        self.block = features.block if one else np.zeros((features.n_anchors, features.n_actions), dtype=int)
        self.M = lam[:, None, None, None] * (features.trace if one else np.eye(features.d)[None])
        self._log_det_start = linalg.log_determinant(linalg.cholesky(self.M))

    def prepare(self):
        """theta0 = M^-1 w, its kernel, and the matrices for Cov(psi, V) and the norms."""
        features = self.model.features
        self.theta = linalg.solve(self.M, self.w)
        self.log_det_ratio = linalg.log_determinant(linalg.cholesky(self.M)) - self._log_det_start
        P, partial = self.model.family.kernel_and_partial_means(features.natural(self.theta))
        self._expected, self._covariance = bellman.expectation(P), covariance_rows(P, partial)
        self._spread = features.spread(self.M)
        self._means, self._slopes = [], []

    def step(self, V):
        """E_theta0 V and |X|_{M^-1} of every (anchor, action) for V (n, N)."""
        mean = self._expected(V)
        slope = (self._covariance @ V[..., None]).reshape(*mean.shape, -1)
        self._means.insert(0, mean)
        self._slopes.insert(0, slope)
        return mean, np.sqrt(np.maximum(((self._spread @ slope[..., None])[..., 0] * slope).sum(-1), 0.0))

    def learn(self, trajectory, V):
        U, rows = self.model.features.U, np.arange(self.n)
        anchors, here = near(self.model.space, trajectory.states)
        following, there = near(self.model.space, trajectory.next_states)
        for h, actions in enumerate(trajectory.actions.T):
            place = (anchors[:, h], actions[:, None])
            at = (rows[:, None], *place)
            X = (here[:, h, :, None, None] * U[place] * self._slopes[h][at][..., None]).sum((1, 2))
            mean = (here[:, h] * self._means[h][at]).sum(-1)
            y = (there[:, h] * V[rows[:, None], h + 1, following[:, h]]).sum(-1)
            block, m = (rows, self.block[anchors[:, h, 0], actions]), X.shape[-1]
            theta0 = self.theta.reshape(self.n, -1, m)[block]
            self.M[block] += X[:, :, None] * X[:, None, :]
            self.w.reshape(self.n, -1, m)[block] += ((y - mean + (X * theta0).sum(-1))[:, None]) * X


class Agent(BaseAgent):
    @classmethod
    def specification(cls, model, parameters):
        return EXACT if parameters.presentation == "one-hot" and not model.smooth else MISSPECIFIED

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.delta = given_or(parameters.delta, 1.0 / problem.episodes)
        self.one_hot = parameters.presentation == "one-hot"
        self.mixture = (OneHot if self.one_hot else Linearised)(problem, parameters.lam)
        self.rewards = PlannedRewards(problem, parameters, self.delta)
        self.V = None

    def radius(self):
        """beta_h of the authors, (n, H)."""
        scale, lam = self.parameters.scale, self.parameters.lam
        noise = np.sqrt(2 * np.log(1 / self.delta) + self.mixture.log_det_ratio)
        steps = np.arange(self.problem.horizon, 0, -1)
        return scale[:, None] * ((np.sqrt(lam) * self.mixture.m_2)[:, None] + steps / 2 * noise[:, None])

    def plan(self, k):
        H, mixture, space = self.problem.horizon, self.mixture, self.problem.model.space
        mixture.prepare()
        beta, means = self.radius()[..., None, None], self.rewards.means()
        R = bellman.ordered(space.cell_means(means) if self.one_hot else means)

        def step(h, V):
            mean, norm = mixture.step(V)
            top = float(H if self.parameters.clip == "H" else H - h)
            return np.round(np.clip(R + mean + beta[:, h] * norm, 0.0, top), DECIMALS)

        Q, self.V = bellman.recursion(step, H, R.shape)
        if self.one_hot:
            return Plan(self.greedy(Q), space.on_anchors(self.V[:, 0]), means)
        return Plan(self.cell_policy(Q), self.V[:, 0], means)

    def facts(self):
        return {"m_2": float(self.mixture.m_2), "delta": self.delta}

    def update(self, trajectory):
        self.rewards.update(trajectory)
        if self.V is not None:
            self.mixture.learn(trajectory, self.V)
