"""Appendix B.2.1: steps of the proof of optimism, and the noise term."""

import functools
import math
from fractions import Fraction

import numpy as np
from scipy.special import rel_entr

from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.designs import draw_designs
from befrl.claims.toolbox.exact import root
from befrl.claims.toolbox.search import Worst, search

ONE, HALF = Fraction(1), Fraction(1, 2)


def sum_inside_the_norm(
    rng, trials, sign="", averaged=True, n_fold=False, reverse=False, bound="", diagonal=True, factor=1
):
    """C46: ||x||_{sum a a'} <= ||x||_{(sum a)(sum a)'}.

    bound: first powers or squares, against the norms of x and u in Gbar, which is diagonal or not.
    """

    def violation(case):
        a, x, chances = _features(case, sign), np.asarray(case["x"]), np.asarray(case["chances"])
        products = np.abs(a @ x) if sign == "products" else a @ x
        left, right = (chances * products**2).sum(), (chances * products).sum() ** 2
        if bound:
            left = (chances * np.abs(products)).sum() ** 2 if bound == "first powers" else left
            right = _product_of_norms(x, (chances[..., None] * a).sum((0, 1)), case, diagonal)
        left, right = (right, left) if reverse else (left, right)
        return 1 - factor**2 * (len(products) if n_fold else 1) * right / left if left else 0

    draw = functools.partial(_draw, averaged=averaged)
    return search(rng, trials, draw, violation, edges=list(_edges(averaged)), move=_move)


def _product_of_norms(x, u, case, diagonal):
    """|x|^2 in Gbar times |u|^2 in its inverse, exact for fractions."""
    G = np.asarray(case.get("G", [[ONE, 0], [0, ONE]]))
    G = G * np.eye(2, dtype=int) if diagonal else G
    adjugate = np.array([[G[1, 1], -G[0, 1]], [-G[1, 0], G[0, 0]]])
    return (x @ G @ x) * (u @ adjugate @ u) / (G[0, 0] * G[1, 1] - G[0, 1] * G[1, 0])


def _draw(rng, averaged):
    """Features a of up to four steps, each with up to three outcomes and their chances, a vector x, and Gbar."""
    steps, outcomes = int(rng.integers(1, 5)), int(rng.integers(1, 4)) if averaged else 1
    chances = rng.dirichlet(np.ones(outcomes), steps)
    root = rng.standard_normal((2, 3)) * 10.0 ** rng.uniform(-1, 1, (2, 1))
    case = {"a": rng.standard_normal((steps, outcomes, 2)), "x": rng.standard_normal(2), "chances": chances}
    return case | {"G": root @ root.T}


def _move(rng, case, step):
    """The case with a and x moved, and the same chances and Gbar."""
    return case | {key: case[key] + step * rng.standard_normal(case[key].shape) for key in ("a", "x")}


def _features(case, sign):
    """The features a; equal, nonnegative or one-hot where this is the hypothesis."""
    a = np.asarray(case["a"])
    if sign == "equal":
        return np.broadcast_to(a[:1, :1], a.shape)
    if sign.startswith("one-hot"):
        first = np.abs(a[..., 0]) >= np.abs(a[..., 1])
        a = a * np.stack([first, ~first], -1)
    return np.abs(a) if sign in ("features", "one-hot") else a


def _edges(averaged):
    """Exact cases: products 1 and -1 of e_1 and e_2; those of (1, -1) and (1, 1); averaged, one that is 0 or 2."""
    one, zero, half = Fraction(1), Fraction(0), Fraction(1, 2)
    G, sure = [[11 * one, 10 * one], [10 * one, 11 * one]], [[one], [one]]  # ten visits of (1, 1)
    yield {"a": [[[one, zero]], [[zero, one]]], "x": [one, -one], "chances": sure, "G": G}
    for sign in (-one, one):
        yield {"a": [[[one, zero]], [[sign, zero]]], "x": [one, zero], "chances": sure, "G": G}
    if averaged:
        yield {"a": [[[zero, zero], [2 * one, zero]]], "x": [one, zero], "chances": [[half, half]], "G": G}


def variances_outside(rng, trials, norms="", **reading):
    """C47: Variance weights can be pulled out of the G^-1 norm of a sum."""
    violation = functools.partial(_uncovered, sum_of_norms=norms == "sum", **reading)
    return search(rng, trials, _draw_weights, violation, edges=WEIGHTS)


def _uncovered(
    case, sum_of_norms, constant=False, power=None, nonnegative=False, close=False, factor=1, seen=False, diagonal=False
):
    """1 - right/left of C47, squared; power: that of |B| beside sup v, or None for the root of beta^r.

    seen: with a_t B in place of a_t; diagonal: Gbar is.
    """
    a, B, v, L = (np.asarray(case[key]) for key in ("a", "B", "v", "L"))
    if seen:
        a, B = np.einsum("tip,p->ti", a, B)[..., None], np.array([1])
    L = L * np.eye(len(L), dtype=int) if diagonal else L
    a, v = (np.abs(a) if nonnegative else a), np.abs(v)
    v = v[:1].repeat(len(v)) if constant else v.clip(v.max() / 2) if close else v
    a = np.einsum("ij,tjp->tip", L, a)  # Gbar^(-1/2) a
    left = (np.einsum("t,tip,p->i", v, a, B) ** 2).sum()
    size = sum(root(each) for each in (a**2).sum((1, 2))) ** 2 if sum_of_norms else (a.sum(0) ** 2).sum()
    scale = {None: v.max(), 1: v.max() ** 2, 2: v.max() ** 2 * (B @ B)}[power] * (B @ B)
    rounding = Fraction(1, 10**10) * (v.max() ** 2 * (a**2).sum() * (B @ B))  # what is left of vectors that cancel
    return 1 - factor**2 * scale * size / left if left > rounding else 0


UNIT = {"B": [ONE], "L": [[ONE]]}
WEIGHTS = [
    UNIT | {"a": [[[ONE]], [[-ONE]]], "v": [ONE, HALF]},
    UNIT | {"a": [[[ONE]]], "v": [4 * ONE]},
    UNIT | {"a": [[[ONE]]], "v": [ONE], "B": [HALF]},
    {"a": [[[1.0], [0.0]], [[0.0], [1.0]]], "v": [1.0, 0.5], "B": [1.0], "L": [[1.0, -1.0], [0.0, 0.01]]},
]


def _draw_weights(rng):
    """Steps a, variances v, B and the root L of Gbar^-1, of one to three dimensions."""
    T, d, p = rng.integers(1, 4, 3)
    v = 10.0 ** rng.uniform(-1, 1, T)
    return {"a": rng.standard_normal((T, d, p)), "v": v, "B": rng.standard_normal(p), "L": rng.standard_normal((d, d))}


def transport_of_trajectories(rng, trials, **reading):
    """C48: First term: transport with the trajectory KL."""
    edges = [EXAMPLE, *WALKS] if reading.get("step") == "conclusion" else WALKS
    return search(rng, trials, _draw_walk, functools.partial(_excess_of_values, **reading), edges=edges)


def _excess_of_values(case, factor=1, span=0, swapped=False, longest=False, step=""):
    """Left minus right side of C48 for the softmax family, with one-hot features and Gbar = I."""
    if case is EXAMPLE:
        return _first_term_of_example()
    H, change = case["H"], np.square(case["theta"] - case["hat"]).sum(1)
    (P, V, there), (Q, W, visits) = (_walk(case[key], case["R"].clip(0, 1), H) for key in ("theta", "hat"))
    beta = 1 / 4 if len(P) == 2 else 1 / 2
    if step == "conclusion":  # u_k is I for every state, times its visits
        return V - W - H * math.sqrt(beta / 2 * change.sum() * (len(P) - 1) * (visits.sum(0) ** 2).sum())
    KL = rel_entr(*((P, Q) if swapped else (Q, P))).sum(1)
    total = KL @ (there if swapped else visits)[:-1].sum(0)
    if step == "taylor":
        return total - beta / 2 * visits.sum(0) @ change
    return V - W - max(0, H + span) * math.sqrt(factor * max(0.0, KL.max() if longest else total))


EXAMPLE = {"P(1 | 0)": 2 * ONE / 3, "estimate": HALF, "phi": [ONE, -3 * ONE], "H": 2}
WALKS = [  # log-odds of the next states 1, 2, ... against 0: one step decides; and a rare step to a good state
    {
        "theta": np.array([[20.2, 19.8], [30.0, 0.0], [0.0, 30.0]]),
        "hat": np.array([[19.8, 20.2], [30.0, 0.0], [0.0, 30.0]]),
        "R": np.array([0.0, 1.0, 0.0]),
        "H": 12,
    },
    {"theta": np.array([[-2.0], [30.0]]), "hat": np.array([[-2.5], [30.0]]), "R": np.array([0.0, 1.0]), "H": 12},
]


def _first_term_of_example():
    """V - V^ minus the right side of L746 at the example, where u_k = 0."""
    p, q, (here, there) = EXAMPLE["P(1 | 0)"], EXAMPLE["estimate"], EXAMPLE["phi"]
    u = here + (1 - q) * here + q * there
    return p - q - (u and 2 * math.sqrt(1 / 8) * math.log(2) * abs(u))


def _draw_walk(rng):
    """Log-odds (S, S - 1) of the next states, their estimates, rewards, and H."""
    S, H = int(rng.integers(2, 5)), int(rng.integers(1, 13))
    theta = rng.standard_normal((S, S - 1)) * 10.0 ** rng.uniform(-1, 0.7)
    hat = theta + 10.0 ** rng.uniform(-2, 0.5) * rng.standard_normal((S, S - 1))
    return {"theta": theta, "hat": hat, "R": rng.integers(0, 2, S).astype(float), "H": H}


def _walk(logits, R, H):
    """The kernel (S, S), the value of state 0, and the probabilities (H, S) of the states by step."""
    weights = np.exp(np.concatenate([np.zeros((len(R), 1)), logits], 1) - logits.max(1, initial=0.0)[:, None])
    P = weights / weights.sum(1, keepdims=True)
    visits = np.array([np.linalg.matrix_power(P, h)[0] for h in range(H)])
    return P, float((visits @ R).sum()), visits


def change_of_norm(rng, trials, bound="min p/r", ordered=False, back=False, part=1):
    """C49: Min{1, alpha^p/alpha^r} when changing the norm from Gbar^r to Gbar^p."""

    worst = Worst()
    for case, ratio in _changes_of_norm(rng, trials):
        p, r = case["alpha_p"], case["alpha_r"]
        if ordered:
            p, r = np.maximum(p, r), np.minimum(p, r)
        factor = {"min p/r": np.minimum(1, p / r), "max r/p": np.maximum(1, r / p), "max p/r": np.maximum(1, p / r)}
        see_largest(worst, 1 - part * factor.get(bound, 1) / (ratio(r, p) if back else ratio(p, r)), case)
    return evidence_of(worst)


def _changes_of_norm(rng, trials):
    """The alphas, and a function of two alphas: the largest eigenvalue of Gbar(second)^-1 Gbar(first)."""
    for p, r, G in ((ONE, 4 * ONE, 0), (4 * ONE, ONE, 0), (ONE, ONE, 1)):  # A = eta = 1
        yield {"alpha_p": p, "alpha_r": r, "G": G}, lambda p, r, G=G: (1 / p + G) / (1 / r + G)
    for shape in ((1, 1, 1), (3, 1, 4), (4, 2, 3)):
        designs, n = draw_designs(rng, 5 + trials, *shape), 5 + trials
        alpha_p, alpha_r = 10.0 ** rng.uniform(-3, 3, (2, n))
        eta = designs["B"] * 10.0 ** rng.uniform(-3, 3, n)
        data = np.einsum("nm,nmij->nij", designs["visits"], designs["G"])

        def ratio(p, r, A=designs["A"], data=data, eta=eta):
            first, second = ((eta / alpha)[:, None, None] * A + data for alpha in (p, r))
            L = np.linalg.cholesky(second)
            return np.linalg.eigvalsh(np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, first), 1, 2)))[:, -1]

        yield {"alpha_p": alpha_p, "alpha_r": alpha_r, "eta": eta, "A": designs["A"], "sum of G": data}, ratio
