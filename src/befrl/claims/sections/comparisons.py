"""Section 3.2 and remarks of Appendix B.1.1: the paper's bound beside those of others."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
from scipy.special import rel_entr

from befrl.claims.toolbox.exact import log1p_bounds
from befrl.claims.toolbox.search import search
from befrl.model import theorem

ONE = Fraction(1)
# Sizes so large that the terms with sqrt(K) lead; all logarithms double from the first to the second.
TABULAR = [{"S": 2.0**n, "A": 2.0**n, "H": 4.0**n, "K": 2.0 ** (30 * n)} for n in (8, 16)]
SHAPES = {  # d much smaller than H, and much larger
    "d<H": [{"d": 2.0**n, "H": 8.0**n, "K": 2.0 ** (15 * n)} for n in (20, 40)],
    "d>H": [{"d": 8.0**n, "H": 2.0**n, "K": 2.0 ** (15 * n)} for n in (20, 40)],
}
CONSTANTS = ("alpha_p", "alpha_r", "eta", "B_phi_A", "A", "B_A", "c")
ONES = dict.fromkeys((*CONSTANTS, "beta_p", "beta_r"), 1.0) | {"delta": 0.05}
ETAS = 2.0 ** np.arange(-20, 200, 0.25)


def order_optimal(rng, trials, letters="HK", stages=False, slack=0.0):
    """C65: The regret bound is order-optimal in H and K."""

    def powers(case, letter):
        bounds = (partial(bound, case=case, stages=stages) for bound in (_tabular_theorem, _lower_bound))
        return [float(_power(bound, TABULAR, letter)) for bound in bounds]

    def violation(case):
        return max(np.subtract(*powers(case, x)) - (slack if x == "H" else 0.0) for x in letters)

    details = {"powers in Theorem 1 and in the lower bound": {x: powers(ONES, x) for x in "SAHK"}}
    return search(rng, min(trials, 40), _draw_constants, violation, edges=[ONES], climb=False, details=details)


def _draw_constants(rng):
    """Random constants of Theorem 1, with alpha <= beta."""
    found = {name: 10.0 ** rng.uniform(-1, 1) for name in CONSTANTS} | {"delta": 10.0 ** rng.uniform(-6, -1)}
    return found | {f"beta_{i}": found[f"alpha_{i}"] * 10.0 ** rng.uniform(0, 1) for i in "pr"}


def _power(bound, sizes, letter):
    """The power of a letter in a bound, given by its log2: its growth as the letter doubles, without logarithms.

    The q-th power of a logarithm adds about q/log(size), which halves from the first size to the second.
    """
    first, second = (bound(size | {letter: 2 * size[letter]}) - bound(size) for size in sizes)
    return 2 * second - first


def _tabular_theorem(size, case, stages):
    """log2 of the bound of Theorem 1, with one parameter for each (s, a, s'), or (h, s, a, s') with stages."""
    d = size["S"] ** 2 * size["A"] * (size["H"] if stages else 1)
    return np.log2(sum(theorem.terms(case | {"d": d, "H": size["H"], "K": size["K"]})["theorem"].values()))


def _lower_bound(size, case, stages):
    """log2 of a lower bound for tabular MDPs: the largest over e of S K' e V/8 (1 - 16 e^2)^(K'/(2(M - 1))), K' = K/S.

    Each of S first states has M choices; one leads to the good state, which pays to the end, with chance 1/2 + e, the
    others with 1/2. Without stages a choice is an action, M = A, and V = H - 1. With stages the learner waits up to H/2
    steps, a choice is a step and an action, M = AH/2, and V = H/2.
    """
    M, V = (size["A"] * size["H"] / 2, size["H"] / 2) if stages else (size["A"], size["H"] - 1)
    K = size["K"] / size["S"]
    e = 0.25 * math.sqrt((M - 1) / K) * np.geomspace(0.1, 10, 400)  # at the best e the power is about exp(-1/2)
    return np.max(np.log2(size["K"] * e * V / 8) + K / (2 * (M - 1)) * np.log1p(-16 * e**2) / math.log(2))


def better_than_exp_ucrl(rng, trials, H=0.5, d=-0.5, K=0.0, eta="given", shapes=("d<H", "d>H")):
    """C79: Against EXP-UCRL the regret bound gains a factor sqrt(H) and loses a factor sqrt(d)."""
    stated = {"H": H, "d": d, "K": K}

    def gains(case):
        logs = partial(_two_bounds, case=case, etas=ETAS if eta == "best" else np.array([case["eta"]]))
        return {(shape, x): float(np.subtract(*_power(logs, SHAPES[shape], x))) for shape in shapes for x in stated}

    def violation(case):
        return max(abs(gain - stated[x]) for (_, x), gain in gains(case).items())

    details = {"gained powers": {f"{shape}, {x}": gain for (shape, x), gain in gains(ONES).items()}}
    return search(rng, min(trials, 20), _draw_constants, violation, edges=[ONES], climb=False, details=details)


def _two_bounds(size, case, etas):
    """log2 of the bounds of EXP-UCRL and of Theorem 1, each at the best of these eta.

    EXP-UCRL: the transition term with 1 + beta_p B_phi_A H/eta under its root, and 2H sqrt(2 HK log(1/delta)).
    """
    terms = theorem.terms(case | size | {"eta": etas})["theorem"]
    deviation = 2 * size["H"] * np.sqrt(-2 * size["H"] * size["K"] * np.log(case["delta"]))
    theirs = terms["transition"] * np.sqrt(1 + case["beta_p"] * case["B_phi_A"] * size["H"] / etas) + deviation
    return np.log2([np.min(theirs), np.min(sum(terms.values()))])


def remarks_on_transitions(rng, trials, over="episode", extra=True, remark="", constant=2, factor=1):
    """C80: The minimum with 1 saves a factor H; the simulation lemma would cost sqrt(H)."""

    def violation(case):
        if "P" in case:
            return _simulation_gap(case, extra, factor)
        return _excess_of_potentials(case, over, constant, factor)

    edges = [case for case in EDGES if remark in ("", "minimum" if "a" in case else "simulation")]
    return search(rng, trials, partial(_draw, remark=remark), violation, edges=edges, climb=False)


# One episode of ten norms 1, a single one, and two chains that forget their state.
EDGES = [{"a": np.array([[[[ONE]]] * H]), "kappa": ONE} for H in (10, 1)]
EDGES += [{"P": [ONE / 2, ONE / 2], "Q": [ONE / 4, 3 * ONE / 4], "H": H} for H in (4, 10**8)]


def _draw(rng, remark):
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


def _excess_of_potentials(case, over, constant, factor=1):
    """1 - right/left for the sum of the potentials of C80, with the minimum over steps or episodes, or none.

    over = 'calm': the sum over the episodes in which det G at most doubles, plus the number of the others.
    constant = 'c/log(1+c)': with c = alpha/eta B H, the bound of the sum without a minimum.
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
    right, c = d * log1p_bounds(kappa * largest * K * H)[1], kappa * largest * H
    if over == "calm":
        calm = ratios <= 2
        left, constant = norms[calm].sum() + int((~calm).sum()), 1 / log1p_bounds(Fraction(1))[0]
    else:
        one = np.minimum(norms, 1), np.minimum(norms.sum(1), 1), norms
        left = dict(zip(("step", "episode", "nothing"), one, strict=True))[over].sum()
    if constant == "c/log(1+c)":
        constant = c / log1p_bounds(c)[0]
    return 1 - factor * constant * right / left if left else 0


def _simulation_gap(case, extra, factor):
    """How far the simulation lemma's bound, squared, is below factor^2 H times that by KL, or above it if not `extra`.

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
    gap = 1 - square / (factor**2 * H * other) if extra else 1 - factor**2 * other / square
    return gap if error < 1e-9 else max(gap, error)
