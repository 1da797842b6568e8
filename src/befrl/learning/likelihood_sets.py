"""Confidence sets of exponential families from their likelihoods, without a lower bound on covariances.

theta falls into J components, such that every (s,a) depends on one of them. For component j, with the penalised
maximum-likelihood estimate theta^ and |theta*_j|_A <= B,

    b_j = scale ( eta/2 B^2 + 1/2 log det(I + beta/eta A_j^-1 sum G) + log(J/delta) ).

With probability 1 - delta, for all components and all times, sum KL(theta^, theta*) + eta/2 |theta* - theta^|_A^2 is
at most b_j. By default eta = m/B^2, m being the size of the largest component. Let v* = U theta*, |v*| <= S*, v^ =
U theta^, n the visits, C = Cov psi at v^ and g(x) = 2 (e^x - 1 - x)/x^2. Then every (s,a), visited or not, has
|v* - v^| <= X, KL(v^, v*) <= D and, for p = 1, v- <= v* <= v+:

    one-hot   X = min( sqrt(2b/eta), S* + |v^| ),   D = min( b/n, beta X^2/2 ),
              v- and v+ are the roots v of n KL(v^, v) + eta/2 (v - v^)^2 = b, cut to |v| <= S*
    others    X = min( sqrt(2b/eta) |U|_{A^-1},  S* + |v^|,  X of the last plan + |v^ - v^ then| ), then twice
              Hbar = eta A + sum n g(-M X) U'CU,   X <- min( X, sqrt(2b lmax(U Hbar^-1 U')) ),
              D = min( g(M X) b lmax(C U Hbar^-1 U'), beta X^2/2 ),   v-+ = v^ -+ X, cut to |v| <= S*

beta and the self-concordance M hold for all parameters in R^d. docs/repair-proof.md has the proofs (Lemmas 1 to 4); its
g is half of ours. What is not computed exactly errs on the safe side: Newton's method for the root of a convex function
ends beyond it, and for p > 2 the largest eigenvalue is replaced by an upper bound. Only where features vary within
cells are n weights of either sign, and log det and Hbar approximations. Shapes: n, b, X, D (rows, N, A); v (rows, N,
A, p).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from befrl.numerics import linalg
from befrl.numerics.newton import DECREMENT

STEPS_FIRST, STEPS = 8, 1  # Newton steps for the roots, in the first plan and from then on
ROUNDS = 2  # of Hbar and X
SMALLEST_B = 0.1  # so that m/B^2 is finite
TINY, NEAR = 1e-300, 1e-3


@dataclass(frozen=True)
class Sets:
    """Bounds of the divergence of each law from its estimate and, for p = 1, intervals of its natural parameter.

    Divergences D (rows, N, A); ends v- and v+ of the intervals, (rows, N, A) each, or None for p > 1.
    """

    D: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None


class States:
    """The likelihood of next states, as the sets need it."""

    def __init__(self, model, constants):
        self.features, family = model.features, model.family
        self.p, self.moments = family.p, family.moments
        self.beta, self.M, self.S = family.covariance_bound, family.self_concordance, constants["radius_p"]
        self.diagonal = family.diagonal
        self.U = self.features.U
        if one_hot(self.features):
            self.rank, self.B = _ranks(family, self.U.shape[:2]), self.S
        else:
            self.B = constants["B_A"]

    def design(self, counts):
        """The sum of G over the visits."""
        return self.features.design(counts)

    def curvature(self, weights, cov):
        """The matrices in v whose sandwich is the Hessian."""
        return weights[..., None, None] * cov

    def spread(self, matrix):
        """U matrix^-1 U'."""
        return self.features.spread(matrix)


class Rewards:
    """The likelihood of rewards: a family with p = 1 and c = B . U theta."""

    p = 1

    def __init__(self, model, constants):
        self.features, self.law, self.along, self.BB = model.features, model.reward, model.B, model.BB
        self.beta, self.M, self.S = self.law.variance_bound, self.law.self_concordance, constants["radius_r"]
        self.diagonal = model.one_component
        self.U = np.einsum("xapi,p->xai", self.features.U, model.B)[:, :, None]
        self.unit = 1.0  # theta's penalty is eta times this where eta is that of c
        if one_hot(self.features):
            self.rank, self.B, self.unit = np.ones(self.U.shape[:2]), self.S, float(model.B @ model.B)
        else:
            self.B = constants["B_A"]

    def moments(self, c):
        Z, mean, variance = self.law.moments(c[..., 0])
        return Z, mean[..., None], variance[..., None, None]

    def design(self, counts):
        return self.features.sandwich(counts[..., None, None] * self.BB, diagonal=self.diagonal)

    def curvature(self, weights, variance):
        return (weights * variance[..., 0, 0])[..., None, None] * self.BB

    def spread(self, matrix):
        return (self.features.spread(matrix) * self.BB).sum((-1, -2))[..., None, None]


def one_hot(features) -> bool:
    """Whether every (anchor, action) has parameters of its own, with U = I."""
    return getattr(features, "orthonormal", False)


def sets_of(source, eta, delta, scale):
    """The sets of a likelihood; eta, delta and scale are (rows,), and eta is NaN where it is to be m/B^2."""
    return (OneHotSets if one_hot(source.features) else EllipsoidSets)(source, eta, delta, scale)


class OneHotSets:
    """A component, and a set, for each (anchor, action)."""

    def __init__(self, source, eta, delta, scale):
        self.source = source
        self.eta = _penalty(eta, source.rank.max(initial=1), source.B)
        self.scale, self._log = scale[:, None, None], np.log(source.rank.size / delta)[:, None, None]
        self._last = None  # x sqrt(eta + n Var) of the last plan, which hardly moves

    def update(self, counts, v):
        """The sets after these visits (n, N, A), around the estimates v (n, N, A, p)."""
        source, eta = self.source, self.eta[:, None, None]
        b = eta * source.B**2 / 2 + source.rank / 2 * np.log1p(source.beta * counts / eta) + self._log
        b = self.scale * _with_newton_error(b)
        X = np.minimum(np.sqrt(2 * b / eta), source.S + _length(v))
        D = np.divide(b, counts, out=np.full(b.shape, np.inf), where=counts > 0)
        D = np.where(source.rank > 0, np.minimum(D, source.beta / 2 * np.square(X)), 0.0)
        return Sets(D, *(self._ends(counts, v, b) if source.p == 1 else (None, None)))

    def _ends(self, counts, v, b):
        """The roots, from outside, cut to |v| <= S*."""
        source, eta, sign = self.source, self.eta[:, None, None], np.array([-1.0, 1.0]).reshape(2, 1, 1, 1)
        Z, mean, variance = source.moments(v)
        mean, unit = mean[..., 0], np.sqrt(eta + counts * variance[..., 0, 0])
        steps = STEPS if self._last is not None else STEPS_FIRST
        x = (np.sqrt(2 * b) if self._last is None else self._last) / unit * np.ones((2, 1, 1, 1))
        for _ in range(steps):
            there = (v[..., 0] + sign * x).reshape(-1, *b.shape[1:], 1)
            Z_there, mean_there = (part.reshape(x.shape) for part in source.moments(there)[:2])
            excess = counts * (Z_there - Z - sign * x * mean) + eta / 2 * x * x - b
            slope = counts * sign * (mean_there - mean) + eta * x
            x = np.maximum(x - excess / np.maximum(slope, TINY), 0.0)
        self._last = x * unit
        low, high = np.clip(v[..., 0] + sign * np.minimum(x, np.sqrt(2 * b / eta)), -source.S, source.S)
        return low, high


class EllipsoidSets:
    """Components of several (anchor, action), with the ellipsoids |theta* - theta^|_Hbar^2 <= 2b."""

    def __init__(self, source, eta, delta, scale):
        self.source, features = source, source.features
        coordinates, self._at = components(features, source.U)
        J = self._at.max() + 1
        self._members = [np.flatnonzero(coordinates == j) for j in range(J)]
        self.eta = _penalty(eta, max(map(len, self._members)), source.B)
        self.scale, self._log = scale[:, None], np.log(J / delta)[:, None]
        trace = np.asarray(features.trace)[None]
        self._lengths = np.sqrt(largest_eigenvalue(source.spread(trace)))
        self._log_trace = self._log_determinants(trace)
        self._X = self._v = None  # of the last plan

    def _log_determinants(self, matrix):
        """log det of each component's part of a matrix: the Cholesky factor's diagonal is that of the parts."""
        logs = np.log(np.diagonal(linalg.cholesky(matrix), axis1=-2, axis2=-1)).reshape(len(matrix), -1)
        # In contiguous memory the order of a sum does not depend on the number of rows.
        return np.stack([2.0 * np.ascontiguousarray(logs[:, each]).sum(-1) for each in self._members], axis=1)

    def update(self, counts, v):
        """The sets after these visits (n, N, A), around the estimates v (n, N, A, p)."""
        source, features = self.source, self.source.features
        grown = features.plus_trace((source.beta / self.eta)[:, None, None, None] * source.design(counts), 1.0)
        gained = self._log_determinants(linalg.positive(grown)) - self._log_trace
        b = self.eta[:, None] * source.B**2 / 2 + gained / 2 + self._log
        b = (self.scale * _with_newton_error(b))[:, self._at]
        cov = source.moments(v)[2]
        X = np.minimum(np.sqrt(2 * b / self.eta[:, None, None]) * self._lengths, source.S + _length(v))
        if self._X is not None:
            X = np.minimum(X, self._X + _length(v - self._v))
        for _ in range(ROUNDS):
            hessian = features.sandwich(source.curvature(counts * g(-source.M * X), cov), diagonal=source.diagonal)
            S = source.spread(linalg.positive(features.plus_trace(hessian, self.eta)))
            X = np.minimum(X, np.sqrt(2 * b * largest_eigenvalue(S)))
        self._X, self._v = X, v
        E = b * largest_eigenvalue(cov @ S)
        with np.errstate(over="ignore", invalid="ignore"):
            D = np.fmin(g(source.M * X) * E, source.beta / 2 * np.square(X))
        if source.p > 1:
            return Sets(D, None, None)
        return Sets(D, *np.clip(v[..., 0] + np.array([-1.0, 1.0]).reshape(2, 1, 1, 1) * X, -source.S, source.S))


def components(features, U):
    """The component of each coordinate of theta, (d,), and of each (anchor, action), (N, A).

    Coordinates belong together if some U (N, A, p, m) or bold A links them. Those that no U touches get -1, and an
    (anchor, action) with U = 0, whose law is known, gets component 0.
    """
    N, A = U.shape[:2]
    used = (U != 0).any(2).reshape(N * A, -1)
    trace = np.asarray(features.trace)
    blocks, m = trace.shape[:2]
    pattern = np.zeros((N * A, blocks * m), dtype=bool)
    if used.shape[1] == blocks * m:
        pattern[:] = used
    else:
        pattern.reshape(N * A, blocks, m)[np.arange(N * A), features.block.ravel()] = used
    link = pattern.T.astype(float) @ pattern
    for i, block in enumerate(trace):
        link[i * m : (i + 1) * m, i * m : (i + 1) * m] += block != 0
    label = connected_components(link > 0, directed=False)[1]
    names = np.unique(label[pattern.any(0)])
    coordinates = np.where(np.isin(label, names), np.searchsorted(names, label), -1)
    return coordinates, coordinates[pattern.argmax(1)].clip(0).reshape(N, A)


def g(x):
    """2 (e^x - 1 - x)/x^2, increasing, with g(0) = 1."""
    near = np.abs(x) < NEAR
    with np.errstate(over="ignore"):
        far = 2.0 * (np.expm1(x) - x) / np.square(np.where(near, 1.0, x))
    return np.where(near, 1.0 + x / 3 + np.square(x) / 12, far)


def largest_eigenvalue(matrices):
    """The largest eigenvalue of products of two positive matrices (..., p, p), or for p > 2 up to p^(1/8) times it."""
    p = matrices.shape[-1]
    if p == 1:
        return matrices[..., 0, 0]
    if p == 2:
        a, b, c, d = (matrices[..., i, j] for i, j in np.ndindex(2, 2))
        return 0.5 * (a + d + np.sqrt(np.maximum(np.square(a - d) + 4 * b * c, 0.0)))
    trace = np.maximum(np.trace(matrices, axis1=-2, axis2=-1), TINY)
    square = matrices / trace[..., None, None]
    square = square @ square
    fourth = square @ square
    return trace * (fourth * np.swapaxes(fourth, -1, -2)).sum((-1, -2)) ** 0.125


def _penalty(eta, m, B):
    return np.where(np.isnan(eta), m / max(B, SMALLEST_B) ** 2, eta)


def _with_newton_error(b):
    """b + nu sqrt(2b) + 2 nu^2, where nu bounds the gradient at the estimate in the norm (eta A)^-1 (Section 8).

    Newton's method takes its last step at the decrement sqrt(DECREMENT), after which gradients are far smaller.
    """
    nu = np.sqrt(DECREMENT)
    return b + nu * np.sqrt(2 * b) + 2 * nu**2


def _length(v):
    return np.abs(v[..., 0]) if v.shape[-1] == 1 else np.sqrt(np.square(v).sum(-1))


def _ranks(family, shape):
    """The dimension of the differences of psi on the support of each (anchor, action), (N, A)."""
    found = np.zeros(family.log_base.shape[:2])
    for place in np.ndindex(found.shape):
        support = family.support(*place)
        if len(support) > 1:  # numpy before 2.2 has no rank of an empty matrix
            found[place] = np.linalg.matrix_rank(np.diff(support, axis=0))
    return np.broadcast_to(found, shape)
