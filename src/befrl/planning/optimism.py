"""Optimistic planning over an ellipsoid of models: relaxations of the intractable argmax_pi max_theta V_theta,1(s_1).

Over |theta - theta^|_M <= rho, with Cov(psi, V_{h+1}) under theta^ and the spread U M^-1 U' of each (s,a),

    local     b_h = rho | U' Cov(psi, V_{h+1}) |_{M^-1}: the linearised maximum at each (s,a,h) separately
    pinsker   b_h = (H-h) sqrt(KLmax/2),  KLmax = rho^2/2 lambda_max(U M^-1 U' Cov psi): by total variation
    sample    the best of F(theta) = max_pi V_theta,1 at a few theta on the boundary
    gradient  projected ascent on F; by the envelope theorem, with mu_h the occupancy of the best policy,
              grad F = sum_h sum_s mu_h(s) U(s, pi_h(s))' Cov_theta(psi, V_{h+1})

The first two add a bonus and clip Q_h to [0, H-h+1]: upper bounds to first and second order. The last two give lower
bounds. Shapes: theta (n, d), M (n, blocks, m, m), rho (n,), R (n, N, A), start (n, N), Q (n, H, N, A), V_1 (n, N).
"""

import itertools
from dataclasses import dataclass

import numpy as np

from befrl.numerics import bellman, linalg
from befrl.planning import induction

# Projected ascent takes steps of length rho/(1 + j/SLOWING) in the norm of M, from the centre and from random starts.
STEPS, RESTARTS, SLOWING = 30, 3, 5.0
TRIED = RESTARTS * (STEPS + 1)  # number of models in which the ascent plans
TINY = 1e-300


@dataclass(frozen=True)
class Region:
    """The ellipsoid of models |theta - centre|_M <= rho."""

    model: object
    centre: np.ndarray
    matrix: np.ndarray
    rho: np.ndarray

    def boundary(self, normals):
        """A vector theta - centre of length rho in a random direction: rho L^-T z/|z|, M = L L'."""
        z = normals.take(self.model.d)
        z = z * (self.rho / np.sqrt(np.square(z).sum(-1)))[:, None]
        return linalg.solve_transposed_factor(linalg.cholesky(self.matrix), z)

    def project(self, shift):
        """theta - centre, shortened to length rho where it is longer."""
        size = np.sqrt(linalg.quadratic(self.matrix, shift))
        return shift * np.minimum(1.0, self.rho / np.maximum(size, TINY))[:, None]

    def uphill(self, slope):
        """The step of length rho in the direction of steepest ascent for this gradient."""
        step = linalg.solve(self.matrix, slope)
        size = np.sqrt(np.maximum((step * slope).sum(-1), 0.0))
        return step * (self.rho / np.maximum(size, TINY))[:, None]


def _length(spread, rho):
    """The map from the p components (n, N, A) of v to rho |U'v|_{M^-1}, for spread = U M^-1 U' (n, N, A, p, p)."""
    # By components, since numpy is slow on short axes, and with rows last in memory, as in the recursion.
    spread = np.square(rho)[:, None, None, None, None] * spread
    pairs = list(itertools.combinations_with_replacement(range(spread.shape[-1]), 2))
    weights = [np.asfortranarray(spread[..., i, j] * (1 + (i < j))) for i, j in pairs]

    def length(v):
        square = weights[0] * np.square(v[0])
        for weight, (i, j) in zip(weights[1:], pairs[1:], strict=True):
            product = v[i] * v[j]
            product *= weight
            square += product
        return np.sqrt(np.maximum(square, 0.0, out=square), out=square)

    return length


def covariance_rows(P, partial):
    """The map V -> Cov(psi, V) = sum_x V(x) (E[psi 1(x)] - P(x) E psi), x the next anchor, as rows (n, N A p, N)."""
    contrast = partial - P[..., None] * partial.sum(-2)[..., None, :]
    return np.swapaxes(contrast, -1, -2).reshape(len(P), -1, P.shape[-1])


def local(region, R, horizon):
    if region.model.smooth:
        return _local_smooth(region, R, horizon)
    features = region.model.features
    P, partial = region.model.family.kernel_and_partial_means(features.natural(region.centre))
    n, N, A = R.shape
    rows = covariance_rows(P, partial).reshape(n, N, A, -1, P.shape[-1]).swapaxes(2, 3)
    covariance = bellman.expectation(rows.reshape(n, N, -1, P.shape[-1]))
    length = _length(features.spread(region.matrix), region.rho)

    def bonus(h, V):
        slope = covariance(V)
        return length([slope[..., first : first + A] for first in range(0, slope.shape[-1], A)])

    return _with_bonus(R, P, bonus, horizon)


def _local_smooth(region, R, horizon):
    """`local` by groups of rows, with E V and Cov(psi, V) as sums over the nodes; the bonus is that of `_length`."""

    def step_of(model, R, rows):
        moments = model.family.value_moments(induction.by_action(model, region.centre[rows]))
        spread = model.features.spread(region.matrix[rows]).transpose(3, 4, 0, 2, 1)
        spread = np.square(region.rho[rows, None, None]) * spread
        pairs = list(itertools.combinations_with_replacement(range(len(spread)), 2))
        weights = [np.ascontiguousarray(spread[i, j] * (1 + (i < j))) for i, j in pairs]

        def step(h, V):
            mean, slope = moments(V)
            square = sum(weight * slope[i] * slope[j] for weight, (i, j) in zip(weights, pairs, strict=True))
            mean = mean + np.sqrt(np.maximum(square, 0.0))
            return np.clip(R + mean.swapaxes(1, 2), 0.0, float(horizon - h))

        return step

    Q, V = induction.by_groups(region.model, R, horizon, step_of)
    return Q, V[:, 0]


def pinsker(region, R, horizon):
    features = region.model.features
    natural = features.natural(region.centre)
    P = region.model.family.kernel(natural)
    cov = region.model.family.moments(natural)[2]
    values, vectors = np.linalg.eigh(cov)  # spread Cov has the eigenvalues of Cov^1/2 spread Cov^1/2
    root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    top = np.linalg.eigvalsh(np.swapaxes(root, -1, -2) @ features.spread(region.matrix) @ root)[..., -1]
    distance = bellman.ordered(0.5 * region.rho[:, None, None] * np.sqrt(np.maximum(top, 0.0)))
    return _with_bonus(R, P, lambda h, V: (horizon - h - 1) * distance, horizon)


def _with_bonus(R, P, bonus, horizon):
    """Q_h = clip(R + P V_{h+1} + b_h, 0, H-h+1), h from 1; in the code from 0."""
    expected, R = bellman.expectation(P), bellman.ordered(R)

    def step(h, V):
        return np.clip(R + expected(V) + bonus(h, V), 0.0, float(horizon - h))

    Q, V = bellman.recursion(step, horizon, R.shape)
    return Q, V[:, 0]


def sample(region, R, horizon, start, normals, count):
    best, chosen = np.full(len(R), -np.inf), region.centre
    for _ in range(count):
        theta = region.centre + region.boundary(normals)
        V = induction.backward_induction(region.model, R, theta, horizon)[1][:, 0]
        best, chosen = _better(best, chosen, (start * V).sum(-1), theta)
    return _plan(region.model, chosen, R, horizon)


def gradient(region, R, horizon, start, normals):
    best, chosen = np.full(len(R), -np.inf), region.centre
    for restart in range(RESTARTS):
        shift = region.boundary(normals) if restart else np.zeros_like(region.centre)
        for j in range(STEPS + 1):
            theta = region.centre + shift
            value, slope = value_and_slope(region.model, theta, R, horizon, start)
            best, chosen = _better(best, chosen, value, theta)
            shift = region.project(shift + region.uphill(slope) / (1 + j / SLOWING))
    return _plan(region.model, chosen, R, horizon)


def value_and_slope(model, theta, R, horizon, start):
    """F(theta) = max_pi V_theta,1 averaged over the first state, (n,), and its gradient (n, d)."""
    P, partial = model.family.kernel_and_partial_means(model.features.natural(theta))
    n, N, A = R.shape
    Q, V = bellman.backward_induction(R, P, horizon)
    mu = np.ascontiguousarray(start.T)  # rows come last in memory, as they do in the recursion
    played = bellman.greedy(Q).transpose(1, 2, 0)[:, None] == np.arange(A)[:, None, None]
    visits = np.empty((horizon, A, N, n))
    forward = bellman.expectation(P.transpose(0, 3, 2, 1).reshape(n, N, 1, A * N))
    for h in range(horizon):
        np.multiply(mu, played[h], out=visits[h])
        mu = forward(visits[h].reshape(A * N, n).T)[..., 0].T
    # sum_h mu_h(s, a) V_{h+1}, a function of the next anchor.
    visits = np.ascontiguousarray(visits.transpose(3, 2, 1, 0)).reshape(n, N * A, horizon)
    ahead = (visits @ np.ascontiguousarray(V[:, 1:])).reshape(P.shape)
    covariance = np.vecdot(ahead[..., None, :], partial.swapaxes(-1, -2))
    covariance -= np.vecdot(ahead, P)[..., None] * partial.sum(-2)
    return (start * V[:, 0]).sum(-1), model.features.pull(covariance)


def _better(best, chosen, value, theta):
    higher = value > best
    return np.where(higher, value, best), np.where(higher[:, None], theta, chosen)


def _plan(model, theta, R, horizon):
    Q, V = induction.backward_induction(model, R, theta, horizon)
    return Q, V[:, 0]


class FirstStates:
    """The empirical law of the first states, by cell; uniform over cells before the first episode."""

    def __init__(self, space, n):
        self.space, self._counts = space, np.zeros((n, space.n_cells))

    def add(self, trajectory):
        self._counts[np.arange(len(self._counts)), trajectory.cells[:, 0]] += 1.0

    def masses(self):
        """The law on the anchors, (n, N)."""
        counts = self._counts if self._counts.any() else np.ones_like(self._counts)
        cells = counts / counts.sum(-1, keepdims=True)
        return (cells[..., None] * self.space.cell_shares).reshape(len(cells), -1)
