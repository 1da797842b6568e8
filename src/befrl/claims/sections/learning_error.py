"""Appendix B.2.2: the noise scale x_k in its three forms, and the way from optimism to the learning error."""

import functools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from scipy.special import ndtri

from befrl.claims.toolbox.exact import root
from befrl.claims.toolbox.search import search
from befrl.model.theorem import PHI, noise_scales, theorem_x

ONE = Fraction(1)


def forms_of_x(rng, trials, between=("theorem", "lemma", "sketch"), enough=False, last=False, units=False):
    """C52: The three statements of x_k agree."""

    def violation(case):
        forms = _forms(case | ({"share": 1} if last else {}) | ({"H": 1, "alpha_r": 1} if units else {}))
        first, *others = (forms[name] for name in between)
        return max((other / first if enough else max(first / other, other / first)) - 1 for other in others)

    return search(rng, trials, _draw_constants, violation, edges=CONSTANTS, climb=False)


NAMES = ("alpha_p", "beta_p", "alpha_r", "beta_r", "radius_p", "radius_r", "share")
CONSTANTS = [
    {"H": 10, **dict.fromkeys(NAMES, ONE), "radius_p": 100 * ONE},
    {"H": 1, **dict.fromkeys(NAMES, ONE), "alpha_r": 16 * ONE, "beta_r": 16 * ONE, "share": ONE / 4},
    {"H": 1, **dict.fromkeys(NAMES, ONE), "alpha_r": ONE / 16, "beta_r": ONE / 16},
]


def _draw_constants(rng):
    """Constants over many decades; beta(k) is the share of beta(K), for both radii."""
    values = dict(zip(NAMES, 10.0 ** rng.uniform(-3, 3, 7), strict=True))
    return {"H": int(rng.integers(1, 100)), **values, "share": rng.uniform(0.01, 1)}


def _forms(case):
    """x_k of the theorem, the lemma and the sketch."""
    P, R, share = case["radius_p"], case["radius_r"], case["share"]
    now, before = (noise_scales(case, case["H"], s * P, s * R, root) for s in (1, share))
    return now | {"lemma": before["lemma"], "lemma squared": before["theorem"]}


def growth_of_x(rng, trials, **reading):
    """C53: X_k grows as d H^2."""
    return search(rng, trials, _draw_growth, functools.partial(_growth, **reading), edges=GROWTHS, climb=False)


def _growth(case, within=1.0, bounds=False, monotone=False, log=1, power=1.0, steps=2):
    """The violation of C53 at two pairs (d, H)."""
    d, H = case["d"], case["H"]
    x = _x_of(case, d, H)
    if monotone:
        return x / min(_x_of(case, 2 * d, H), _x_of(case, d, 2 * H)) - 1
    if bounds:
        low, high = _bounds_of_x(case, log, power, steps)
        return max(low / x, x / high) - 1
    ratio = x / (d * H**2) / _x_of(case, case["d2"], case["H2"]) * case["d2"] * case["H2"] ** 2
    return max(ratio, 1 / ratio) / within - 1


ORDINARY = dict.fromkeys(("alpha_p", "beta_p", "alpha_r", "beta_r", "B_A", "B_phi_A", "eta"), 1.0) | {"K": 100.0}
GROWTHS = [
    ORDINARY | {"delta": 0.05, "d": d, "H": H, "d2": 1.0, "H2": 1.0, "B_A": B_A}
    for d, H, B_A in ((1.0, 1e6, 1.0), (1e6, 1.0, 100.0), (1.0, 1e60, 0.01), (1e6, 1e6, 1.0))
]


def _draw_growth(rng):
    """Constants over many decades and two pairs (d, H)."""
    values = {key: 10.0 ** rng.uniform(-2, 2) for key in ORDINARY} | {"K": 10.0 ** rng.uniform(1, 6)}
    sizes = {key: float(np.floor(10.0 ** rng.uniform(0, 6))) for key in ("d", "H", "d2", "H2")}
    values |= {beta: values[alpha] * 10.0 ** rng.uniform(0, 2) for alpha, beta in ALPHAS}
    return values | sizes | {"delta": 10.0 ** rng.uniform(-4, -0.1)}


ALPHAS = (("alpha_p", "beta_p"), ("alpha_r", "beta_r"))


def _x_of(case, d, H):
    """x of Theorem 1."""
    return float(theorem_x(case, d, H, case["K"], case["eta"], case["delta"], known_reward=False))


def _bounds_of_x(case, log, power, steps):
    """The two bounds of the repair of C53."""
    d, H, eta = case["d"], case["H"], case["eta"]
    logs = [math.log1p(case[beta] / eta * case["B_phi_A"] * H * case["K"]) for _, beta in ALPHAS]
    c = case["beta_p"] / (case["alpha_p"] * case["alpha_r"])
    C = (2 * c + case["beta_r"] / (2 * case["alpha_r"] ** 2)) * (
        eta / 2 * case["B_A"] ** 2 - math.log(case["delta"]) + 1
    )
    return c * d * H**2 * logs[0], C * d**power * H**steps * (1 + log * max(logs))


def from_optimism_to_learning(rng, trials, **reading):
    """C54: From stochastic optimism to the learning error, step by step."""
    return search(rng, trials, _draw_bandit, functools.partial(_shortfall, **reading), edges=BANDITS, move=_moved)


def _shortfall(case, right="printed", c=1.0, chance=PHI, step="", weighted=False):
    """The violation of C54 at one bandit."""
    e, delta, d = _episode(case, c), case["delta"], case["a"].shape[1]
    length = math.sqrt(d) + c * math.sqrt(d * math.log(d / delta))
    joint = (e.distance * e.norm).mean()
    steps = {
        "upper": e.best - e.V[e.optimistic].mean(),
        "lower": (e.V < e.lowest - 1e-9).mean() - delta,
        "product": joint / (e.distance.mean() * e.norm.mean()) - 1,
        "length": e.distance.mean() - length,
    }
    if step == "other":
        low = ~e.optimistic
        part = e.distance[low].sum() / (len(low) if weighted else max(1, low.sum()))
        return float(part - e.distance.mean())
    if step:
        return float(steps[step])
    limit = (joint if right == "joint" else length * e.norm) / chance
    return float((e.best - e.V > limit + 1e-9).mean() - delta)


BANDITS = [
    {"a": np.array([[0.001, 0.0], [0.0, 1.0]]), "hat": np.zeros(2), "delta": 0.05, "optimism": PHI},
    *({"a": np.ones((1, 1)), "hat": np.zeros(1), "delta": delta, "optimism": PHI} for delta in (0.05, 0.01)),
    {"a": np.ones((1, 1)), "hat": np.zeros(1), "delta": 0.5, "optimism": 0.99},
]


def _draw_bandit(rng):
    """Arms a (n, d) of many lengths, the estimate, delta, and the chance of optimism."""
    n, d = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    a = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 0.5, (n, 1))
    delta, chance = 10.0 ** rng.uniform(-2.3, -0.3), PHI + (1 - PHI) * rng.integers(2) * rng.random()
    return {"a": a, "hat": rng.standard_normal(d), "delta": delta, "optimism": chance}


def _moved(rng, case, step):
    """The case with other arms and another estimate."""
    return case | {key: case[key] * np.exp(step * rng.standard_normal(case[key].shape)) for key in ("a", "hat")}


@functools.cache
def _noises(d):
    """A grid of standard normal noises (N, d) of equal weights, and directions."""
    if d == 1:
        return ndtri((np.arange(2000) + 0.5) / 2000)[:, None], np.array([[-1.0], [1.0]])
    radius, angle = np.sqrt(-2 * np.log((np.arange(48) + 0.5) / 48)), 2 * np.pi * (np.arange(48) + 0.5) / 48
    circle = np.stack([np.cos(angle), np.sin(angle)], -1)
    return (radius[:, None, None] * circle).reshape(-1, 2), circle


def _episode(case, c):
    """Values, norms of the greedy arm, optimism and the distance to the worst noise of the ball, for all noises."""
    a, (z, directions) = case["a"], _noises(case["a"].shape[1])
    d, share = z.shape[1], min(max(case["optimism"], PHI), 0.999)
    reach = c * math.sqrt(d * math.log(d / case["delta"]))
    ball = np.concatenate([z[(z**2).sum(1) <= reach**2], reach * directions])
    values, of_ball = (z + case["hat"]) @ a.T, ((ball + case["hat"]) @ a.T).max(1)
    V, worst = values.max(1), ball[of_ball.argmin()]
    best = np.sort(V)[math.floor((1 - share) * len(V))]
    norm, distance = np.linalg.norm(a, axis=1)[values.argmax(1)], np.linalg.norm(z - worst, axis=1)
    return SimpleNamespace(V=V, norm=norm, distance=distance, best=best, optimistic=V >= best, lowest=of_ball.min())
