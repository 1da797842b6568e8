"""Section 2, linearity of transitions: the RBF kernel, and the integrals of a plan."""

from fractions import Fraction

import numpy as np
from scipy.special import gammaln

from befrl.claims.toolbox.search import search
from befrl.numerics import bellman


def basis(x, number=60):
    """The orthonormal basis x^n exp(-x^2/2)/sqrt(n!) of the kernel's space at x, on a new last axis."""
    n = np.arange(number)
    return np.power(x[..., None], n) * np.exp(-(x[..., None] ** 2) / 2 - gammaln(n + 1) / 2)


def polarisation(rng, trials, factor=2, sign=-1, last="image"):
    """C04: The polarisation identity for 2 psi' M phi."""

    def violation(case):
        psi, theta, A, phi = (np.asarray(case[key], dtype=object) for key in ("psi", "theta", "A", "phi"))
        M = np.tensordot(theta, A, axes=1)
        v = M @ phi
        third = {"image": v @ v, "phi": phi @ phi, "product": (M * M).sum() * (phi @ phi)}[last]
        return abs(Fraction(factor * (psi @ v) - (-((psi + sign * v) @ (psi + sign * v)) + psi @ psi + third)))

    def draw(rng):
        p, q, d = rng.integers(1, 5, 3)
        shapes = {"psi": p, "theta": d, "A": (d, p, q), "phi": q}
        return {key: rng.integers(-(10**6), 10**6, shape, endpoint=True) for key, shape in shapes.items()}

    edge = {"psi": [1, 0], "theta": [1], "A": [[[1, 0], [0, 0]]], "phi": [1, 1]}
    return search(rng, trials, draw, violation, edges=[edge], climb=False, grade="identity")


def linear_transition(rng, trials, power=-0.5, transposed=True, width=1.0):
    """C05: P(s'|s,a) = <phi^p, mu^p> in the RBF's RKHS, with the printed constants."""

    def violation(case):
        psi, v, y = case["psi"], case["M"] @ case["phi"], (case["M"].T if transposed else case["M"]) @ case["phi"]
        inner = np.prod((basis(psi / np.sqrt(width)) * basis(y / np.sqrt(width))).sum(-1), axis=-1)
        norms = np.exp((psi**2).sum(-1) / 2 + v @ v / 2)  # both sides have the factor exp(-Z)
        return float(np.abs(inner * norms * (2 * np.pi) ** (power * len(v)) / np.exp(psi @ v) - 1).max())

    edge = {"psi": np.eye(2), "M": np.array([[0.0, 1.0], [0.0, 0.0]]), "phi": np.ones(2)}
    return search(rng, trials, _draw_square, violation, edges=[edge], climb=False)


def _draw_square(rng):
    """Random features of the states, (S, p), and of one state and action, (p,), with a square matrix M."""
    p, sign = int(rng.integers(1, 4)), rng.integers(2)
    psi, phi = rng.uniform(-1.5 * sign, 1.5, (rng.integers(2, 6), p)), rng.uniform(-sign, 1, p)
    return {"psi": psi, "M": rng.uniform(-1, 1, (p, p)), "phi": phi}


def remaining_integrals(rng, trials, Z="fitted", shared=False, spared=None):
    """C07: Linearity replaces |S||A|H integrals: what integration work really remains."""

    def violation(case):
        psi, v, r, H = (case[key] for key in ("psi", "v", "r", "H"))
        exponent = v[..., None] * psi  # (S, A, S)
        Q, V = _true_values(exponent, r, H)
        phi, mu = _powers(psi, v) if spared is None else _fewest(exponent, len(psi) - spared)
        integrals = np.repeat(V[1:2] @ mu, H, 0) if shared else V[1:] @ mu
        expected = np.einsum("sad,hd->hsa", phi, integrals)  # up to the normalisers
        masses = phi @ mu.sum(0) if Z == "linear" else np.exp(exponent).sum(-1)
        weights = _best_constants(expected, Q - r) if Z == "fitted" else 1 / masses
        return float(np.abs(r + weights * expected - Q).max() / H)

    return search(rng, trials, _draw_plan, violation, edges=[_opposite_actions()], climb=False)


def _opposite_actions():
    """Two states, with one action that favours staying and one that favours moving."""
    v, r = np.array([[2.0, -2.0], [-2.0, 2.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    return {"psi": np.array([0.0, 1.0]), "v": v, "r": r, "H": 4}


def _draw_plan(rng):
    """A random finite MDP with p = 1: features psi (S,), natural parameters v (S, A), rewards and a horizon."""
    S, A = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    psi, v = rng.uniform(0, 2, S), rng.uniform(-3, 3, (S, A))
    return {"psi": psi, "v": v, "r": rng.uniform(0, 1, (S, A)), "H": int(rng.integers(2, 7))}


def _true_values(exponent, r, H):
    """Q (H, S, A) and V (H + 1, S) of the MDP whose transitions have this exponent (S, A, S)."""
    P = np.exp(exponent - np.logaddexp.reduce(exponent, axis=-1)[..., None])
    return [table[0] for table in bellman.backward_induction(r[None], P[None], H)]


def _powers(psi, v):
    """phi (S, A, 60) up to exp(-Z), and mu (S, 60), in the basis of powers."""
    return basis(v) * np.exp(v**2 / 2)[..., None], basis(psi) * np.exp(psi**2 / 2)[:, None]


def _fewest(exponent, number):
    """phi (S, A, number) up to exp(-Z), and mu (S, number), in the best coordinates of this number."""
    left, sizes, right = np.linalg.svd(np.exp(exponent).reshape(-1, exponent.shape[-1]), full_matrices=False)
    return (left * sizes)[:, :number].reshape(*exponent.shape[:2], number), right[:number].T


def _best_constants(expected, target):
    """The constant of each step by which expected (H, S, A) comes closest to the target, (H, 1, 1)."""
    weights = (expected * target).sum((1, 2)) / np.maximum((expected**2).sum((1, 2)), 1e-300)
    return weights[:, None, None]
