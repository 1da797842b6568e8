"""Families with closed forms beside the truncated normal: each against its formula and against the quadrature."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from befrl import instances
from befrl.family import Family
from befrl.instances.factored import REBOOTED, STAYS_ON
from befrl.spaces import BinnedInterval
from befrl.truncated_exponential import TruncatedExponentialStates

NATURAL = [-800.0, -30.0, -2.0, -1e-3, 0.0, 1e-12, 0.05, 1.0, 12.0, 400.0]


def states(c, bins=5):
    family = TruncatedExponentialStates(BinnedInterval(bins, nodes_per_cell=40))
    return family, np.full((1, 1, 1, 1), c)


@pytest.mark.parametrize("c", [c for c in NATURAL if abs(c) < 50])
def test_truncated_exponential_states_agree_with_the_quadrature(c):
    family, eta = states(c)
    for exact, summed in zip(family.moments(eta), Family.moments(family, eta), strict=True):
        assert np.allclose(exact, summed, rtol=1e-10, atol=1e-13)
    assert np.allclose(family.kernel(eta), Family.kernel(family, eta), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("c", [-30.0, -2.0, 0.5, 12.0])
def test_truncated_exponential_kernel_by_integration(c):
    family, eta = states(c)
    Z = np.log(np.expm1(c) / c)
    edges = family.space.edges
    for j, mass in enumerate(family.kernel(eta)[0, 0, 0]):
        integral = quad(lambda x: np.exp(c * x - Z), edges[j], edges[j + 1], epsabs=1e-14)[0]
        assert mass == pytest.approx(integral, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("c", NATURAL)
def test_truncated_exponential_kernel_is_a_law_and_a_mirror_image(c):
    family, eta = states(c)
    mass = family.kernel(eta)
    assert mass.min() >= 0 and mass.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.allclose(mass, family.kernel(-eta)[..., ::-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("c", [-30.0, -1e-3, 0.0, 3.0, 200.0])
def test_truncated_exponential_sampler_inverts_the_cdf(c):
    family, eta = states(c)
    u = np.linspace(0.001, 0.999, 101)
    zero = np.zeros(101, dtype=int)
    s = family.sampler(eta[0])(zero, zero, u)
    cdf = (
        s
        if c == 0
        else np.expm1(c * s) / np.expm1(c)
        if c < 0
        else np.exp(c * (s - 1)) * np.expm1(-c * s) / np.expm1(-c)
    )
    assert np.all(np.diff(s) > 0)
    assert np.allclose(cdf, u, rtol=1e-9, atol=1e-11)


def test_literal_aims_where_it_says():
    instance = instances.build("literal", {"bins": 4, "left": 0.2, "right": 0.1, "margin": 0.1})
    eta = instance.model.features.natural(instance.theta_p[None])
    centre = (np.arange(4) + 0.5) / 4
    wanted = np.clip(np.stack([centre - 0.2, centre + 0.1], axis=1), 0.1, 0.9)
    assert np.allclose(instance.model.family.moments(eta)[1][0, ..., 0], wanted, rtol=0, atol=1e-9)


def test_jao_arms():
    instance = instances.build("jao", {"arms": 3, "rate": 0.2, "eps": 0.1, "horizon": 1})
    assert np.allclose(instance.P[0, :, 1], [0.2, 0.2, 0.3])
    assert np.allclose(instance.P[1, :, 1], 0.8)
    assert instance.optimal_value == pytest.approx(0.1)
    longer = instances.build("jao", {"arms": 3, "rate": 0.2, "eps": 0.1, "horizon": 2})
    # One step in the bad state, then the good one with probability rate + eps.
    assert longer.optimal_value == pytest.approx(0.1 + 0.3 * 0.9 + 0.7 * 0.1)
    assert longer.gap == pytest.approx(0.1 * 0.8)


def test_factored_log_partition_and_covariance():
    instance = instances.build("factored", {"machines": 4})
    theta = np.random.default_rng(0).normal(size=(1, instance.model.d)) * 2
    eta = instance.model.features.natural(theta)
    Z, mean, cov = instance.model.family.moments(eta)
    assert np.allclose(Z, np.logaddexp(0.0, eta).sum(-1), rtol=1e-12)
    assert np.allclose(mean, expit(eta), rtol=0, atol=1e-12)
    diagonal = (expit(eta) * expit(-eta))[..., None] * np.eye(4)
    assert np.allclose(cov, diagonal, rtol=0, atol=1e-12)


def test_factored_transitions_by_hand():
    n = 3
    instance = instances.build("factored", {"machines": n, "cost": 0.25})
    for state in range(2**n):
        bits = [(state >> j) & 1 for j in range(n)]
        for action in range(n + 1):
            on = [REBOOTED if action == j + 1 else STAYS_ON[bits[j], bits[j - 1]] for j in range(n)]
            for after in range(2**n):
                factors = [on[j] if (after >> j) & 1 else 1 - on[j] for j in range(n)]
                assert instance.P[state, action, after] == pytest.approx(np.prod(factors), rel=1e-10)
            running = sum(1 if action == j + 1 else bits[j] for j in range(n))
            assert instance.R[state, action] == pytest.approx(running / n - 0.25 * (action > 0), abs=1e-12)
