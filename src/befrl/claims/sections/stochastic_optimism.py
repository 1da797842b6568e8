"""Appendix B.2.1: the probability that the perturbed value is optimistic."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, logsumexp, ndtr, ndtri, rel_entr

from befrl.claims.toolbox.optimistic_runs import evidence, shares, table, uses
from befrl.claims.toolbox.search import moved_at_random, search
from befrl.model.theorem import PHI, confidence, theorem_x

QUARTER = Fraction(1, 4)
WORST_CONDITION = 3e4  # instances beyond it are not judged: they would be refuted by rounding
USES = uses()


# C51. MDPs with one action and Gaussian rewards: the perturbed value is Gaussian, and the chance of optimism exact.


def optimism(rng, trials, runs=None, model="zones", **reading):
    """C51: P(perturbed value is optimistic) >= Phi(-1) at the prescribed x_k."""
    counted = shares(int(rng.integers(2**32)), trials)
    if runs is not None:
        return evidence(*counted, runs)
    draw, lack, edges = {
        "zones": (_draw_zones, _lack, [CLEAN, DENSE, UNITS, EDGE, *FAR]),
        "tabular": (_draw_tabular, _lack_of_tabular, FORKS),
        "split normal": (_draw_split, _lack_of_split, [SPLIT]),
    }[model]
    violation = partial(lack, **reading)
    return search(rng, trials, draw, violation, edges=edges, move=_move_arrays, details=table(*counted))


def _lack(case, features="", x="theorem", scale=1.0, first=1.0, second=1.0, horizon=None):
    """Phi(-1) minus P(V~ >= V*), for transitions N(theta_p F(s), 1) and rewards N(m + vB theta_r F(s), v).

    F is constant on zones of the line. The estimates are moved by shift_p and shift_r, at most to the edge of the
    confidence sets; without shift_r to the edge in the worst direction. first and second are factors of the two roots.
    """
    F, H = _zones(case["F"], features), horizon or case["H"]
    if case is CLEAN and x != "enough" and np.array_equal(F, case["F"]) and H == case["H"]:
        return _clean()
    kept = np.abs(F).max(0) > 0
    F = F[:, kept]
    theta_p, theta_r, shift_p = (case[key][kept] for key in ("theta_p", "theta_r", "shift_p"))
    v, B, eta, start = case["v"], case["B"], case["eta"], case["start"]
    seen = F @ theta_r
    theta_r, seen = (part / max(1.0, v * B * np.ptp(seen)) for part in (theta_r, seen))
    means = v * B * (seen - seen.min())  # a known constant is added, so that they lie in [0,1]
    constants = _constants(F, theta_p, theta_r, v * B**2)
    roots = {i: np.sqrt(eta / constants[f"alpha_{i}"] + case["visits"])[:, None] * F for i in "pr"}  # R'R = Gbar
    if any(np.linalg.cond(root / np.linalg.norm(root, axis=0)) > WORST_CONDITION for root in roots.values()):
        return -1.0
    radius = _radii(constants, F.shape[1], H, case)
    hat = theta_p + _kept_inside(shift_p, roots["p"], radius["p"])
    _, best = _visits(_kernel(case["cuts"], F @ theta_p), start, H, means)
    visits, value = _visits(_kernel(case["cuts"], F @ hat), start, H, means)
    w = B * visits @ F
    if "shift_r" in case:
        value += v * _kept_inside(case["shift_r"][kept], roots["r"], radius["r"]) @ w
    else:
        value -= v * radius["r"] * _dual_norm(w, roots["r"])
    noise = scale * _noise(x, constants, H, v, abs(B), radius, first, second, F.shape[1], case)
    return _missing(best - value, math.sqrt(noise) * v * _dual_norm(w, roots["p"]), x, scale)


def _missing(gap, deviation, x="", scale=1.0):
    """Phi(-1) minus the chance that a Gaussian noise of this standard deviation covers the gap."""
    deviation = math.sqrt(scale) * max(gap, 0.0) if x == "enough" else deviation
    covered = ndtr(-gap / deviation) if deviation else float(gap <= 1e-12)
    return PHI - float(covered)


def _clean():
    """A counterexample in exact arithmetic: no noise is optimistic; the result is Phi(-1), rounded down.

    s' ~ N(theta X, 1), r ~ N(3/4 + theta X, 1), X = 1 for s > 0 and -3 else, H = 2, s_1 > 0, theta_r = 1/4 and
    Phi(theta_p) = 3/4. In the first episode the estimates are 0 and s_2 > 0 has the imagined chance 1/2.
    """
    offset, theta_r, X, true, imagined = 3 * QUARTER, QUARTER, (1, -3), (3 * QUARTER, QUARTER), (2 * QUARTER,) * 2
    slope = X[0] + sum(chance * each for chance, each in zip(imagined, X, strict=True))  # of the value in the noise
    means = [offset + theta_r * each for each in X]
    best = means[0] + sum(chance * mean for chance, mean in zip(true, means, strict=True))
    return Fraction(158655253931, 10**12) if slope == 0 and 2 * offset < best else Fraction(0)


def _zones(F, features):
    """The features of the zones (Z, d) under the hypothesis."""
    F = np.asarray(F, dtype=float)
    if "one-hot" in features:
        F = F * (np.arange(F.shape[1]) == np.abs(F).argmax(1)[:, None])
    return np.abs(F) if "nonnegative" in features else F


def _kernel(cuts, means):
    """The chances (Z, Z) that N(mean, 1) lies in the zones between the cuts."""
    below = ndtr(np.sort(cuts) - means[:, None])
    ends = np.ones((len(means), 1))
    return np.diff(np.concatenate([0 * ends, below, ends], 1), axis=1)


def _visits(P, start, H, means):
    """The expected visits of the states in H steps, and the value."""
    law, visits = np.eye(len(P))[start], np.zeros(len(P))
    for _ in range(H):
        law, visits = law @ P, visits + law
    return visits, float(visits @ means)


def _dual_norm(x, root):
    """The norm in the inverse of Gbar = root' root; QR does not square the condition."""
    return float(np.linalg.norm(np.linalg.solve(np.linalg.qr(root, mode="r").T, x)))


def _kept_inside(shift, root, radius):
    """The shift, cut to the given length in Gbar = root' root."""
    size = np.linalg.norm(root @ shift)
    return shift * min(1.0, radius / size) if size else shift


def _constants(F, theta_p, theta_r, alpha_r):
    """The constants of Theorem 1 for transitions and rewards of constant variance, that of transitions being 1."""
    norms = {"B_A": float(max(np.linalg.norm(F @ theta) for theta in (theta_p, theta_r)))}
    norms |= {"B_phi_A": max(_dual_norm(f, F) ** 2 for f in F)}
    return norms | {"alpha_p": 1.0, "beta_p": 1.0, "alpha_r": alpha_r, "beta_r": alpha_r}


def _radii(constants, d, H, case):
    """The radii of the confidence sets (C26, C27, corrected) in the norms of their designs."""
    sets = {i: confidence(constants, i, d, H, case["K"], case["eta"], case["delta"]) for i in "pr"}
    return {i: math.sqrt(2 * size / constants[f"alpha_{i}"]) for i, size in sets.items()}


def _noise(x, constants, H, v, B, radius, first, second, d, case):
    """x_k: that of the theorem, or corrected."""
    if x in ("theorem", "enough"):
        return theorem_x(constants, d, H, case["K"], case["eta"], case["delta"], known_reward=False)
    ratio = constants["alpha_r"] / constants["alpha_p"]
    root = first * (H - 1) / (2 * B * v) * math.sqrt(constants["beta_p"]) * radius["p"]
    return (root + second * math.sqrt(max(1.0, ratio) if x == "corrected" else min(1.0, 1 / ratio)) * radius["r"]) ** 2


NUMBERS = {"eta": 1.0, "delta": 0.05, "v": 1.0, "B": 1.0}
CLEAN = NUMBERS | {"F": np.array([[-3.0], [1.0]]), "cuts": np.zeros(1), "theta_p": ndtri([0.75]), "start": 1, "H": 2}
CLEAN |= {"theta_r": np.array([0.25]), "shift_p": -ndtri([0.75]), "shift_r": np.array([-0.25]), "visits": np.zeros(2)}
CLEAN |= {"K": 100}
DENSE = NUMBERS | {  # nonnegative features e_1, e_2 and (1,1), of which only the last one was seen, often
    "F": np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), "cuts": np.array([-6.0, 6.0]), "start": 0, "H": 2,
    "theta_p": np.array([12.0, -12.0]), "shift_p": np.array([-12.0, 12.0]), "theta_r": np.array([1.0, 0.0]),
    "shift_r": np.array([-0.5, 0.5]), "visits": np.array([0.0, 0.0, 1e6]), "eta": 0.01, "K": 10**6,
}  # fmt: skip
UNITS = NUMBERS | {  # first episode, one step, tiny variance: alpha_r is not in the units of the noise
    "F": np.ones((1, 1)), "cuts": np.zeros(0), "start": 0, "H": 1, "theta_p": np.zeros(1), "theta_r": np.ones(1),
    "shift_p": np.zeros(1), "shift_r": -np.ones(1), "visits": np.zeros(1), "v": 1e-4, "B": 1e4, "K": 100,
}  # fmt: skip
EDGE = {key: value for key, value in UNITS.items() if key != "shift_r"}  # the estimate is at the edge of its set
FAR = [  # one step, known badly, decides all later rewards: the first root is used up to a factor sqrt(2/pi)
    NUMBERS
    | {
        "F": np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]), "cuts": np.array([-30.0, 0.0]), "start": 0, "H": H,
        "theta_p": np.array([0.0, -8.0, 8.0]), "theta_r": np.array([0.0, 0.0, 1.0]), "eta": 1e-3,
        "shift_p": np.array([-1e3, 0.0, 0.0]), "visits": np.array([n, 1e14, 1e14]), "K": 10**15,
    }
    for H in (2, 6)
    for n in (1e4, 1e6, 1e8)
]  # fmt: skip


def _draw_zones(rng):
    """Up to four zones with features in up to four dimensions, visits, and estimates inside or at the edge."""
    Z = int(rng.integers(2, 5))
    d, K = int(rng.integers(1, Z + 1)), int(10 ** rng.integers(1, 6))
    F = rng.standard_normal((Z, d)) + 1e-3 * np.sign(rng.standard_normal((Z, d)))
    F[:d] += 2 * np.eye(d)
    eta, delta, v, B, length = (float(n) for n in 10.0 ** rng.uniform((-2, -3, -1, -1, -2), (1, -1, 1, 1, 2)))
    case = {"F": F, "cuts": rng.normal(0, 1.5, Z - 1), "start": int(rng.integers(Z)), "H": int(rng.integers(1, 7))}
    theta_p, theta_r, shift = rng.standard_normal((3, d))
    case |= {"theta_p": theta_p, "theta_r": theta_r, "shift_p": length * shift}
    visits = rng.integers(0, 1 + K // 10, Z) * rng.integers(0, 2, Z)
    return case | {"visits": visits.astype(float), "K": K, "eta": eta, "delta": delta, "v": v, "B": B}


def _move_arrays(rng, case, step):
    """The case with its arrays moved; visits and numbers stay."""
    arrays = {key: value for key, value in case.items() if isinstance(value, np.ndarray) and key != "visits"}
    return case | moved_at_random(rng, arrays, step)


def _draw_tabular(rng):
    """Softmax transitions between S states, p = S - 1, B = 1/sqrt(p); one parameter of the reward for each state."""
    S, K = int(rng.integers(2, 5)), int(10 ** rng.integers(1, 5))
    eta, delta, v, alpha, length = (float(n) for n in 10.0 ** rng.uniform((-2, -3, -1, -3, -2), (1, -1, 1, -0.31, 2)))
    visits = (rng.integers(0, 1 + K, S) * rng.integers(0, 2, S)).astype(float)
    case = {"theta_p": rng.standard_normal((S, S - 1)), "shift_p": length * rng.standard_normal((S, S - 1))}
    case |= {"means": rng.uniform(0, 1, S), "visits": visits, "H": int(rng.integers(1, 7)), "K": K}
    return case | {"eta": eta, "delta": delta, "v": v, "alpha_p": alpha}


def _lack_of_tabular(case, first=1.0):
    """Phi(-1) minus P(V~ >= V*) for softmax transitions: the confidence set is that of the KL (C23), alpha_p any
    number up to beta_p. The estimate moves along shift_p to the edge of the set; that of the rewards is the worst.
    """
    theta, shift, n, H = case["theta_p"], case["shift_p"], case["visits"], case["H"]
    S, v, eta, alpha_p, means = len(theta), case["v"], case["eta"], case["alpha_p"], np.clip(case["means"], 0, 1)
    beta_p = 0.25 if S == 2 else 0.5
    constants = {"alpha_p": min(alpha_p, beta_p), "beta_p": beta_p, "alpha_r": v, "beta_r": v, "B_phi_A": 1.0}
    constants["B_A"] = max(np.linalg.norm(theta), np.linalg.norm(means) / v)
    radius = _radii(constants, S * (S - 1), H, case)
    P, size = _softmax(theta), constants["alpha_p"] * radius["p"] ** 2 / 2  # the theorem's beta^p(K, delta)

    def excess(length):
        KL = rel_entr(_softmax(theta + length * shift), P).sum(1)
        return n @ KL + eta / 2 * length**2 * (shift**2).sum() - size

    length = 1.0 if excess(1.0) <= 0 else brentq(excess, 0.0, 1.0, xtol=1e-13) * (1 - 1e-12)
    _, best = _visits(P, 0, H, means)
    visits, value = _visits(_softmax(theta + length * shift), 0, H, means)
    designs = {i: eta / constants[f"alpha_{i}"] + n for i in "pr"}
    norm = {i: math.sqrt((visits**2 / designs[i]).sum()) for i in "pr"}
    value -= v * radius["r"] * norm["r"]
    noise = _noise("corrected", constants, H, v, 1.0, radius, first, 1.0, S, case)
    return _missing(best - value, math.sqrt(noise) * v * norm["p"])


def _softmax(logits):
    full = np.concatenate([np.zeros((len(logits), 1)), logits], 1)
    return np.exp(full - logsumexp(full, axis=1, keepdims=True))


FORKS = [  # the first step leads to one of two states that stay: with alpha_p = beta_p both roots are used up
    {
        "theta_p": np.array([[40.0, 40.0], [30.0, 0.0], [0.0, 30.0]]), "means": np.array([0.0, 1.0, 0.0]), "H": H,
        "shift_p": np.array([[-9.0, 9.0], [0.0, 0.0], [0.0, 0.0]]), "visits": np.array([n, 1e14, 1e14]), "K": 10**15,
        "eta": 1e-6, "delta": 0.05, "v": 0.5, "alpha_p": 0.5,
    }
    for H in (2, 6)
    for n in (1e4, 1e6)
]  # fmt: skip
SPLIT = {"n": 6, "H": 61, "c": 10.0, "ratio": 100.0, "eta": 1.0, "delta": 0.05, "K": 1000}


def _draw_split(rng):
    n, H, K = int(rng.integers(1, 7)), int(rng.integers(2, 80)), int(10 ** rng.integers(1, 5))
    ratio, eta, delta = (float(each) for each in 10.0 ** rng.uniform((0, -2, -3), (2, 1, -1)))
    return {"n": n, "H": H, "c": 10.0, "ratio": ratio, "eta": eta, "delta": delta, "K": K}


def _lack_of_split(case):
    """Phi(-1) minus a bound of P(V~ >= V*) for rewards tilted from exp(-r^2/2), r > 0, and exp(-r^2/2ratio), r < 0.

    Their variance lies in [1, ratio] for all theta. The estimates are exact, theta_p = 0: n zones of equal chance with
    features e_1, ..., e_n, one visit each, parameters c, and noises t z. The term is sum_i n_i (m(c + t z_i) - m(c)).
    One z_i <= -e loses the least n_i times m(c) - m(c - te), and the others win at most the largest n_i times
    t sqrt(n)|z|, up to n 1e-9: m(c) <= min(c, ratio c) for all c, and c - m(c) <= ratio exp(-c^2/2) for c > 0.
    """
    n, H, c, ratio = (case[key] for key in ("n", "H", "c", "ratio"))
    constants = dict.fromkeys(("alpha_p", "beta_p", "alpha_r", "B_phi_A"), 1.0)
    constants |= {"beta_r": ratio, "B_A": math.sqrt(n) * c}
    x = _noise("corrected", constants, H, 1.0, 1.0, _radii(constants, n, H, case), 1.0, ratio, n, case)
    t = math.sqrt(x / (case["eta"] + 1))
    low, high, edge = (H - 1) / n, 1 + (H - 1) / n, np.geomspace(min(1.0, 2 * c / t), 1.0, 200)
    loss = low / high * (c - 1e-9 - np.minimum(c - t * edge, ratio * (c - t * edge))) - n * 1e-9
    chances = ndtr(edge) ** n + chdtrc(n, (np.maximum(loss, 0.0) / (t * math.sqrt(n))) ** 2)
    return PHI - min(1.0, float(chances.min()))
