"""Section 1: tabular and factored MDPs and linear-quadratic regulators as members of the class."""

import itertools
from fractions import Fraction
from functools import partial

import numpy as np

from befrl import instances
from befrl.claims.toolbox.curvature import covariance
from befrl.claims.toolbox.search import search
from befrl.instances.factored import configurations

# Tests whether laws belong to the family, random factored and linear-quadratic systems, and their covariances.
FLAT = 1e-9  # an eigenvalue below it counts as 0


def outside(L, phi, psi):
    """How far log-laws L (pairs, n) are from psi' M phi + constants, for the best M: the largest residual.

    Without a base measure no law has zeros: where L has some, the result is their share.
    """
    zeros = int(np.isneginf(L).sum())
    if zeros:
        return Fraction(zeros, L.size)
    L, psi = L - L.mean(1, keepdims=True), psi - psi.mean(0)
    residual = L - phi @ (np.linalg.pinv(phi, rcond=1e-10) @ L @ np.linalg.pinv(psi.T, rcond=1e-10)) @ psi.T
    return float(np.abs(residual).max() / max(1.0, np.abs(L).max()))


def log(P):
    """log P, without a warning at 0."""
    with np.errstate(divide="ignore"):
        return np.log(P)


def of_indicators(S, dropped, v, sum_zero=False):
    """The smallest eigenvalue of the covariance of the last S - dropped of S indicators, on all vectors or those of sum
    0: over parameters v (n, S), or the exact determinant under the uniform law if v is None."""
    if v is not None:
        return np.linalg.eigvalsh(covariance(np.eye(S)[:, dropped:], v[:, dropped:]))[:, int(sum_zero)].min()
    variance, products, n = Fraction(1, S) - Fraction(1, S**2), -Fraction(1, S**2), S - dropped
    # The matrix (variance - products) I + products 11' has one eigenvalue that belongs to 1, and n - 1 others.
    return (variance - products) ** (n - 1) * (1 if sum_zero else variance + (n - 1) * products)


def machines():
    """The package's ring of two machines: laws, configurations and bits."""
    instance, bits = instances.build("factored", {"machines": 2}), np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    phi = np.eye(5)[configurations(bits)].reshape(len(bits) * 3, -1)
    return {"P": instance.P.reshape(-1, 4), "phi": phi, "psi": bits.astype(float)}


def draw_factored(rng, zeros, within=False, numbers=False, single=False):
    """Two factors of two or three values, both of them parents of each: all laws, indicators, and parameters.

    within: the second depends on the next value of the first; numbers: psi has the values, not their indicators;
    single: phi has indicators of the values of single parents, not of their pairs.
    """
    sizes = np.array([3, rng.integers(2, 4)])
    states = np.array(list(itertools.product(*map(range, sizes))))
    parents = [np.eye(size)[states[:, j]] for j, size in enumerate(sizes)]
    phi = np.concatenate(parents, 1) if single else np.eye(len(states))
    P, psi = np.ones((len(states), len(states))), []
    for j, size in enumerate(sizes):
        first = states[:, 0] if within and j else 0 * states[:, 0]
        table = rng.dirichlet(np.ones(size), (len(states), first.max() + 1)) + 0.01
        table[0, 0, 0] *= not (zeros and j == 0)
        P *= (table / table.sum(-1, keepdims=True))[:, first, states[:, j]]
        psi.append(states[:, j : j + 1].astype(float) if numbers else parents[j][:, 1:])
    psi = np.concatenate(psi, 1)
    return {"P": P, "phi": phi, "psi": psi, "v": rng.uniform(-1, 1, (10, psi.shape[1]))}


def draw_regulator(rng, singular):
    """F = (A, B), a root of Sigma, a cost matrix, states and one control in [-1, 1], and next states."""
    m = int(rng.integers(1, 3))
    root, half = np.tril(rng.uniform(0.5, 2, (m, m))), rng.standard_normal((m + 1, m + 1))
    root[-1, -1] *= not (singular and rng.random() < 0.5)
    z = np.concatenate([rng.uniform(-1, 1, (30, m + 1)), np.ones((1, m + 1))])
    return {
        "F": rng.standard_normal((m, m + 1)),
        "root": root,
        "Q": half @ half.T,
        "z": z,
        "s": rng.normal(0, 3, (20, m)),
    }


def regulator_error(case, reach, parts, base=False, squares=True, linear=False):
    """1 if a part fails at all, else the error of log-densities and, if they count, mean rewards in the features.

    The features are nonnegative: positive and negative parts of all monomials of z = (s, u) up to degree 2, or of z if
    `linear`; squares, or with a base measure the next state itself. Costs are scaled to [0, 1] on |z_i| <= 3.
    """
    root = case["root"]
    if not np.diag(root).all():
        return 1
    F, Q, s, near, far = case["F"], case["Q"], case["s"], 3 * case["z"], reach * case["z"]
    if "reward" in parts and ((far @ Q) * far).sum(1).max() > 9 * len(Q) * np.trace(Q):
        return 1.0
    if "curvature" in parts and _smallest(far @ F.T, root, base) < FLAT:
        return 1.0
    i, j = np.triu_indices(len(Q))
    phi = near if linear else np.concatenate([np.ones((len(near), 1)), near, near[:, i] * near[:, j]], 1)
    phi = np.concatenate([np.maximum(phi, 0), np.maximum(-phi, 0)], 1)
    psi = np.square(np.concatenate([s, s + 1, s.sum(1, keepdims=True)], 1)) if squares and not base else s
    white, centre = (np.linalg.solve(root, x.T) for x in (s, near @ F.T))
    L = centre.T @ white - (0.0 if base else np.square(white).sum(0) / 2)
    cost = ((near @ Q) * near).sum(1) * ("reward" in parts)
    return max(outside(L, phi, psi), float(np.abs(cost - phi @ (np.linalg.pinv(phi) @ cost)).max()))


def _smallest(f, root, base):
    """The smallest eigenvalue of the covariances of s' ~ N(f, root root') and, without base, products of coordinates.

    With x = f + root e: x_i x_j = f_i f_j + (f_i root_j + f_j root_i) e + (root_i e)(root_j e). For large f rounding
    hides it, but (x_1 - f_1)^2, a combination of x_1^2 and x_1 up to a constant, has variance 2 Sigma_11^2.
    """
    C, m, (i, j) = root @ root.T, len(root), np.triu_indices(len(root))
    if base:
        return np.linalg.eigvalsh(C)[0]
    slopes = f[:, i, None] * root[j] + f[:, j, None] * root[i]
    J = np.concatenate([np.broadcast_to(root, (len(f), m, m)), slopes], 1)
    full = J @ J.swapaxes(1, 2)
    full[:, m:, m:] += C[i][:, i] * C[j][:, j] + C[i][:, j] * C[j][:, i]
    return min(np.linalg.eigvalsh(full).min(), (2 * C[0, 0] ** 2 / (1 + 4 * f[:, 0] ** 2)).min())


def tabular_members(rng, trials, zeros=True, dropped=0, reach=1e3, sum_zero=False):
    """C75: Tabular MDPs with d = S^2 A parameters are in the class, Assumption 1 included."""

    def violation(case):
        P, v = case["P"], case.get("v")
        if reach and of_indicators(P.shape[1], dropped, v if v is None else reach * v, sum_zero) < FLAT:
            return 1 if v is None else 1.0
        return outside(log(P), np.eye(len(P)), np.eye(P.shape[1])[:, dropped:])

    edges = [{"P": np.full((S, S), 1 / S)} for S in (2, 3) if dropped < S]
    return search(rng, trials, lambda rng: _draw_tabular(rng, zeros), violation, edges=edges, climb=False)


def _draw_tabular(rng, zeros):
    """The laws of a random MDP, (SA, S), and parameters (40, S) in the unit cube."""
    S, A = (int(n) for n in rng.integers(2, 6, 2))
    P = rng.dirichlet(np.ones(S), S * A) + 0.01
    P[0, -1] *= not zeros
    v = np.concatenate([rng.uniform(-1, 1, (20, S)), rng.choice([-1.0, 1.0], (20, S))])
    return {"P": P / P.sum(1, keepdims=True), "v": v}


def factored_members(rng, trials, zeros=True, reach=0, **form):
    """C76: Factored MDPs are."""

    def violation(case):
        if reach and np.linalg.eigvalsh(covariance(case["psi"], reach * case["v"])).min() < FLAT:
            return 1.0
        return outside(log(case["P"]), case["phi"], case["psi"])

    bit = {"P": np.array([[0.0, 1.0]]), "phi": np.ones((1, 1)), "psi": np.array([[0.0], [1.0]])}
    edges = [bit] if zeros else [] if reach else [machines()]
    return search(rng, trials, partial(draw_factored, zeros=zeros, **form), violation, edges=edges, climb=False)


EVERYTHING = {"law", "curvature", "reward"}


def regulators(rng, trials, singular=True, reach=1e6, parts=EVERYTHING, **form):
    """C77: Linear-quadratic regulators are."""

    def violation(case):
        return regulator_error(case, reach, parts, **form)

    edges = [{"root": np.zeros((1, 1))}] if singular else []
    return search(rng, trials, partial(draw_regulator, singular=singular), violation, edges=edges, climb=False)
