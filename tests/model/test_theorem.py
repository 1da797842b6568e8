"""Theorem 1's printed formulas: against a transcription in plain arithmetic, their growth, and the first useful K."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from befrl.model.theorem import TERMS, first_below, noise_scales, terms, theorem_x

CONSTANTS = {"alpha_p": 0.2, "beta_p": 1.7, "alpha_r": 0.05, "beta_r": 0.25, "B_A": 6.0, "B_phi_A": 1.3, "A": 1.1}
Z = CONSTANTS | {"eta": 0.7, "delta": 0.05, "c": 1.4, "d": 16, "H": 40}


def transcription(a_p, b_p, a_r, b_r, B_A, B, A, eta, delta, c, d, H, K):
    """The bound in the order of the print."""
    log, sqrt, tail = math.log, math.sqrt, NormalDist().cdf(-1)
    gamma_p, gamma_r = (d * log(1 + beta / eta * B * H * K) for beta in (b_p, b_r))
    radius_p, radius_r = (eta / 2 * B_A**2 + gamma + log(1 / delta) for gamma in (gamma_p, gamma_r))
    x = (H * sqrt(b_p * radius_p / (a_p * a_r)) + sqrt(b_r * radius_r * min(1, a_p / a_r)) / (2 * a_r)) ** 2
    C_d = 3 * d / log(2) * log(1 + a_r * A**2 * B**2 / (eta * log(2)))
    grows, stays = sqrt(K * H), sqrt(H * gamma_r)
    optimism, noise = (1 + sqrt(log(d / delta))) / tail, c * sqrt(x * d * log(d * K / delta))
    return {
        "transition": grows * 2 * H * sqrt(2 * b_p / a_p * radius_p * gamma_p),
        "deviation": grows * 2 * H * (1 + sqrt(gamma_r)) * sqrt(log(1 / delta**2)),
        "reward": grows * b_r * sqrt(radius_r * gamma_r / (2 * a_r)),
        "noise": grows * b_r * sqrt(gamma_r) * noise,
        "learning": grows * b_r * sqrt(x * d * gamma_r * log(math.e / delta**2)) * optimism,
        "bad rounds, estimation": stays * b_r * C_d * (sqrt(radius_r / (2 * a_r)) + noise),
        "bad rounds, learning": stays * b_r * d * sqrt(x) * optimism * sqrt(C_d * (1 + a_r * B * H / eta)),
    }


def test_the_terms_are_the_printed_ones():
    for alpha_p in (0.2, 0.01):
        z = Z | {"K": 1000, "alpha_p": alpha_p}
        printed, found = transcription(*z.values()), terms(z)["theorem"]
        assert tuple(found) == tuple(printed) == TERMS
        assert all(found[name] == pytest.approx(printed[name], rel=1e-12) for name in TERMS)


def test_terms_grow_with_K_and_shrink_relative_to_K():
    K = 10.0 ** np.arange(0, 20, 0.5)
    for value in terms(Z | {"K": K})["theorem"].values():
        assert np.all(np.diff(value) > 0) and np.all(np.diff(value / K) < 0)


def test_a_given_x_replaces_the_least_one():
    x = theorem_x(CONSTANTS, 16, 40, 100, 0.7, 0.05, known_reward=False)
    least, twice = (terms(Z | {"K": 100} | given)["theorem"] for given in ({}, {"x": 4 * x}))
    assert [twice[key] / least[key] for key in ("learning", "noise")] == pytest.approx([2, 2], rel=1e-12)
    assert twice["transition"] == least["transition"]


def test_the_forms_of_x():
    """alpha_p = 4, alpha_r = 1/4 and all else 1: X = H sqrt(100/(4/4)) + 2 sqrt(9), the sketch H (5 + sqrt(18))."""
    found = noise_scales({"alpha_p": 4.0, "beta_p": 1.0, "alpha_r": 0.25, "beta_r": 1.0}, 3, 100.0, 9.0)
    assert found["lemma"] == 36.0 and found["theorem"] == 36.0**2
    assert found["sketch"] == pytest.approx(9 * (5 + math.sqrt(18)) ** 2, rel=1e-12)


def test_the_first_K_is_that_of_brute_force():
    def bound(K):
        return sum(terms(Z | {"K": K})["theorem"].values())

    K = np.arange(1.0, 50_000)
    for slope in (1e9, 1e7, 3e6, 1e6):
        assert first_below(lambda k: float(bound(k)), slope) == int(K[bound(K) < slope * K][0])
