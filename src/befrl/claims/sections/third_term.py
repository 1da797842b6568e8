"""Appendix B.2.1: the probability that the third term of the proof of optimism is large."""

import functools
import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, ndtr

from befrl.claims.toolbox.search import moved_at_random, search
from befrl.model import rewards
from befrl.model.theorem import PHI

ROUNDED = 3e-5  # of features that cancel to this share too little is left to be judged
# C50. All chances are exact, or upper bounds, so that Phi(-1) minus them is at most the violation: nothing is counted.
LAWS = ("gaussian", "pair", "one", "orthogonal")


def third_term(rng, trials, law="", **reading):
    """C50: The third term is Gaussian, large with probability Phi(-1)."""
    allowed = (law,) if law else LAWS
    draws = {"gaussian": _draw_gaussian, "one": _draw_line, "pair": _draw_pair, "orthogonal": _draw_pair}

    def draw(rng):
        kind = str(rng.choice(allowed))
        return draws[kind](rng) | {"law": kind}

    edges = [case for case in THIRD_TERMS if law in ("", case["law"])]
    return search(rng, trials, draw, functools.partial(_missing_chance, **reading), edges=edges, move=_move_third_term)


def _missing_chance(case, right="printed", sign=-1, factor=1.0):
    """Phi(-1) minus the chance of the inequality; for the median, the distance of P(third term > 0) from 1/2."""
    chance = {"gaussian": _gaussian_chance, "one": _line_chance, "pair": _pair_chance, "orthogonal": _orthogonal_chance}
    chance["bounded"] = _bounded_chance
    found = chance[case["law"]](case, right, sign, factor)
    return float(abs(found - 0.5) if right == "median" else PHI - found)


def _gaussian_chance(case, right, sign, factor):
    """Rewards of variance v and a walk on states with features a (S, d), B = 1: the term is linear in xi, by C39.

    Its slope comes from values, by dynamic programming; the right side from the expected features of a trajectory.
    """
    P, a, v, x, H = case["P"], case["a"], abs(case["v"]) + 1e-9, abs(case["x"]), case["H"]
    a = np.linalg.solve(case["L"], a.T).T  # in units in which Gbar = I
    slope = np.zeros(a.shape)
    for _ in range(H):
        slope = v * a + P @ slope
    deviation = math.sqrt(x) * np.linalg.norm(slope[0])
    law, u, length = np.eye(len(P))[0], np.zeros(a.shape[1]), 0.0
    for _ in range(H):
        law, u, length = law @ P, u + law @ a, length + law @ np.linalg.norm(a, axis=1)
    norm = math.sqrt(x) * np.linalg.norm(u)
    if np.linalg.norm(u) <= ROUNDED * length:
        return 0.5 if right == "median" else 1.0
    side = {"printed": math.sqrt(v) * v / 2 * norm, "linear": v * norm, "zero": 0.0, "median": 0.0}[right]
    return ndtr(-factor * side / deviation)


def _line_chance(case, right, sign, factor):
    """Steps whose products have one direction: the term increases with xi = z; its slopes add up to term/z."""
    a, c, v, s = np.abs(case["a"]) + 1e-9, case["c"], abs(case["v"]) + 1e-9, case["s"]
    if right in ("printed", "zero", "median"):  # sign * term >= sqrt(v)/2 |term/z|
        return ndtr(-factor * math.sqrt(v) / 2) if right == "printed" else 0.5
    side = factor * v * a.sum()

    def rest(z):
        return (v * a * z + s * (np.tanh(s * (c + a * z)) - np.tanh(s * c))).sum() - sign * side

    end = sign * (factor + 1e-9)  # the slope is at least v times the sum of a
    return ndtr(-sign * brentq(rest, *sorted((0.0, end)), xtol=1e-14)) if rest(end) * rest(0.0) < 0 else PHI


BOUNDED = rewards.make("truncated-exponential", 1.0)
EXTREME = brentq(lambda t: BOUNDED.variance(t) - 2 * BOUNDED.variance(2 * t), 1, 5, xtol=1e-15)  # 2.676


def _bounded_chance(case, right, sign, factor):
    """Rewards in [0, 1], density ~ exp(c r), two steps with features 1 and -2: 0 if the term is never positive."""
    xi = np.linspace(-300, 300, 60_001)
    return float(np.any(sign * (_bounded_values(case["theta"] + xi) - _bounded_values(case["theta"])) > 1e-12))


def _bounded_values(theta):
    """The value of the two steps, up to a constant, as a function of the reward's parameter."""
    return BOUNDED.mean(theta) - BOUNDED.mean(2 * theta)


def _pair_chance(case, right, sign, factor):
    """Two steps with products 1 and -1 at the same c: the term is -2s tanh(sc) sinh(y)^2/(cosh(sc)^2 + sinh(y)^2)."""
    positive = sign * -np.sign(case["s"] * np.tanh(case["s"] * case["c"]))  # of sign * term, for every xi != 0
    if right == "median":
        return 0.5 + sign * positive / 2
    if right == "printed" and positive > 0:  # the slopes differ by term/xi
        return 2 * ndtr(-factor * math.sqrt(abs(case["v"])) / 2)
    return float(positive >= 0)


def _orthogonal_chance(case, right, sign, factor):
    """n orthogonal features with products t at the same c, saturated: a bound of P(sign * term >= 0).

    A noise z_i <= -e, e = 2|c|/t, loses 2s tanh(s|c|) at least; all others win at most (n - 1)s(1 - tanh(s|c|)) and
    v t sqrt(n)|z|.
    """
    n, t, v, s, c = case["n"], abs(case["t"]), abs(case["v"]), abs(case["s"]), sign * case["c"]
    if c <= 0 or not t or right == "median":
        return 0.5 if right == "median" else 1.0
    loss = 2 * s * math.tanh(s * c) - (n - 1) * s * (1 - math.tanh(s * c))
    tail = chdtrc(n, (loss / (v * t * math.sqrt(n))) ** 2) if loss > 0 and v else float(loss <= 0)
    return min(1.0, ndtr(2 * c / t) ** n + tail)


THIRD_TERMS = [  # the extremes of a value; saturated rewards that cancel, or with orthogonal features; a large variance
    *({"law": "bounded", "theta": sign * EXTREME} for sign in (1, -1)),
    *({"law": "pair", "c": c, "v": 0.01, "s": 1.0, "t": 9.0, "n": 2} for c in (3.0, -3.0)),
    *({"law": "orthogonal", "c": c, "v": 0.001, "s": 1.0, "t": 100.0, "n": 6} for c in (3.0, -3.0)),
    {"law": "gaussian", "P": np.ones((1, 1)), "a": np.ones((1, 1)), "L": np.eye(1), "v": 25.0, "x": 1.0, "H": 1},
]


def _draw_gaussian(rng):
    """A walk on up to four states, features a B, the root L of Gbar, the variance v, x_k and H."""
    S, d, H = (int(n) for n in rng.integers(1, (5, 7, 7)))
    L = np.tril(rng.standard_normal((d, d))) + 3 * np.eye(d)
    v, x = (float(n) for n in 10.0 ** rng.uniform((-2, -2), (1.5, 3)))
    return {"P": rng.dirichlet(np.ones(S), S), "a": rng.standard_normal((S, d)), "L": L, "v": v, "x": x, "H": H}


def _draw_line(rng):
    T = int(rng.integers(1, 6))
    a, c, v = np.exp(rng.normal(0, 1.5, T)), rng.normal(0, 2, T), float(10 ** rng.uniform(-3, 1.5))
    return {"a": a, "c": c, "v": v, "s": float(rng.uniform(0, 2))}


def _draw_pair(rng):
    v, s, t = (float(n) for n in 10.0 ** rng.uniform((-4, -1, 0), (1, 0.5, 3)))
    return {"c": float(rng.normal(0, 3)), "v": v, "s": s, "t": t, "n": int(rng.integers(2, 7))}


def _move_third_term(rng, case, step):
    """Moved at random; chances stay chances."""
    return moved_at_random(rng, case, step) | ({"P": case["P"]} if "P" in case else {})
