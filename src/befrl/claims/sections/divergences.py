"""Appendices D.1 to D.3: transportation inequalities, Bregman divergences, and the derivatives of the log-partition."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from scipy.special import xlog1py

from befrl.claims.toolbox.calculus import directional_derivatives, nearest_to
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.exact import log1p_bounds
from befrl.claims.toolbox.laws import Model, definition, draw_law, draw_transition, log_sum, moved
from befrl.claims.toolbox.search import listed, search

# Convex functions with their Bregman divergences, in batches, and an ascent to their convex duals.
LENGTHS = np.append(4 * 0.5 ** np.arange(14), -1.0)  # of the steps along a direction
DAMPINGS = (1e-9, 1e-3, 0.1)


class LogSumExp:
    """F(x) = log sum_j exp(t_j'x) + kappa/2 |x|^2 for a batch: t (n, m, d), kappa (n, 1), points (..., n, d)."""

    def __init__(self, t, kappa):
        self.t, self.kappa = t, kappa

    def __call__(self, x):
        logits = np.einsum("njd,...nd->...nj", self.t, x)
        return np.logaddexp.reduce(logits, -1) + (self.kappa[:, 0] / 2) * (x**2).sum(-1)

    def _chances(self, x):
        """The softmax weights of the t_j at x."""
        logits = np.einsum("njd,...nd->...nj", self.t, x)
        return np.exp(logits - np.logaddexp.reduce(logits, -1)[..., None])

    def gradient(self, x):
        """The gradient of F: the mean of the t_j, plus kappa x."""
        return np.einsum("...nj,njd->...nd", self._chances(x), self.t) + self.kappa * x

    def bregman(self, x, y):
        """B_F(x, y) = F(x) - F(y) - (x - y)' gradient F(y)."""
        return self(x) - self(y) - ((x - y) * self.gradient(y)).sum(-1)

    def newton(self, x, target):
        """Damped Newton steps from x (n, d) to where the gradient is `target`, with |kappa| for kappa: (3, n, d)."""
        p = self._chances(x)
        mean = np.einsum("nj,njd->nd", p, self.t)
        hessian = np.einsum("nj,njd,nje->nde", p, self.t, self.t) - mean[:, :, None] * mean[:, None]
        damped = [hessian + (np.abs(self.kappa)[:, :, None] + damping) * np.eye(x.shape[-1]) for damping in DAMPINGS]
        return np.linalg.solve(damped, (target - mean - self.kappa * x)[..., None])[..., 0]


def ascend(rng, objective, directions, point, rounds=40):
    """The highest points (n, d) that line searches from `point` along `directions` and at random find.

    objective: (..., n, d) -> (..., n); directions: (n, d) -> (k, n, d).
    """
    for _ in range(rounds):
        ways = np.concatenate([directions(point), rng.standard_normal((1, *point.shape))])
        tried = (point + LENGTHS[:, None, None, None] * ways).reshape(-1, *point.shape)
        tried = np.concatenate([point[None], tried])
        point = tried[objective(tried).argmax(0), np.arange(len(point))]
    return point


NOISE = 1e-7  # a difference below this share of its terms counts as rounding
TINY = 1e-100  # stands in for 0 in denominators
THIRD = Fraction(1, 3)


def transport_upwards(rng, trials, linear=2 * THIRD, factor=2, swapped=False):
    """C34: E_Q f - E_P f <= sqrt(2 V KL) + 2S/3 KL."""
    return _transport(rng, trials, 1, linear=linear, factor=factor, swapped=swapped)


def transport_downwards(rng, trials, spread="variance", factor=2, linear=0):
    """C35: E_P f - E_Q f <= sqrt(2 V KL)."""
    return _transport(rng, trials, -1, edges=DOWNWARDS, spread=spread, factor=factor, linear=linear)


DOWNWARDS = [
    {"P": [Fraction(9, 10), Fraction(1, 10)], "Q": [Fraction(1, 2)] * 2, "f": [Fraction(1), Fraction(0)]},
    {
        "P": [Fraction(999, 1000), Fraction(1, 1000)],
        "Q": [Fraction(9991, 10000), Fraction(9, 10000)],
        "f": [Fraction(0), Fraction(1)],
    },
]


def _transport(rng, trials, sign, edges=(), spread="variance", factor=2, linear=0, swapped=False):
    """Attack sign (E_Q f - E_P f) <= sqrt(factor spread KL) + linear span KL."""

    def violation(case):
        law = _tilted(case, sign) if "logits" in case else _stated(case)
        kl = law.reverse if swapped else law.kl
        under_root, excess = factor * law.spreads[spread] * kl, sign * law.difference - linear * law.span * kl
        if "logits" not in case:
            return max(Fraction(0), 1 - under_root / excess**2) if excess > 0 else Fraction(0)
        with np.errstate(over="ignore"):
            share = np.where(excess > 0, 1 - under_root / np.maximum(excess, TINY) ** 2, -1)
        return float(np.clip(share, -1, None).max())

    def draw(rng):
        n = int(rng.integers(2, 7))
        f = rng.random(n) ** rng.choice((1, 5)) * rng.choice((-1, 1))
        return {"logits": rng.standard_normal(n) * 10.0 ** rng.uniform(-1, 0.9), "f": f}

    rare = {"P": [Fraction(999, 1000), Fraction(1, 1000)], "Q": [Fraction(997, 1000), Fraction(3, 1000)]}
    return search(rng, trials, draw, violation, edges=[*edges, rare | {"f": [Fraction(0), Fraction(sign)]}])


def _tilted(case, sign):
    """P, with all Q ~ P exp(sign t f / S) for a range of t > 0: differences, spreads and divergences, each (t,)."""
    f, P = case["f"], np.exp(np.maximum(case["logits"] - case["logits"].max(), -30))
    P = P / P.sum()
    centred, span = f - P @ f, max(np.ptp(f), TINY)
    ratio = sign * np.geomspace(0.03, 300, 48)[:, None] * centred / span
    ratio = ratio - np.log(np.exp(ratio) @ P)[:, None]
    u = np.expm1(ratio)  # Q/P - 1, also where it is small
    difference = u @ (P * centred)
    variances = P @ centred**2, (1 + u) @ (P * centred**2) - difference**2
    return _law(P, f, difference, span, variances, (xlog1py(1 + u, u) - u) @ P, (u - ratio) @ P)


def _stated(case):
    """The same for one rational P and Q, exactly, but for KL, of which these are rational upper bounds."""
    P, Q, f = (np.array(case[key]) for key in ("P", "Q", "f"))
    variances = [law @ f**2 - (law @ f) ** 2 for law in (P, Q)]
    kl, reverse = (sum(a * log1p_bounds(a / b - 1)[1] for a, b in zip(*pair, strict=True)) for pair in ((Q, P), (P, Q)))
    return _law(P, f, Q @ f - P @ f, f.max() - f.min(), variances, kl, reverse)


def _law(P, f, difference, span, variances, kl, reverse):
    """What the transportation inequalities are made of; `reverse` is KL(P, Q)."""
    spreads = {"variance": variances[0], "variance under Q": variances[1]}
    spreads |= {"square": P @ (f - f.min()) ** 2, "pinsker": span**2 / 4}
    return SimpleNamespace(difference=difference, span=span, spreads=spreads, kl=kl, reverse=reverse)


def bregman_duality(rng, trials, curvature=1.0, swapped=False, sign=1, literal=False):
    """C36: Duality formula."""
    F, theta, other = _draw_potentials(rng, max(40, trials), curvature)
    target = sign * (F.gradient(theta) - F.gradient(other))

    def inside(step):
        return (step * target).sum(-1) - F.bregman(other + step, step if literal else other)

    found = ascend(rng, inside, lambda step: F.newton(other + step, target + F.gradient(other)), np.zeros_like(theta))
    value = F.bregman(theta, other) if swapped else F.bregman(other, theta)
    error = np.abs(inside(found) - value) / (1 + np.abs(value))
    worst = int(error.argmax())
    instance = {"t": F.t[worst], "kappa": F.kappa[worst, 0], "theta": theta[worst], "theta'": other[worst]}
    return Evidence(float(error[worst]), listed(instance), "search", len(error))


def _draw_potentials(rng, n, curvature):
    """A batch of n functions F in up to three dimensions, with a point theta and a point theta' for each."""
    t = rng.standard_normal((n, 5, 3)) * 10.0 ** rng.uniform(-1, 0.3, (n, 1, 1)) * (rng.random((n, 1, 3)) < 0.7)
    return LogSumExp(t, curvature * 10.0 ** rng.uniform(-1, 1, (n, 1))), *rng.standard_normal((2, n, 3))


def derivatives_and_divergences(rng, trials, gradient=1.0, hessian=1.0, taylor=0.5, swapped=False):
    """C37: Derivatives, KL as a Bregman divergence, argument order."""

    def violation(law):
        kl, terms = _divergence(law), _bregman_terms(law, gradient, swapped)
        size = kl + NOISE * (1 + np.abs(terms).sum())
        errors = abs(terms.sum() - kl) / size, _distance_to_curvature(law, kl, taylor * hessian) / size
        return float(max(*errors, _derivative_error(law, gradient, hessian)))

    return search(rng, max(5, trials // 4), draw_law, violation, edges=[COIN], move=moved)


COIN = {"kind": "finite", "phi": [1.0], "A": [[[1.0]]], "psi": [[0.0], [1.0]], "theta": [0.0], "other": [1.0]}


def _divergence(law, swapped=False):
    """KL(theta, other), or KL(other, theta) if swapped, as the expected log ratio."""
    theta, other = _parameters(law, swapped)
    T, log_weights = definition(law, theta)
    log_p = T @ theta + log_weights - log_sum(T, log_weights, theta)
    log_q = T @ other + log_weights - log_sum(*definition(law, other), other)
    return float(np.exp(log_p) @ (log_p - log_q))


def _parameters(law, swapped=False):
    """theta and other as arrays, in reverse order if swapped."""
    return np.array([law["other"], law["theta"]] if swapped else [law["theta"], law["other"]])


def _bregman_terms(law, gradient, swapped):
    """The three terms of B_Z(other, theta), or of B_Z(theta, other) if swapped, with a factor of the gradient."""
    model, (first, second) = Model(law), _parameters(law, swapped)
    slope = (first - second) @ (gradient * model.gradient(first))
    return np.array([slope, -model.log_partition(first), model.log_partition(second)])


def _distance_to_curvature(law, kl, factor):
    """The distance of KL from the values of factor (theta - other)' Hessian (theta - other) on the segment."""
    model, (theta, other) = Model(law), _parameters(law)
    delta = other - theta
    points = np.linspace(0.0, 1.0, 129)
    return nearest_to(kl, lambda u: factor * model.curvature(theta + u[:, None] * delta, delta), points)[1]


def _derivative_error(law, gradient, hessian):
    """Error of gradient and Hessian against Cauchy's integral, in units of the statistic's size and spread."""
    model, theta = Model(law), np.asarray(law["theta"])
    d, (T, log_weights) = len(theta), definition(law, theta)
    size, spread = np.maximum(np.abs(T).max(0), TINY), np.ptp(T, axis=0)
    unit = np.where(spread > 1e-12 * size, spread, size)
    i, j = np.triu_indices(d, 1)
    basis = np.eye(d) / unit
    first, second = directional_derivatives(T, log_weights, theta, np.concatenate([basis, basis[i] + basis[j]]))
    measured = np.diag(second[:d])
    measured[i, j] = measured[j, i] = (second[d:] - second[i] - second[j]) / 2
    printed = hessian * model.hessian(theta) / np.outer(unit, unit)
    slopes = np.abs(first[:d] * unit - gradient * model.gradient(theta)) / size
    return max(slopes.max(), np.abs(measured - printed).max())


def divergence_sandwich(rng, trials, left=0.5, right=0.5, low=0, high=-1, trace_norm=False, swapped=False):
    """C38: KL is between alpha^p/2 and beta^p/2 times the squared distance in the norm of G_{s,a}.

    low, high: which eigenvalue of the covariance alpha and beta are made of; 0 is the smallest and -1 the largest.
    """

    def violation(law):
        eigenvalues, (square, trace) = _eigenvalues(law), _square_and_trace(law)
        alpha, beta = eigenvalues[:, low].min(), eigenvalues[:, high].max()
        kl, upper = _divergence(law, swapped), right * beta * square
        lower = left * alpha * (trace if trace_norm else square)
        return float(max(lower - kl, kl - upper) / (max(kl, upper) + NOISE))

    edges = [COIN, FLAT, FLAT | {"A": [[[1.0], [0.0]]]}, UNSEEN]
    return search(rng, max(5, trials // 4), draw_transition, violation, edges=edges, move=moved)


FLAT = COIN | {"A": [[[0.0], [1.0]]], "psi": [[0.0, 0.0], [1.0, 0.0]]}
UNSEEN = COIN | {"phi": [1.0, 0.0], "A": [[[1.0, 0.0]], [[0.0, 1.0]]], "theta": [0.0, 0.0], "other": [0.0, 1.0]}


def _eigenvalues(law):
    """The eigenvalues of the covariance of psi, ascending, at 65 points of the segment."""
    model, (theta, other) = Model(law), _parameters(law)
    segment = model.features.natural(theta + np.linspace(0, 1, 65)[:, None] * (other - theta))
    return np.linalg.eigvalsh(model.family.moments(segment)[2][:, 0, 0])


def _square_and_trace(law):
    """Delta' G Delta and Delta' A Delta for the difference Delta of the parameters."""
    delta, A = np.subtract(law["other"], law["theta"]), np.asarray(law["A"])
    return (np.einsum("i,ipq,q->p", delta, A, law["phi"]) ** 2).sum(), np.einsum("i,ipq,jpq,j->", delta, A, A, delta)
