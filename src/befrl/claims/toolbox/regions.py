"""Simulated runs of the penalised maximum-likelihood estimator, many in lock step, and the integral C_{A,k}.

The laws are products over coordinates j of N(0, variance_j) noise plus spread_j times a random sign, tilted:

    Z(c) = sum_j variance_j c_j^2/2 + log cosh(spread_j c_j),    c = X_f theta,

so spread 0 is Gaussian and variance 0 a coin (Bernoulli up to an affine map). Transitions have X_f = U_f, rewards
X_f = B'U_f, with U_f = (A_i phi_f)_i of shape (p, d). Assumption 1 holds on all of R^d if every variance is positive.
"""

import functools
import itertools
from dataclasses import dataclass

import numpy as np

NODES = 57  # of the quadrature, on each axis


@dataclass(frozen=True, eq=False)
class Case:
    """A law, its true parameter (d,), and how it is observed: A (d, p, q), phi (F, q), episodes of `steps` steps."""

    A: np.ndarray
    phi: np.ndarray
    theta: np.ndarray
    eta: float
    variances: np.ndarray
    spreads: np.ndarray
    B: np.ndarray | None = None
    steps: int = 1
    episodes: int = 1

    @functools.cached_property
    def U(self):
        return np.einsum("ipq,fq->fpi", self.A, self.phi)

    @functools.cached_property
    def X(self):
        return self.U if self.B is None else np.einsum("p,fpi->fi", self.B, self.U)[:, None]

    @functools.cached_property
    def penalty(self):
        """eta A, with A_ij = tr(A_i A_j')."""
        return self.eta * np.einsum("ipq,jpq->ij", self.A, self.A)

    @functools.cached_property
    def G(self):
        """(F, d, d)."""
        return np.einsum("fpi,fpj->fij", self.U, self.U)

    @property
    def beta(self):
        """The printed beta: the largest eigenvalue of Cov psi, or |B|^2 times the largest variance of r."""
        return (self.variances + self.spreads**2).max() * (1.0 if self.B is None else self.B @ self.B)

    @property
    def bias(self):
        """eta |theta|_A^2."""
        return self.theta @ self.penalty @ self.theta

    def log_partition(self, c):
        """Z(c) for c (..., p), up to a constant."""
        x = np.abs(self.spreads * c)
        return (self.variances * c**2 / 2 + x + np.log1p(np.exp(-2 * x))).sum(-1)

    def moments(self, c):
        """Mean and variance of each coordinate of the observation."""
        t = np.tanh(self.spreads * c)
        return self.variances * c + self.spreads * t, self.variances + self.spreads**2 * (1 - t**2)

    def natural(self, theta):
        """c = X_f theta, (..., d) -> (..., F, p)."""
        return np.einsum("fpd,...d->...fp", self.X, theta)

    def divergence(self, first, second, counts):
        """sum_f counts_f KL_f(first, second), a Bregman divergence of Z with its arguments reversed."""
        a, b = self.natural(first), self.natural(second)
        kl = self.log_partition(b) - self.log_partition(a) - ((b - a) * self.moments(a)[0]).sum(-1)
        return (counts * kl).sum(-1)


def described(case):
    """The fields of a case, for the record."""
    return {name: value for name, value in vars(case).items() if name in Case.__dataclass_fields__}


def estimate(case, counts, sums, theta):
    """The penalised MLE by damped Newton steps from theta (n, d), for counts (n, F) and sums (n, F, p)."""
    F, p, d = case.X.shape
    flat = case.X.reshape(F * p, d)
    squares = (flat[:, :, None] * flat[:, None]).reshape(F * p, d * d)
    for _ in range(60):
        mean, variance = case.moments(case.natural(theta))
        gradient = (sums - counts[..., None] * mean).reshape(-1, F * p) @ flat - theta @ case.penalty
        hessian = ((counts[..., None] * variance).reshape(-1, F * p) @ squares).reshape(-1, d, d) + case.penalty
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        # |Z'''| <= 2 spread Z'': this share of the step decreases the loss from any start
        change = 1e-12 + 2 * (case.spreads * np.abs(case.natural(step))).max((-1, -2))
        theta = theta + (np.log1p(change) / change)[:, None] * step
        if np.abs(step).max() <= 1e-10 * (1 + np.abs(theta).max()):
            return theta
    raise ArithmeticError("the Newton steps did not converge")


@dataclass(frozen=True, eq=False)
class Runs:
    """Estimates (K, n, d) and counts (K, n, F) after each episode, the empty start included."""

    case: Case
    theta: np.ndarray
    counts: np.ndarray

    @functools.cached_property
    def log_C(self):
        """log C_{A,k}, (K, n)."""
        return log_C(self.case, self.theta, self.counts)


def simulate(case, rng, runs):
    """Runs whose even episodes go through all features in turn and whose odd ones repeat the greedy feature."""
    F, p, d = case.X.shape
    theta, counts, sums = np.zeros((runs, d)), np.zeros((runs, F)), np.zeros((runs, F, p))
    history, rows = [(theta, counts)], np.arange(runs)
    mean = case.natural(case.theta)
    for k in range(case.episodes):
        counts, sums = counts.copy(), sums.copy()
        greedy = case.natural(theta).sum(-1).argmax(-1)
        for h in range(case.steps):
            f = greedy if k % 2 else np.full(runs, (k * case.steps + h) % F)
            c = mean[f]
            sign = np.where(rng.random((runs, p)) < 1 / (1 + np.exp(-2 * case.spreads * c)), 1.0, -1.0)
            noise = np.sqrt(case.variances) * rng.standard_normal((runs, p))
            sums[rows, f] += case.variances * c + noise + case.spreads * sign
            counts[rows, f] += 1
        theta = estimate(case, counts, sums, theta)
        history.append((theta, counts))
    return Runs(case, *(np.stack(part) for part in zip(*history, strict=True)))


def tree(case, length):
    """All 2^length sequences of coins, whose features depend on the outcomes before: (theta, counts, chances)."""
    outcomes = np.array(list(itertools.product((-1.0, 1.0), repeat=length)))
    n, F = len(outcomes), len(case.phi)
    counts, sums, chances, rows = np.zeros((n, F)), np.zeros((n, F, 1)), np.ones(n), np.arange(n)
    f = np.zeros(n, int)
    for y in outcomes.T:
        c = case.natural(case.theta)[f, 0]
        chances = chances / (1 + np.exp(-2 * y * case.spreads[0] * c))
        counts[rows, f] += 1
        sums[rows, f, 0] += case.spreads[0] * y
        f = (f + 1 + (y > 0)) % F
    return estimate(case, counts, sums, np.zeros((n, len(case.theta)))), counts, chances


def log_C(case, theta, counts):
    """log C_{A,k} for estimates (..., d) and counts (..., F): closed form for Gaussian laws, else quadrature in d <= 2.

    In coordinates where the penalty is |z|^2/2 and the largest Hessian is diagonal, each axis gets nodes
    sinh(t)/sqrt(1 + g), dense where the integrand can be narrow and out to 9 standard deviations of the prior.
    """
    to_z = np.linalg.inv(np.linalg.cholesky(case.penalty))
    X = case.X @ to_z.T
    largest = case.variances + case.spreads**2
    information = np.tensordot(counts, np.einsum("fpi,p,fpj->fij", X, largest, X), 1)
    g, axes = np.linalg.eigh(information)
    if not case.spreads.any():
        return np.log1p(g).sum(-1) / 2
    d = len(case.theta)
    scale = 1 / np.sqrt(1 + g.clip(0))
    reach = np.arcsinh(9 / scale)
    t = reach[..., None] * np.linspace(-1, 1, NODES)  # (..., d, NODES)
    z, weights = scale[..., None] * np.sinh(t), (scale * reach)[..., None] * 2 / (NODES - 1) * np.cosh(t)
    if d == 2:
        z = np.stack(np.broadcast_arrays(z[..., 0, :, None], z[..., 1, None, :]), -3)
        z, weights = z.reshape(*z.shape[:-2], -1), weights[..., 0, :, None] * weights[..., 1, None, :]
    z, weights = np.swapaxes(z, -1, -2), weights.reshape(*weights.shape[: g.ndim - 1], -1)
    moved = theta[..., None, :] + z @ np.swapaxes(axes, -1, -2) @ to_z
    exponent = -case.divergence(theta[..., None, :], moved, counts[..., None, :]) - (z**2).sum(-1) / 2
    return d / 2 * np.log(2 * np.pi) - np.log((weights * np.exp(exponent)).sum(-1))
