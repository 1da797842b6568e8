"""Small Markov chains, true and estimated: values, laws of paths and divergences, for claims about one fixed policy.

Shapes: P (..., S, S), rewards or norms r (..., S), values V (..., H + 1, S). Arrays of fractions stay exact. The first
state is 0. Zeros in P are limits of members of the family.
"""

import math
from fractions import Fraction

import numpy as np
from scipy.special import rel_entr

from befrl.claims.toolbox.exact import log1p_bounds


def draw_chains(rng, n, S=3, models=1):
    """n true chains (n, S, S), models of each of them at many distances (n, models, S, S), and rewards in [0, 1]."""
    P = rng.dirichlet(np.full(S, 0.7), (n, S)) + 1e-6
    P /= P.sum(-1, keepdims=True)
    away = 10.0 ** rng.uniform(-2, 0.7, (n, 1, 1, 1)) * rng.standard_normal((n, models, S, S))
    Q = P[:, None] * np.exp(away)
    r = rng.random((n, S))
    return P, Q / Q.sum(-1, keepdims=True), np.where(rng.random((n, 1)) < 0.5, np.round(r), r)


def fork(p, q, wrong, low=0):
    """A chain, its model and the rewards: 0 leads to 1 or 2, 1 to 3 and 2 to 4, where the path stays.

    p and q are the chances of 1 in truth and in the model. In the model 1 leads to 4, and 2 to 3, with chance `wrong`.
    State 4 pays 1, all others `low`.
    """
    P, Q = np.full((2, 5, 5), 0 * wrong)
    P[0, 1:3], Q[0, 1:3] = (p, 1 - p), (q, 1 - q)
    P[1, 3] = P[2, 4] = P[3, 3] = P[4, 4] = Q[3, 3] = Q[4, 4] = wrong**0
    Q[1, 3:] = Q[2, :2:-1] = 1 - wrong, wrong
    return P, Q, np.array([low, low, low, low, 1]) + 0 * wrong


def values(P, r, H):
    """The values of the steps 1 to H + 1."""
    V = [np.zeros_like(r + P[..., 0])]
    for _ in range(H):
        V.append(r + (P @ V[-1][..., None])[..., 0])
    return np.stack(V[::-1], -2)


def divergences(P, Q):
    """KL(P, Q) of every state; an upper bound 1e-12 away for fractions."""
    if P.dtype != object:
        return rel_entr(P, Q).sum(-1)
    rows = (zip(*pair, strict=True) for pair in zip(P, Q, strict=True))
    return np.array([sum(p * log1p_bounds(p / q - 1)[1] for p, q in row if p) for row in rows])


def root_above(x):
    """The square root; for a fraction, a rational number up to 1e-12 above it."""
    return Fraction(math.isqrt(math.floor(x * 10**24)) + 1, 10**12) if isinstance(x, Fraction) else math.sqrt(x)


def paths(P, length):
    """All paths of so many states from state 0, (length, paths), and their chances, (..., paths)."""
    found = np.indices((P.shape[-1],) * (length - 1)).reshape(length - 1, -1)
    found = np.vstack([np.zeros_like(found[:1]), found])
    return found, P[..., found[:-1], found[1:]].prod(-2)


def zetas(P, models, r, states, own):
    """zeta of every model, step and path, (n, models, H - 1, paths); `own`: the model of the path's own last state."""
    H = len(states)
    D = values(models, r[:, None], H) - values(P, r, H)[:, None]
    expected = (P[:, None, None] @ D[..., None])[..., 0]
    steps = np.arange(1, H)[:, None]
    zeta = expected[:, :, steps, states[:-1]] - D[:, :, steps, states[1:]]
    return np.moveaxis(zeta[:, states[-1], :, np.arange(len(states[-1]))], 0, -1)[:, None] if own else zeta


def largest_mean(zeta, chances, S):
    """The largest |E[zeta_h | s_1, ..., s_h]|, (n,)."""
    found = []
    for h in range(zeta.shape[2]):
        weights = chances.reshape(len(chances), 1, S**h, -1)
        means = (weights * zeta[:, :, h].reshape(*zeta.shape[:2], S**h, -1)).sum(-1) / (weights.sum(-1) + 1e-300)
        found.append(np.abs(means).max((1, 2)))
    return np.max(found, 0)


def excess_of_tail(sums, chances, last, K, spread):
    """The largest P(sum >= v) - exp(-v^2/spread) over v > 0, for K = 1 or 2 episodes; sums (n, models, paths)."""
    total = sums[:, 0]
    if K == 2:
        second = sums[:, last] if sums.shape[1] > 1 else sums
        total, chances = total[:, :, None] + second, chances[:, :, None] * chances[:, None]
        total, chances = (table.reshape(len(total), -1) for table in (total, chances))
    order = np.argsort(-total, 1)
    v, tail = np.take_along_axis(total, order, 1), np.take_along_axis(chances, order, 1).cumsum(1)
    return np.where(v > 1e-9, tail - np.exp(-(v**2) / spread), 0.0).max(1)


def expected_minimum(P, c, H, inside):
    """E min{1, sum_h c(s_h)}, or E sum_h min{1, c(s_h)}, by a recursion on states and sums so far."""
    found = {(0, 0): 1}
    for _ in range(H):
        after = {}
        for (s, total), chance in found.items():
            total = total + min(c[s], 1) if inside else min(1, total + c[s])
            for t in np.flatnonzero(P[s]):
                after[t, total] = after.get((t, total), 0) + chance * P[s, t]
        found = after
    return sum(total * chance for (_, total), chance in found.items())
