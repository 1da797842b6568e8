"""Thompson sampling for Gaussian next states (Ren, Zhang, Szepesvari, Dai, UAI 2022), with a linear class.

The model is s' = W f(s,a) + N(0, sigma^2 I) with known f and sigma. With y = s' - c and prior precision eta/sigma^2,

    W ~ N( W^, sigma^2 Lambda^-1 ) for each row,   Lambda = eta I + sum f f',   W^ = (sum y f') Lambda^-1
    W~ = W^ + v sigma Z Lambda^-1/2,   Q_h = E[r] + E_{W~} V_{h+1},   V_h = max_a Q_h

`scale` is v, 1 in theory. Where next states are Gaussian (`lds`) the model is exact, with the instance's features and
sigma and c = 0. On other continuous spaces this is the misspecified baseline that Li et al. call LDS: f is the
instance's phi, or one-hot(cell, action) where features are constant on cells, c and sigma_0^2 are the mean and the
variance of the base measure, the normal law is truncated to the box, and sigma^2 = (sigma_0^2 + sum |y|^2 - <W^, sum y
f'>) / (1 + m n). Shapes: W as a vector (n, m q), Lambda (n, blocks, ., .), sigma (n,).

**Deviations.** The paper has a general class of means and a Bayesian bound; here means are linear and the law is fixed.
In track U the reward, known in the source, has a parameter drawn from the Laplace posterior. The expected next value is
integrated on anchors, not by random features. sigma is plugged in, not drawn; the code of Li et al. has a given sigma
and no draws of W. Where features vary within cells sums over visits are interpolated (`data.py`). Angles are treated as
numbers. theta* is not estimated, so that no estimation error is logged.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from befrl.agents.base import EXACT, MISSPECIFIED, BaseAgent, Plan
from befrl.common.errors import Refused
from befrl.common.parameters import number, scale
from befrl.learning import likelihood
from befrl.learning.data import Data, Visits
from befrl.learning.reward_learner import RewardLearner
from befrl.model.families.gaussian import GaussianStates, spread_within
from befrl.model.features import Features
from befrl.model.kronecker_features import KroneckerFeatures
from befrl.model.spaces import legendre_rule
from befrl.numerics import bellman, linalg
from befrl.planning import induction

BEYOND = 8.0  # means are kept within so many standard deviations of the box, so that its mass does not underflow


@dataclass(frozen=True)
class Parameters:
    eta: float = number(1.0, 1e-6, 1e6, "weight of the penalty", ridge=True)
    scale: float | str = scale("multiple v of the posterior's standard deviation; theory means 1")


class Agent(BaseAgent):
    @classmethod
    def specification(cls, model, parameters):
        if model.space.discrete:
            raise Refused(
                f"agent 'ren-ts' cannot work with the family {type(model.family).__name__}: "
                "it takes next states for Gaussian, so that they must be continuous"
            )
        return EXACT if isinstance(model.family, GaussianStates) else MISSPECIFIED

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        model, n, space, family = problem.model, problem.n, problem.model.space, problem.model.family
        if model.smooth:
            self.features = KroneckerFeatures(model.phi(space.nodes), space.dim)
        else:
            self.features = Features.one_hot(model.n_anchors, model.n_actions, space.dim)
        self.known = isinstance(family, GaussianStates)
        if self.known:
            self.centre, self.sigma = np.zeros(space.dim), np.full(n, family.sigma)
        else:
            nodes = space.nodes.reshape(-1, space.dim)
            law = np.exp(family.log_base[0, 0] + space.log_weights)
            law /= law.sum()
            self.centre = law @ nodes
            self.base_variance = float((law @ np.square(nodes - self.centre)).mean())
            self.sigma = np.full(n, np.sqrt(self.base_variance))
        self.sums = np.zeros((n, model.n_anchors, model.n_actions, space.dim))
        self.squares, self.count = np.zeros(n), 0
        self.W = np.zeros((n, self.features.d))
        self.precision = likelihood.prior(self.features, n, parameters.eta)
        self.data, self.reward = Data(model, n), RewardLearner(problem, parameters.eta)

    def draw(self):
        """W~, (n, m q)."""
        z = self.problem.normals.take(self.features.d)
        z = linalg.solve_transposed_factor(linalg.cholesky(self.precision), z)
        return self.W + (self.parameters.scale * self.sigma)[:, None] * z

    def means(self, W):
        """E[s'] of each (anchor, action), (n, N, A, m)."""
        return self.centre + self.features.natural(W)

    def plan(self, k):
        problem, model = self.problem, self.problem.model
        W = self.draw()
        R = model.mean_reward(self.reward.draw(self.parameters.scale, problem.normals))
        if self.known:
            Q, V = induction.backward_induction(model, R, W / self.sigma[:, None], problem.horizon)
            return Plan(self.cell_policy(Q), V[:, 0], R)
        means = self.means(W).swapaxes(1, 2)

        def step_of(model, R, rows):
            expected = bellman.expectation(normal_masses(model.space, means[rows], self.sigma[rows]))
            return lambda h, V: R + expected(V).swapaxes(1, 2)

        Q, V = induction.by_groups(model, R, problem.horizon, step_of)
        return Plan(self.cell_policy(Q), V[:, 0], R)

    def update(self, trajectory):
        self.data.add(trajectory)
        self.reward.update(self.data)
        dim = len(self.centre)
        y = trajectory.next_states.reshape(*trajectory.actions.shape, dim) - self.centre
        self.sums += Visits(self.problem.model, trajectory).total(y)
        self.precision = self.features.plus_trace(self.features.design(self.data.counts), self.parameters.eta)
        pulled = self.features.pull(self.sums)
        self.W = linalg.solve(self.precision, pulled)
        if not self.known:
            # The memory order must not depend on the number of seeds, since it decides the last bits of a sum.
            self.squares += np.square(np.ascontiguousarray(y)).reshape(len(y), -1).sum(-1)
            self.count += trajectory.actions.shape[1]
            residual = np.maximum(self.squares - (self.W * pulled).sum(-1), 0.0)  # interpolation can make it < 0
            self.sigma = np.sqrt((self.base_variance + residual) / (1 + dim * self.count))


def normal_masses(space, mean, sigma):
    """P(next anchor) of N(mean, sigma^2 I), (n, N, A, anchors), for mean (n, N, A, m) and sigma (n,)."""
    edges = [space.edges] if space.dim == 1 and space.per_cell == 1 else space.edges
    sigma = sigma[:, None, None, None]
    factors = [_along(space, edges, mean[..., axis, None], sigma) for axis, edges in enumerate(edges)]
    grid = factors[0]
    for factor in factors[1:]:
        grid = grid[..., :, None, :, None] * factor[..., None, :, None, :]  # cells, then nodes (`spaces.py`)
    return grid.reshape(*mean.shape[:-1], -1)


def _along(space, edges, mean, sigma):
    """Masses along one axis, (n, N, A, panels, nodes), truncated to the box unless it stands for R^m."""
    if not space.unbounded:
        mean = np.clip(mean, edges[0] - BEYOND * sigma, edges[-1] + BEYOND * sigma)
    cuts = (edges - mean) / sigma
    if space.unbounded:
        cuts[..., 0], cuts[..., -1] = -np.inf, np.inf
    # Masses are differences of the tails beyond the two cuts, on their own side of the mean, which do not cancel.
    below = cuts < 0
    tail = ndtr(-np.abs(cuts))
    tail = np.where(below, -tail, tail)
    mass = tail[..., :-1] - tail[..., 1:]
    mass += below[..., :-1] & ~below[..., 1:]
    mass /= mass.sum(-1, keepdims=True)
    if space.per_cell == 1:
        return mass[..., None]
    x, w = legendre_rule(edges, space.order)
    # Node by node: numpy is slow on short axes.
    logits = [np.log(w[:, node]) - 0.5 * np.square((x[:, node] - mean) / sigma) for node in range(space.order)]
    return spread_within(mass, logits)
