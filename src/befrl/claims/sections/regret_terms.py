"""Appendix B.1: the terms of the regret bound and their martingales."""

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy.special import rel_entr

from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.designs import draw_designs, norms_of
from befrl.claims.toolbox.exact import log1p_bounds
from befrl.claims.toolbox.search import Worst

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)

# Small Markov chains, true and estimated: values, laws of paths and divergences, for claims about one fixed policy.
#
# Shapes: P (..., S, S), rewards or norms r (..., S), values V (..., H + 1, S). Arrays of fractions stay exact. The
# first state is 0. Zeros in P are limits of members of the family.


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


def stopped(P, costs, H, weights):
    """E of the costs of s_h over all steps before the stop, and the chance to stop.

    The stop is the first h < H with weight(s_1) + ... + weight(s_h) > 1.
    """
    states, chances = paths(P, H)
    running = np.cumsum(weights[states[:-1]], 0) <= 1  # (H - 1, paths)
    return (chances * (costs[..., states[:-1]] * running).sum(-2)).sum(-1), chances[..., ~running.all(0)].sum(-1)


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


def transition_martingale(rng, trials, size="2H", scale="2H", low=0.0, own=False):
    """C55: The zeta martingale and its Azuma bound."""
    worst = Worst()
    for P, models, r, H, K in _games(rng, trials, low):
        sizes = {"2H": 2 * H, "H": H, "rest": 2 * np.arange(H - 2, -1, -1)}[size]
        states, chances = paths(P, H)
        zeta = zetas(P, models, r, states, own)
        over = np.abs(np.where(chances[:, None, None] > 0, zeta, 0.0)).max((1, 3)) - sizes
        spread = 2 * K * H * {"2H": 2 * H, "1": 1}[scale] ** 2
        tail = excess_of_tail(zeta.sum(2), chances, states[-1], K, spread)
        over = np.maximum(over.max(1), np.maximum(largest_mean(zeta, chances, P.shape[-1]), tail))
        see_largest(worst, over, {"P": P, "models": models, "r": r, "H": H, "K": K})
    return evidence_of(worst)


def _games(rng, trials, low):
    """Chains, their models by the last state of the episode before, rewards in [low, 1], H and K."""
    P, Q, r = (table[None] for table in fork(0.2, 0.5, 1.0, low))
    yield P, np.repeat(Q[:, None], 5, 1), r, 7, 1
    for H in (2, 3, 4):
        P, Q, r = draw_chains(rng, 2 + trials // 3, models=3)
        yield P, Q, low + (1 - low) * r, H, 2


def minimum_over_an_episode(
    rng, trials, factor=Fraction(1), inside=False, root=True, one_step=False, stop=False, rest=1
):
    """C56: The minimum with 1 over a whole episode.

    stop: V_hat - V <= factor H/2 E sum_{h < tau} sqrt(2 KL_h) + rest (H - 1) P(tau < H), for stopping times tau
    """
    worst = Worst()
    for P, Q, r, H, weights in _stopping(rng, trials) if stop else ():
        before, chance = stopped(P, np.sqrt(2 * divergences(P, Q)), H, weights)
        gap = (values(Q, r, H) - values(P, r, H))[:, 0, 0]
        over = gap / H - float(factor) * before / 2 - rest * (H - 1) / H * chance
        rule = np.broadcast_to(weights, r.shape)
        see_largest(worst, over, {"P": P, "model": Q, "r": r, "H": H, "weights": rule})
    if stop:
        return evidence_of(worst)
    for P, Q, r, H in _transports(rng, trials):
        c = np.array([root_above(2 * kl) if root else kl for kl in divergences(P, Q)])
        model = values(Q, r, H)
        if one_step:
            over = max((((Q - P) @ model[1]) - H * np.minimum(c, 1)) / H)
        else:
            gap = model[0, 0] - values(P, r, H)[0, 0]
            over = gap / H - factor * expected_minimum(P, c, H, inside)
        worst.see(over, {"P": P, "model": Q, "r": r, "H": H})
    return evidence_of(worst)


def _transports(rng, trials):
    """The example of C56 and a fork with a small error, exactly, then random chains: P, model, rewards and H."""
    P, Q, r = fork(Fraction(4, 5), Fraction(14, 15), Fraction(99, 100))
    P[2], Q[2] = P[1], P[1]  # the second branch never pays, in truth and in the model
    yield P, Q, r, 200
    yield *fork(Fraction(11, 20), HALF, Fraction(0)), 20
    P, Q, r = draw_chains(rng, trials)
    for i in range(trials):
        yield P[i], Q[i, 0], r[i], 2 + i % 4


def _stopping(rng, trials):
    """Chains whose first step decides, or whose model leads elsewhere, and random ones; three stopping rules."""
    P, Q, r = draw_chains(rng, 2 + trials)
    Q = Q[:, 0]
    P[0], Q[0] = ([[0.0, p, 1 - p], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] for p in (0.5, 0.51))
    P[1], Q[1], r[:2] = [0.01, 0.01, 0.98], [0.01, 0.98, 0.01], (0, 1, 0)
    for weights, H in itertools.product(([0.3, 0.0, 1.2], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]), (2, 3, 5)):
        yield P, Q, r, H, np.array(weights)


def reward_martingale(
    rng, trials, model="estimated", of="norms", allowed="nothing", drift=1.0, power=0.5, horizons=(1, 2, 3, 5)
):
    """C57: Zeta'_k is a martingale difference sequence.

    of       'norms', g in [0, 1]; 'rewards', differences f in [-1, 1] of the mean rewards under two parameters
    allowed  'nothing'; 'KL', drift (H - 1) sqrt(KL/2); 'TV', drift (H - 1) TV of the laws of the path; 'stopped', as
             'TV' with sqrt(KL/2) up to a stopping time, plus the chance to stop, for TV. Twice so much for rewards
    """
    worst = Worst()
    for (P, Q, g), H in itertools.product(_norms_on_chains(rng, trials), horizons):
        f = g if of == "norms" else 2 * g - 1
        gap = values(P, f, H) - values(P if model == "true" else Q, f, H)
        share = (1 if of == "norms" else 2) * (H - 1) / H
        distance = 0 if allowed == "nothing" or H == 1 else drift * share * _distance(P, Q, H, allowed, power)
        see_largest(worst, abs(gap[..., 0, 0]) / H - distance, {"P": P, "model": Q, of: f, "H": H})
    return evidence_of(worst)


def _distance(P, Q, H, allowed, power):
    """The total variation of the laws of the path, or what bounds it."""
    if allowed == "KL":
        return (values(P, divergences(P, Q), H - 1)[..., 0, 0] / 2) ** power
    P, Q = P.astype(float), Q.astype(float)
    if allowed == "TV":
        return abs(paths(P, H)[1] - paths(Q, H)[1]).sum(-1) / 2
    KL, chance = stopped(P, divergences(P, Q), H, np.linspace(0, 1.2, P.shape[-1]))
    return np.sqrt(KL / 2) + chance


def _norms_on_chains(rng, trials):
    """Chains, models and norms of their states: the example, a chain that its first step decides, and random ones."""
    P, Q = np.array([[[QUARTER, 3 * QUARTER], [HALF, HALF]], [[HALF, HALF], [HALF, HALF]]])
    yield P, Q, np.array([HALF, QUARTER])
    P, Q = np.array([[[0.0, p, 1 - p], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] for p in (0.5, 0.51)])
    yield P[None], Q[None], np.array([[1.0, 1.0, 0.0]])
    P, Q, g = draw_chains(rng, 2 + trials)
    yield P, Q[:, 0], g


def increments_of_norms(rng, trials, bound="printed", good=True, factor=1):
    """C58: Its increment bound."""
    worst = Worst()
    for case in itertools.chain(_exact_increments(), _increments(rng, trials)):
        if case["largest"] >= 1 and good:
            continue
        H, d, y = case["H"], case["d"], case["y"] * case["H"]
        logs = H * d * log1p_bounds(y * case["K"] if bound == "printed" else y)[1]
        right = {"printed": logs, "H": H * H, "grown": (1 + y) * logs}[bound]
        over = 1 - factor**2 * right / case["left"] ** 2 if case["left"] else 0.0
        see_largest(worst, over if isinstance(over, Fraction) else np.array([over]), case)
    return evidence_of(worst)


def _exact_increments():
    """The example, with shares 1/2 and 1 of the steps that the model expects in state 1; then a norm of 10."""
    for norm, share in ((Fraction(10, 11), HALF), (Fraction(10, 11), 1), (Fraction(10), 1)):
        yield {"d": 1, "H": 64, "K": 1, "y": norm**2, "largest": norm, "left": norm * 63 * share}


def _increments(rng, trials):
    """Random designs: d, H, K, y = alpha B/eta, the largest norm, and the largest |zeta'|."""
    for d, p, q in ((1, 1, 1), (3, 1, 4), (4, 2, 3)):
        designs = draw_designs(rng, 4 + trials // 3, d, p, q)
        norms = np.sqrt(norms_of(designs["a"], designs["Gbar"]))
        for g, y, visits in zip(norms, designs["B"] / designs["ratio"], designs["visits"].sum(1), strict=True):
            H = int(10 ** rng.uniform(0, 4))
            sizes = {"d": d, "H": H, "K": 1 + -(-int(visits) // H), "y": float(y), "largest": float(g.max())}
            yield sizes | {"left": float((H - 1) * (g.max() - g.min()))}
