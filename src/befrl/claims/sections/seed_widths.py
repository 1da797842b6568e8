"""The widths of bef-seed: how far upper(V) and r+ are from the truth, given a divergence D; and a tangent."""

import numpy as np
from scipy.special import log_softmax

from befrl.claims.toolbox.laws import REWARDS
from befrl.claims.toolbox.search import moved_at_random, search
from befrl.claims.toolbox.seed import bernstein, uncovered

LEAST = 0.01  # of the distances of natural parameters, so that rounding does not decide
SMALL, RARE = 2e-3, 1e-4  # of the edge cases: the distance of two laws, in the limit D -> 0, and a probability


def widths(rng, trials, omega=1, root=3.147, linear=2.967, rewards=8, interval=2):
    """S08: upper(V) - P*V for KL(P^, P*) = D, differences of mean rewards, and the width of an interval of laws.

    omega     of S sqrt(2D), the bound of upper(V) - P*V
    root      of sqrt(Var_*(V) D), and `linear` of S D, the other bound
    rewards   of beta_r D, under a root
    interval  of S sqrt(2D), the bound of upper(V) - lower(V) for an interval
    """

    def violation(case):
        if case["kind"] == "interval":
            wide, distance, S, D = _interval(case)
            return max(uncovered(wide, 2 * S * distance), uncovered(wide, float(interval) * S * np.sqrt(2 * D)))
        if case["kind"] in REWARDS:
            apart, beta, D = _means(case)
            return uncovered(apart, np.sqrt(float(rewards) * beta * D))
        left, S, variance, D = _ball(case)
        by_variance = float(root) * np.sqrt(variance * D) + float(linear) * S * D
        return max(uncovered(left, float(omega) * S * np.sqrt(2 * D)), uncovered(left, by_variance))

    return search(rng, trials, _draw, violation, edges=EDGES, move=_moved)


def tangent(rng, trials, curvature=1):
    """S13: |P_theta V - P^V| <= |w'Cov(psi, V)| + `curvature` span(V) KL for laws on finitely many states."""

    def violation(case):
        psi, V, w = (np.asarray(case[key]) for key in ("psi", "V", "w"))
        (before, log_before), (after, log_after) = _law(case["base"]), _law(case["base"] + psi @ w)
        centred = V - before @ V
        linear = before @ ((psi - before @ psi) @ w * centred)
        right = abs(linear) + float(curvature) * np.ptp(V) * _divergence(log_before, log_after)
        return uncovered(abs((after - before) @ centred), right)

    def draw(rng):
        p, n = int(rng.integers(1, 4)), int(rng.integers(2, 7))
        psi, base = rng.standard_normal((n, p)), 10.0 ** rng.uniform(-1, 1) * rng.standard_normal(n)
        return {
            "psi": psi,
            "base": base,
            "V": _function(rng, n),
            "w": 10.0 ** rng.uniform(-1, 1) * rng.standard_normal(p),
        }

    rare = {"psi": np.eye(2)[:, 1:], "base": np.log([1 - RARE, RARE]), "V": np.array([0.0, 1.0])}
    return search(rng, trials, draw, violation, edges=[rare | {"w": np.array([w])} for w in (0.5, 2.0, -2.0)])


def _law(logits):
    """A law and its logarithm."""
    logs = log_softmax(logits)
    return np.exp(logs), logs


def _divergence(logs, other):
    """KL of two laws with these logarithms, without loss of digits where they are close."""
    P, Q, ratio = np.exp(logs), np.exp(other), logs - other
    gained = np.where(ratio < 1, Q * np.expm1(np.minimum(ratio, 1)), P - Q)  # P - Q
    return (P * ratio - gained).sum()


def _function(rng, n):
    """A function on n states: smooth values, or an indicator."""
    return rng.standard_normal(n) if rng.random() < 0.5 else (rng.random(n) < 0.5) + 0.0


def _ball(case):
    """upper(V) - P*V of the bound `bernstein`, span V, Var_*(V) and D = KL(P^, P*)."""
    V, (hat, log_hat), (true, log_true) = case["V"], _law(case["hat"]), _law(case["true"])
    D, mean = _divergence(log_hat, log_true), hat @ V
    width = bernstein(mean, hat @ (V - mean) ** 2, V, D)
    return width + (hat - true) @ V, np.ptp(V), true @ (V - true @ V) ** 2, D


def _means(case):
    """|Z'(c+) - Z'(c*)|, the bound beta of Z'', and the larger divergence from c^."""
    law, c, ends = REWARDS[case["kind"]], case["c"], case["c"] + np.array([case["up"], -case["down"]])
    means = law.mean(ends)
    KL = law.log_partition(ends) - law.log_partition(c) - law.mean(c) * (ends - c)
    return abs(means[0] - means[1]), law.variance_bound, KL.max()


def _interval(case):
    """upper(V) - lower(V) for the laws between v - down and v + up, |P+ - P-|_TV, span V and the larger divergence."""
    psi, V = np.sort(case["psi"]), case["V"]
    (_, hat), (high, log_high), (low, log_low) = (
        _law(case["base"] + x * psi) for x in (0.0, case["up"], -case["down"])
    )
    variation = np.append(0.0, np.abs(np.diff(V)).cumsum())
    S, distance = np.ptp(V), np.abs(high - low).sum() / 2
    wide = 2 * min((high - low) @ variation / 2, S * distance)
    return wide, distance, S, max(_divergence(hat, log_high), _divergence(hat, log_low))


def _draw(rng):
    kind, n = str(rng.choice(["ball", "ball", "interval", *REWARDS])), int(rng.integers(2, 7))
    if kind == "ball":
        hat, step = rng.standard_normal((2, n)) * 10.0 ** rng.uniform((-1, -1.5), (0.7, 0.7))[:, None]
        return {"kind": kind, "hat": hat, "true": hat + step, "V": _function(rng, n)}
    up, down = (float(each) for each in 10.0 ** rng.uniform(-1.5, 1, 2))
    if kind == "interval":
        case = {"psi": rng.standard_normal(n), "base": 2 * rng.standard_normal(n), "V": _function(rng, n)}
        return {"kind": kind, "up": up, "down": down} | case
    return {"kind": kind, "c": float(rng.normal(0, 2)), "up": up, "down": down}


def _moved(rng, case, step):
    """The case moved; steps keep their sign, and stay above rounding errors."""
    case = moved_at_random(rng, case, step)
    return case | {key: max(abs(case[key]), LEAST) for key in ("up", "down") if key in case}


HALF = np.zeros(2)
EDGES = (
    {"kind": "ball", "hat": HALF, "true": np.array([0.0, -SMALL]), "V": np.array([0.0, 1.0])},
    {"kind": "ball", "hat": HALF, "true": np.array([0.0, -20.0]), "V": np.array([0.0, 1.0])},
    {"kind": "ball", "hat": np.array([0.0, -4.0]), "true": np.array([0.0, -12.0]), "V": np.array([0.0, 1.0])},
    {"kind": "gaussian", "c": 0.0, "up": 1.0, "down": 1.0},
    {"kind": "bernoulli", "c": 0.0, "up": 0.1, "down": 0.1},
    {"kind": "interval", "psi": np.arange(3.0), "base": np.array([0.0, -9.0, 0.0]), "V": np.eye(3)[1]}
    | {"up": SMALL, "down": SMALL},
)
