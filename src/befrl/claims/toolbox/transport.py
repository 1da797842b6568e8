"""Potentials of designs that change after episodes only, and value differences of two Markov chains."""

from fractions import Fraction

import numpy as np
from scipy.special import rel_entr

from befrl.claims.toolbox.exact import log1p_bounds

ONE = Fraction(1)
# One episode of ten norms 1, a single one, and two chains that forget their state.
EDGES = [{"a": np.array([[[[ONE]]] * H]), "kappa": ONE} for H in (10, 1)]
EDGES.append({"P": [ONE / 2, ONE / 2], "Q": [ONE / 4, 3 * ONE / 4], "H": 4})


def draw(rng, remark):
    """Features a (K, H, d, p) of random sizes with kappa = alpha/eta, or two close or distant chains, and rewards."""
    if remark == "minimum" or (not remark and rng.random() < 0.5):
        K, H, d, p = rng.integers(1, (7, 7, 4, 3))
        growth = 2.0 ** rng.uniform(-1, 4, (K, 1, 1, 1)).cumsum(0) / 8
        return {"a": rng.standard_normal((K, H, d, p)) * growth, "kappa": 10 ** rng.uniform(-1, 2)}
    S, H = (int(n) for n in rng.integers((2, 1), (5, 9)))
    P, other = rng.dirichlet(np.ones(S), (2, S)) + 1e-3
    share = 10 ** rng.uniform(-3, 0)
    Q = P / P.sum(1, keepdims=True) * (1 - share) + share * other / other.sum(1, keepdims=True)
    return {"P": P / P.sum(1, keepdims=True), "Q": Q, "H": H, "r": rng.uniform(0, 1, S)}


def excess_of_potentials(case, over, constant):
    """1 - right/left for the sum of the potentials of C80, with the minimum over steps or episodes, or none.

    over = 'calm': the larger of the sum over the episodes in which det G at most doubles, and the number of the others.
    """
    a, kappa = case["a"], case["kappa"]
    K, H, d, _ = a.shape
    G = a @ a.swapaxes(-1, -2)
    after = G.sum(1).cumsum(0) + np.eye(d, dtype=int) / kappa
    before = np.concatenate([after[:1] - G[:1].sum(1), after[:-1]])
    if d == 1:
        norms, ratios, largest = G[..., 0, 0] / before[:, 0], (after / before)[:, 0, 0], G.max()
    else:
        small = a.swapaxes(-1, -2) @ np.linalg.solve(before[:, None], a)
        norms, ratios = np.linalg.eigvalsh(small)[..., -1], np.linalg.det(after) / np.linalg.det(before)
        largest = np.linalg.eigvalsh(G).max()
    right = d * log1p_bounds(kappa * largest * K * H)[1]
    if over == "calm":
        calm = ratios <= 2
        left, constant = max(norms[calm].sum(), (~calm).sum()), 1 / np.log(2)
    else:
        one = np.minimum(norms, 1), np.minimum(norms.sum(1), 1), norms
        left = dict(zip(("step", "episode", "nothing"), one, strict=True))[over].sum()
    return 1 - constant * right / left if left else 0


def simulation_gap(case, extra, factor):
    """How far the bound by the simulation lemma is from H times that by KL, squared, or above it if not `extra`.

    The bounds of the value difference are H E sum_h |Q - P|_1 and H E sum_h sqrt(2 KL(P, Q)), along the chain P. The
    result is at least the error of the lemma's identity.
    """
    P, Q, H, error = case["P"], case["Q"], case["H"], 0.0
    if "r" not in case:  # both chains forget their state: the bounds are H^2 times these, exactly
        square = sum(abs(q - p) for p, q in zip(P, Q, strict=True)) ** 2
        other = 2 * sum(p * log1p_bounds(p / q - 1)[0] for p, q in zip(P, Q, strict=True))
    else:
        mass, V, W, bounds = np.eye(len(P))[0], [np.zeros(len(P))], [np.zeros(len(P))], np.zeros(2)
        for _ in range(H):
            V.append(case["r"] + P @ V[-1])
            W.append(case["r"] + Q @ W[-1])
        total = 0.0
        for h in range(H):
            total += mass @ (Q - P) @ W[H - h - 1]
            bounds += mass @ np.stack([np.abs(Q - P).sum(1), np.sqrt(2 * rel_entr(P, Q).sum(1))], 1)
            mass = mass @ P
        error = abs(W[H][0] - V[H][0] - total)
        square, other = bounds**2
    gap = 1 - square / (H * other) if extra else 1 - factor**2 * other / square
    return gap if error < 1e-9 else max(gap, error)
