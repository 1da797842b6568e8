"""Section 4: penalised maximum likelihood, and the value function that is planned with."""

from fractions import Fraction

import numpy as np

from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.calculus import directional_derivatives
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.laws import REWARDS, Model, definition, draw_law
from befrl.claims.toolbox.search import Worst, search
from befrl.model.families.base import Family
from befrl.model.features import Features
from befrl.model.spaces import FiniteSpace
from befrl.numerics import bellman, newton

HALF = Fraction(1, 2)


def penalty(rng, trials, power=1, factor=HALF, euclidean=False):
    """C12: Pen(theta) = 1/2 ||theta||_A yields the stationarity equations and the later proofs."""
    worst, eta = Worst(), 2
    for r in (Fraction(3), HALF):
        estimate = _gaussian_estimate(r, eta, power, factor)
        left, right = r - estimate, eta * estimate
        worst.see(abs(left - right) / max(left, right), {"kind": "gaussian", "r": r, "eta": eta, "estimate": estimate})
    for share, cases in _shares(rng, max(1, trials // 12), power, float(factor), euclidean):
        see_largest(worst, share, cases)
    return evidence_of(worst)


def _gaussian_estimate(r, eta, power, factor=HALF):
    """The estimate from one unit Gaussian reward r >= 0, d = 1, with pen(theta) = factor |theta|^power."""
    return max(r - eta * factor, Fraction(0)) if power == 1 else r / (1 + 2 * eta * factor)


def _shares(rng, n, power, factor, euclidean):
    """For each reward family and d, the distances of the two sides of C12's equation for n random problems."""
    for kind, family in REWARDS.items():
        for d in (1, 2, 3):
            x, roots = rng.standard_normal((n, d + 3, d)), rng.standard_normal((n, d, d)) + 2 * np.eye(d)
            A = roots @ roots.swapaxes(1, 2)
            r = family.quantile((x @ rng.standard_normal((n, d, 1)))[..., 0], rng.uniform(0.01, 0.99, x.shape[:2]))
            score = (x * (r - family.mean(0.0))[..., None]).sum(1)  # at 0
            size = np.sqrt((score * np.linalg.solve(A, score[..., None])[..., 0]).sum(-1))
            eta = size * 10.0 ** rng.uniform(-2, -0.1, n)
            estimate = _minimiser(family, x, r, np.eye(d) + 0 * A if euclidean else A, eta * factor, power)
            left = (x * (r - family.mean((x @ estimate[..., None])[..., 0]))[..., None]).sum(1)
            right = eta[:, None] * (A @ estimate[..., None])[..., 0]
            share = np.linalg.norm(left - right, axis=1) / np.linalg.norm([left, right], axis=-1).max(0)
            yield share, {"kind": [kind] * n, "x": x, "r": r, "eta": eta, "A": A}


def _minimiser(family, x, r, A, eta, power):
    """Minimisers of sum_t [Z(x_t'theta) - r_t x_t'theta] + eta |theta|_A^power, with x (n, m, d), r (n, m).

    For power 1 they lie on the path of the minimisers for w/2 |theta|_A^2, where w |theta|_A = eta: by bisection.
    """

    def ridge(w):
        def evaluate(theta, rows):
            X, c = x[rows], (x[rows] @ theta[..., None])[..., 0]
            Z, mean, variance = family.moments(c)
            pull = w[rows][:, None] * (A[rows] @ theta[..., None])[..., 0]
            value = (Z - r[rows] * c).sum(-1) + (theta * pull).sum(-1) / 2
            hessian = (X * variance[..., None]).swapaxes(1, 2) @ X + w[rows][:, None, None] * A[rows]
            return value, (X * (mean - r[rows])[..., None]).sum(1) + pull, hessian[:, None]

        return newton.minimise(evaluate, np.zeros((len(x), x.shape[2])))[0]

    if power == 2:
        return ridge(2 * eta)
    low, high = np.log(eta) - 7, np.log(eta) + 7
    for _ in range(30):
        middle = (low + high) / 2
        theta = ridge(np.exp(middle))
        above = np.exp(middle) * np.sqrt((theta * (A @ theta[..., None])[..., 0]).sum(-1)) > eta
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return theta


def score_equations(rng, trials, power=2, sign=1, at="theta", mean=False):
    """C13: The penalised estimates satisfy the score equations of transitions and rewards."""
    r, eta = HALF, 2
    estimate = _gaussian_estimate(r, eta, power)
    slopes = (HALF, -HALF) if power == 1 else (estimate, estimate)  # of pen at the estimate, from right and left
    kink = max(abs(r - estimate - eta * slope) for slope in slopes)
    if kink:
        return Evidence(kink, {"kind": "gaussian", "r": str(r), "eta": eta, "estimate": str(estimate)}, number=1)
    return search(rng, trials, _draw_visits, lambda case: _disagreement(case, sign, at, mean), climb=False)


def _draw_visits(rng):
    """A random law visited at its phi and at a multiple of it, which outcomes are seen, and the penalty's eta."""
    law = draw_law(rng)
    trace = np.einsum("ipq,jpq->ij", law["A"], law["A"])
    size = np.abs(definition(law, np.asarray(law["theta"]))[0]).max() / np.abs(trace @ law["theta"]).max()
    phi = rng.uniform(-1, 1) * np.asarray(law["phi"])
    return {"law": law, "phi": phi, "outcomes": rng.random(2), "eta": float(size * 10 ** rng.uniform(-1, 1))}


def _disagreement(case, sign, at, mean):
    """The distance of C13's residual, left minus right side, from minus the gradient of the squared objective."""
    law, eta = case["law"], case["eta"]
    theta, trace = np.asarray(law["theta"]), np.einsum("ipq,jpq->ij", law["A"], law["A"])
    pull = trace @ theta
    left, gradient, scale = 0.0, eta * pull, eta * np.abs(pull).max()
    for visit, u in zip((law, law | {"phi": case["phi"]}), case["outcomes"], strict=True):
        T, log_weights = definition(visit, theta)
        seen, expected = T[int(u * len(T))], Model(visit).gradient(np.asarray(law[at]))
        gradient = gradient + directional_derivatives(T, log_weights, theta, np.eye(len(theta)))[0] - seen
        left = left + (seen - expected) / (2 if mean else 1)
        scale += max(np.abs(seen).max(), np.ptp(T, axis=0).max(), np.abs(expected).max())
    return float(np.abs(left - sign * eta * pull + gradient).max() / scale)


def gaussian_closed_form(rng, trials, squared=True, ridge=True, reach=80.0):
    """C14: Equation 5 has a closed-form solution for Gaussian next states."""

    def residual(case):
        features, psi, eta = Features.dense(case["phi"][None], case["A"]), case["psi"], case["eta"]
        U, trace = features.U[0], features.trace[0]
        shrink = trace if ridge else np.eye(len(trace))
        theta = np.linalg.solve(features.gram.sum((0, 1)) + eta * shrink, np.einsum("tpi,tp->i", U, psi))
        score = np.einsum("tpi,tp->i", U, psi - _gaussian_means(U @ theta, reach))
        pull = eta * trace @ theta / (1.0 if squared else 2 * np.sqrt(theta @ trace @ theta))
        return float(np.abs(score - pull).max() / np.einsum("tpi,tp->i", np.abs(U), np.abs(psi)).max())

    return search(rng, trials, _draw_regression, residual, climb=False)


def _gaussian_means(c, reach):
    """Means of the laws ~ exp(c x - x^2/2) on |x| <= reach, by quadrature."""
    grid = np.linspace(-reach, reach, 641)
    logits = c[..., None] * grid - grid**2 / 2
    mass = np.exp(logits - logits.max(-1, keepdims=True))
    return mass @ grid / mass.sum(-1)


def _draw_regression(rng):
    """Random features, matrices and observed psi of up to eight visits."""
    p, q, d, visits = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 6)), int(rng.integers(1, 9))
    A = rng.standard_normal((min(d, p * q), p, q)) * 10.0 ** rng.uniform(-1, 1)
    psi = 5 * rng.standard_normal((visits, p))
    return {"phi": rng.standard_normal((visits, q)), "A": A, "psi": psi, "eta": 10.0 ** rng.uniform(-1, 1)}


def linear_values(rng, trials, constant=True, affine=True, later=1, lift=0.5, width=0.5):
    """C15: Q is linear in phi^p."""

    def gap(case):
        psi, v, R, Q, V = _planned(case)
        if not affine:
            same = (v[:, :, None] == v[:, None]).all(-1)  # actions of one state with the same features
            return float((np.abs(Q[..., :, None] - Q[..., None, :]) * same).max() / np.abs(Q).max())
        density = _kernel_products(psi, v, lift, width) * ((2 * np.pi) ** (-psi.shape[1] / 2) if constant else 1.0)
        right = R + np.einsum("xas,hs->hxa", density, V[later : later + case["H"]])
        return float(np.abs(Q - right).max() / np.abs(Q).max())

    edges = [{"psi": [[0.0]], "v": [[[0.0]] * n], "R": [[1.0, 0.0][:n]], "H": 2} for n in (1, 2)]  # n actions
    return search(rng, trials, _draw_values, gap, edges=edges, climb=False)


def _planned(case):
    """The psi, v and R of an MDP, and its Q and V by backward induction."""
    psi, v, R = (np.asarray(case[key]) for key in ("psi", "v", "R"))
    kernel = Family(FiniteSpace(len(psi)), psi, np.zeros(len(psi))).kernel(v[None])
    Q, V = bellman.backward_induction(R[None], kernel, case["H"])
    return psi, v, R, Q[0], V[0]


def _kernel_products(psi, v, lift, width):
    """exp(lift |psi|^2 + |v|^2/2 - Z - width |v - psi|^2) for psi (S, p) and v (S, A, p) -> (S, A, S)."""
    Z = np.log(np.exp(v @ psi.T).sum(-1))[..., None]
    distance = np.square(v[..., None, :] - psi).sum(-1)
    return np.exp(lift * np.square(psi).sum(-1) + 0.5 * np.square(v).sum(-1)[..., None] - Z - width * distance)


def _draw_values(rng):
    """A random MDP by its psi, the vectors v = M phi of its (s,a), and its rewards."""
    S, A, p = (int(n) for n in rng.integers(1, 5, 3))
    psi, v = rng.standard_normal((S, p)), 10.0 ** rng.uniform(-1, 0.7) * rng.standard_normal((S, A, p))
    return {"psi": psi, "v": v, "R": rng.random((S, A)), "H": int(rng.integers(1, 6))}
