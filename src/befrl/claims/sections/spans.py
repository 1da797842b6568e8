"""Sections 4 and 5.1: how large the perturbed values are, and what clipping would change."""

import itertools
from dataclasses import replace

import numpy as np
from scipy.special import expit, gammaincinv

from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.chances import LEVEL, lower_limit, upper_limit
from befrl.claims.toolbox.search import Worst
from befrl.model.rewards import bernoulli, gaussian, truncated_exponential
from befrl.model.theorem import theorem_x

LAWS = {"gaussian": gaussian.Law(), "bernoulli": bernoulli.Law(), "truncated exponential": truncated_exponential.Law()}


def free_of_clipping(rng, trials, laws=tuple(LAWS), good=True, scale=1.0, clip=False):
    """C60: Free of clipping: what is gained, for bounded and for Gaussian rewards."""
    worst = Worst()
    if clip:
        cost, runs = _cost_of_clipping(rng, trials, LAWS[laws[0]])
        worst.see(0.01 - cost, {"rewards": laws[0], "cost": cost})
        return replace(evidence_of(worst), grade="test", number=runs)
    for case in _perturbed_values(rng, trials, laws, largest=0.99 if good else 10.0):
        see_largest(worst, np.log(np.maximum(case["V"], 1e-9) / (scale * case["H"])), case)
    return evidence_of(worst)


def _cost_of_clipping(rng, trials, law):
    """By how much clipping lowers the chance of optimism for H states in a row, at least; and the number of runs."""
    runs, costs = 1000 + 10 * trials, []
    for H, m in itertools.product((1, 2, 16), (0.5, 1 - 1e-6)):
        r = law.mean(law.natural(m) + 10.0 ** rng.uniform(-2, -1) * rng.standard_normal((H, runs)))
        free, cut = np.zeros((2, runs))
        for h in reversed(range(H)):
            free, cut = r[h] + free, np.clip(r[h] + cut, 0.0, H - h)
        hits = [int((V >= H * m).sum()) for V in (free, cut)]
        costs.append(lower_limit(hits[0], runs, LEVEL / 12) - upper_limit(hits[1], runs, LEVEL / 12))
    return max(costs), runs * len(costs)


def _perturbed_values(rng, trials, laws, largest):
    """Value V of state 1 and span S in the example of C61, at their (1 - delta)-quantiles, and E of its repair."""
    edges = [(d, H, 1e4, 0.1, 0.99) for d, H in ((1, 1), (2, 100), (3, 10**4), (1000, 10))]
    draws = 10 ** rng.uniform((0, 0, 0.5, -3, -2), (3, 4, 6, -0.5, 1), (trials, 5))
    d, H, K, delta, g = np.concatenate([edges, draws]).T
    d, g = np.floor(d), np.minimum(g, largest)
    H, B = np.where(d > 1, np.floor(H), 1.0), g**2 / 0.1  # eta = 1
    kept, chi = _kept((K - 1) * H, H), np.sqrt(2 * gammaincinv(np.maximum(d - 1, 1) / 2, 1 - delta))
    for kind in laws:
        law = LAWS[kind]
        alpha_r, beta_r = (float(end) for end in law.variance_range(abs(law.natural(0.75))))
        constants = {"alpha_p": 0.1, "beta_p": 0.25, "alpha_r": alpha_r, "beta_r": beta_r, "B_A": 1.0, "B_phi_A": B}
        x = theorem_x(constants, d, H, K, 1.0, delta, known_reward=False)
        top, radius = law.mean(g * np.sqrt(x) * chi), 0.5 + d * np.log1p(beta_r * B * H * K) - np.log(delta)
        error = beta_r * (np.sqrt(2 * radius * B) + g * np.sqrt(2 * x * d * np.log(d / delta)))
        sizes = {"rewards": kind, "d": d, "H": H, "K": K, "delta": delta, "norm": g, "x": x}
        yield sizes | {"V": H / 4 + (top - 0.25) * (H + kept) / 2, "S": kept * np.abs(top - 0.25), "E": error}


def _kept(n, H):
    """sum_{j<H} (2q - 1)^j, where q = 1/(1 + e^-theta), n (1 - q) = 2 theta, is the estimated chance after n stays."""
    low, high = np.zeros_like(n), np.full_like(n, 50.0)
    for _ in range(60):
        theta = (low + high) / 2
        low, high = np.where(n * expit(-theta) > 2 * theta, (theta, high), (low, theta))
    return -np.expm1(H * np.log1p(-2 * expit(-theta))) / (2 * expit(-theta))


def span_of_values(rng, trials, bound="printed", laws=tuple(LAWS), largest=10.0):
    """C61: Span of the perturbed values <= d H^{3/2}."""
    worst = Worst()
    for case in _perturbed_values(rng, trials, laws, largest):
        H, d, E = case["H"], case["d"], case["E"]
        limits = {"printed": d * H**1.5, "range": H, "half": H / 2, "noise": H * (1 + 2 * E)}
        limits |= {"shorter": H * (1 + 2 * E / H**0.5), "one direction": H * (1 + 2 * E / d**0.5)}
        see_largest(worst, np.log(np.maximum(case["S"], 1e-9) / limits[bound]), case)
    return evidence_of(worst)
