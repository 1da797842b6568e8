"""Theorems 1 and 2 of bef-seed: against a transcription in plain arithmetic, and their growth."""

from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest

from befrl.model.seed_theorem import EPSILONS, Likelihood, theorem_1, theorem_2
from befrl.model.theorem import first_below

CELLS = Likelihood(True, d=30, m=3, pairs=10, sets=10, trace=3.0, B=2.5, eta=0.48, beta=0.5, S=9.0, M=9.0, alpha=9.0)
DENSE = Likelihood(False, d=6, m=4, pairs=50, sets=2, trace=1.7, B=3.0, eta=0.4, beta=0.9, S=1.2, M=0.8, alpha=0.3)
H, DELTA, C = 7, 0.05, 0.25
LATE = log(1 / DELTA)


def radius(z, n, sets):
    """b with det(I + A^-1 G beta/eta) at most (1 + its mean eigenvalue)^m."""
    return z.eta * z.B**2 / 2 + log((1 + z.beta * z.trace * n / z.eta / z.m) ** (z.m / 2)) + log(sets / DELTA)


def information(z, n):
    return log((1 + z.beta * z.trace * n / z.eta / z.d) ** z.d)


def choices(z, b, gamma):
    """The pairs (kappa or q, bad and unsettled visits) of Lemma D, at X_max = 2 S*."""
    if z.M == 0:
        return [(1.0, H * gamma / log(2))]
    rho = 1 + z.M * 2 * z.S / 2
    found = [(z.beta * rho / z.alpha, H * gamma / log(2))]
    for eps in EPSILONS:
        g, g_minus = (exp(eps) - 1 - eps) / eps**2, (exp(-eps) - 1 + eps) / eps**2
        unsettled = (H + 2 * max(1, 2 * rho * b * z.M**2 / (z.alpha * eps**2))) * gamma / log(2)
        found.append((2 * g * exp(2 * eps) / (2 * g_minus), H * gamma / log(2) + unsettled))
    return found


def general(z, weight, n, sets):
    """H gamma/log 2 + N_u + sqrt(max(1, weight kappa b) 2 gamma/log 2 KH), the smallest."""
    b, gamma = radius(z, n, sets), information(z, n)
    return min(N + sqrt(max(1, weight * f * b) * 2 * gamma / log(2) * n) for f, N in choices(z, b, gamma))


def rewards_term(z, n, sets, span=1.0):
    return general(z, 8 * z.beta / span**2, n, sets)


@pytest.mark.parametrize("K", [1.0, 1e3, 1e9])
def test_theorem_1_is_the_proved_one(K):
    known = theorem_1(CELLS, None, H, K, DELTA, C, omega=2)
    b = radius(CELLS, K * H, 10)
    table = H**2 * 10 + 4 * 2 * H * sqrt(b * 10 * K * H)
    assert known == pytest.approx(1.582 * 1.5 * (table + H * (H + 1) / 2 * LATE), rel=1e-12)
    rewards = replace(CELLS, d=10, m=1, trace=1.0, eta=1.3, beta=0.25)
    b, b_r = radius(CELLS, K * H, 20), radius(rewards, K * H, 20)
    table = H**2 * 10 + 4 * H * sqrt(b * 10 * K * H) + 8 * sqrt(0.25 * b_r * 10 * K * H)
    both = theorem_1(CELLS, rewards, H, K, DELTA, C, omega=1)
    assert both == pytest.approx(1.582 * 1.5 * (table + H * (H + 1) / 2 * LATE), rel=1e-12)
    for z in (DENSE, replace(DENSE, M=0.0)):
        rewards = replace(DENSE, B=1.1, M=1.0)
        table = H * general(z, 2, K * H, 4) + rewards_term(rewards, K * H, 4)
        found = theorem_1(z, rewards, H, K, DELTA, C, omega=1)
        assert found == pytest.approx(1.582 * 1.5 * (table + H * (H + 1) / 2 * LATE), rel=1e-12)
        twice = table + rewards_term(rewards, K * H, 4, span=2.0) - rewards_term(rewards, K * H, 4)
        found = theorem_1(z, rewards, H, K, DELTA, C, omega=1, span=2.0)
        assert found == pytest.approx(2 * 1.582 * 1.5 * (twice + H * (H + 1) / 2 * LATE), rel=1e-12)


def solved(Gamma, R, K):
    """(1 + 2c) G for the largest G with G <= 3.147 sqrt(Gamma) (H sqrt(K)/2 + sqrt(2 H G)) + 2.967 H Gamma + R."""
    low, high = 0.0, 1e30
    for _ in range(400):
        G = (low + high) / 2
        fits = G <= 3.147 * sqrt(Gamma) * (H / 2 * sqrt(K) + sqrt(2 * H * G)) + 2.967 * H * Gamma + R
        low, high = (G, high) if fits else (low, G)
    return 1.5 * low


@pytest.mark.parametrize("K", [10.0, 1e9])
def test_theorem_2_is_the_root_of_the_proved_inequality(K):
    b = radius(CELLS, K * H, 10)
    Gamma, R = 2 * b * 10 * log(K * H) + min(H, b * 10) * LATE, H**2 * 10 + H * (H + 1) / 2 * LATE
    found = theorem_2(CELLS, None, H, K, DELTA, C)
    assert found == pytest.approx(solved(1.582 * Gamma, 1.582 * R, K), rel=1e-9)
    b, gamma, bounds = radius(DENSE, K * H, 4), information(DENSE, K * H), []
    for f, lost in choices(DENSE, b, gamma):
        most = max(1, f * b)
        Gamma = most * 2 * gamma / log(2) + min(H, 3 * most) * LATE
        R = H * lost + rewards_term(DENSE, K * H, 4) + H * (H + 1) / 2 * LATE
        bounds.append(solved(1.582 * Gamma, 1.582 * R, K))
    assert theorem_2(DENSE, DENSE, H, K, DELTA, C) == pytest.approx(min(bounds), rel=1e-9)


@pytest.mark.parametrize("z", [CELLS, DENSE])
def test_leading_orders_and_the_first_K(z):
    """Both grow like sqrt(K) log K at most; Theorem 2 is smaller by sqrt(H) and log K in the end, and free of alpha."""
    K = np.array([1e24, 1e26])
    first, second = theorem_1(z, None, 4000, K, DELTA, C, 1), theorem_2(z, None, 4000, K, DELTA, C)
    for bound in (first, second):
        assert 10 < bound[1] / bound[0] < 10 * log(K[1]) / log(K[0])
    assert np.all(second < first / 10)
    blind = replace(z, alpha=z.alpha / 100)
    assert theorem_2(blind, None, H, 1e30, DELTA, C) == pytest.approx(theorem_2(z, None, H, 1e30, DELTA, C), rel=1e-2)
    bound = lambda k: float(theorem_1(z, None, 2, k, DELTA, C, 1))  # noqa: E731
    ks = np.arange(1.0, 30_000)
    assert first_below(bound, 100.0) == int(ks[np.array([bound(k) for k in ks]) < 100.0 * ks][0])
