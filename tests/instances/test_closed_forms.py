"""Families with closed forms beside the truncated normal: each against its formula and against the quadrature."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erfc, expit, i0, i0e, i1e, iv

from befrl import instances
from befrl.instances.factored import REBOOTED, STAYS_ON
from befrl.model.families.base import Family
from befrl.model.families.gaussian import GaussianStates
from befrl.model.families.softmax import Softmax
from befrl.model.families.truncated_exponential import TruncatedExponentialStates
from befrl.model.families.von_mises import FAR, NEAR, VonMises
from befrl.model.spaces import BinnedInterval, FiniteSpace, SmoothBox
from befrl.numerics import bellman


def states(c, bins=5):
    return TruncatedExponentialStates(BinnedInterval(bins, nodes_per_cell=40)), np.full((1, 1, 1, 1), c)


def test_truncated_exponential_states_by_quadrature_integration_and_symmetry():
    for c in (-800.0, -30.0, -2.0, -1e-3, 0.0, 1e-12, 0.05, 0.5, 1.0, 12.0, 400.0):
        family, natural = states(c)
        mass = family.kernel(natural)
        assert mass.min() >= 0 and mass.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.allclose(mass, family.kernel(-natural)[..., ::-1], rtol=0, atol=1e-12)
        if abs(c) < 50:
            for exact, summed in zip(family.moments(natural), Family.moments(family, natural), strict=True):
                assert np.allclose(exact, summed, rtol=1e-10, atol=1e-13)
            assert np.allclose(mass, Family.kernel(family, natural), rtol=1e-10, atol=1e-14)
        if 0.1 < abs(c) < 50:
            Z, edges = np.log(np.expm1(c) / c), family.space.edges
            pieces = [quad(lambda x: np.exp(c * x - Z), *ends, epsabs=1e-14)[0] for ends in pairwise(edges)]  # noqa: B023
            assert mass.ravel() == pytest.approx(pieces, rel=1e-9, abs=1e-14)


def test_truncated_exponential_sampler_inverts_the_cdf():
    u, zero = np.linspace(0.001, 0.999, 101), np.zeros(101, dtype=int)
    for c in (-30.0, -1e-3, 1e-12, 3.0, 200.0):
        family, natural = states(c)
        s = family.sampler(natural[0])(zero, zero, u)
        cdf = np.expm1(c * s) / np.expm1(c) if c < 0 else np.exp(c * (s - 1)) * np.expm1(-c * s) / np.expm1(-c)
        assert np.all(np.diff(s) > 0)
        assert np.allclose(cdf, u, rtol=1e-9, atol=1e-11)


def test_literal_next_states_have_the_stated_means():
    instance = instances.rebuild("literal", {"bins": 4, "left": 0.2, "right": 0.1, "margin": 0.1}, {})
    natural = instance.model.features.natural(instance.theta_p[None])
    centre = (np.arange(4) + 0.5) / 4
    wanted = np.clip(np.stack([centre - 0.2, centre + 0.1], axis=1), 0.1, 0.9)
    assert np.allclose(instance.model.family.moments(natural)[1][0, ..., 0], wanted, rtol=0, atol=1e-9)


def test_factored_log_partition_and_covariance():
    instance = instances.rebuild("factored", {"machines": 4}, {})
    theta = np.random.default_rng(0).normal(size=(1, instance.model.d)) * 2
    natural = instance.model.features.natural(theta)
    Z, mean, cov = instance.model.family.moments(natural)
    assert np.allclose(Z, np.logaddexp(0.0, natural).sum(-1), rtol=1e-12)
    assert np.allclose(mean, expit(natural), rtol=0, atol=1e-12)
    assert np.allclose(cov, (expit(natural) * expit(-natural))[..., None] * np.eye(4), rtol=0, atol=1e-12)


def test_factored_transitions_by_hand():
    n = 3
    instance = instances.rebuild("factored", {"machines": n, "cost": 0.25}, {})
    for state in range(2**n):
        bits = [(state >> j) & 1 for j in range(n)]
        for action in range(n + 1):
            on = [REBOOTED if action == j + 1 else STAYS_ON[bits[j], bits[j - 1]] for j in range(n)]
            for after in range(2**n):
                factors = [on[j] if (after >> j) & 1 else 1 - on[j] for j in range(n)]
                assert instance.P[state, action, after] == pytest.approx(np.prod(factors), rel=1e-10)
            running = sum(1 if action == j + 1 else bits[j] for j in range(n))
            assert instance.R[state, action] == pytest.approx(running / n - 0.25 * (action > 0), abs=1e-12)


def circle(cells=64, order=10):
    return VonMises(SmoothBox([np.linspace(-np.pi, np.pi, cells + 1)], order, periodic=True))


def polar(kappa, angle=2.2):
    """The natural parameter of this concentration, (1, 1, 1, 2), its direction and the orthogonal one."""
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    return kappa * along[None, None, None], along, across


@pytest.mark.parametrize("kappa", [0.0, 1e-8, 1e-3, 0.019, 0.021, 0.3, 1.0, 7.0, 40.0, 100.0, 299.0, 301.0, 1e4])
def test_von_mises_moments_are_ratios_of_bessel_functions(kappa):
    """Z = log 2 pi I_0, mean A = I_1/I_0 along v, covariance A' along it and A/kappa across; and by quadrature."""
    natural, along, across = polar(kappa)
    if kappa <= 100:
        family = circle()
        for exact, summed in zip(family.moments(natural), Family.moments(family, natural), strict=True):
            assert np.allclose(exact, summed, rtol=1e-10, atol=1e-12)
        assert np.allclose(family.log_partition(natural), Family.log_partition(family, natural), rtol=1e-12)
    Z, mean, cov = (part[0, 0, 0] for part in circle().moments(natural))
    assert Z == pytest.approx(np.log(2 * np.pi * i0e(kappa)) + kappa, abs=1e-12 * max(1.0, kappa))
    A = i1e(kappa) / i0e(kappa)
    assert np.allclose(mean, A * along, rtol=0, atol=1e-12)
    ratio = A / kappa if kappa > 0 else 0.5
    if kappa > 100:  # 1 - A/kappa - A^2 cancels; the asymptotic series of A' to four terms, rest below 4/kappa^6
        slope = 1 / (2 * kappa**2) + 1 / (4 * kappa**3) + 3 / (8 * kappa**4) + 25 / (32 * kappa**5)
    else:  # A' = (1 + I_2/I_0)/2 - A^2, where little cancels
        slope = 0.5 + iv(2, kappa) / (2 * i0(kappa)) - A**2
    expected = slope * np.outer(along, along) + ratio * np.outer(across, across)
    assert np.abs(cov - expected).max() < 1e-10 * ratio
    assert along @ cov @ along == pytest.approx(slope, rel=1e-10)
    assert across @ cov @ across == pytest.approx(ratio, rel=1e-12)


@pytest.mark.parametrize("join", [NEAR, FAR])
def test_von_mises_covariance_is_continuous_where_the_series_take_over(join):
    before, after = (circle().moments(polar(join * (1 + t))[0])[2] for t in (-1e-12, 1e-12))
    assert np.abs(before - after).max() < 1e-10 * np.abs(after).max()


def gaussian(dim, sigma=0.4):
    return GaussianStates(SmoothBox([np.linspace(-4, 4, 21)] * dim, 6, unbounded=True), sigma)


@pytest.mark.parametrize("dim", [1, 2])
def test_linear_gaussian_closed_forms_and_quadrature(dim, rng):
    """Z = |v|^2/2, E psi = v, Cov psi = I, KL = |v - v'|^2/2, exactly and by sums over the nodes."""
    family = gaussian(dim)
    natural, other = rng.uniform(-2, 2, (2, 3, 1, 2, dim))
    Z, mean, cov = family.moments(natural)
    assert np.allclose(Z, np.square(natural).sum(-1) / 2, rtol=1e-14)
    assert np.array_equal(mean, natural) and np.array_equal(cov, np.broadcast_to(np.eye(dim), cov.shape))
    assert np.allclose(family.kl(natural, other), np.square(natural - other).sum(-1) / 2, rtol=1e-12, atol=1e-13)
    for exact, summed in zip((Z, mean, cov), Family.moments(family, natural), strict=True):
        assert np.allclose(exact, summed, rtol=0, atol=1e-8)
    assert np.allclose(family.kernel(natural), Family.kernel(family, natural), rtol=0, atol=1e-8)


@pytest.mark.parametrize("dim", [1, 2])
def test_linear_gaussian_cells_have_exact_masses_wherever_the_law_is(dim):
    """By the normal CDF, and with the tails in the outermost cells: a law far outside the box is in the nearest one."""
    family = gaussian(dim, sigma=0.7)
    edges = np.concatenate([[-np.inf], np.linspace(-4, 4, 21)[1:-1], [np.inf]])
    for mean in (0.0, 1.3, -6.0, 60.0):
        along = np.diff([0.5 * erfc((mean - e) / 0.7 / np.sqrt(2)) for e in edges])
        P = family.kernel(np.full((1, 1, 1, dim), mean / 0.7))[0, 0, 0]
        expected = along if dim == 1 else np.multiply.outer(along, along).ravel()
        assert np.allclose(P.reshape(family.space.n_cells, -1).sum(-1), expected, rtol=0, atol=1e-14)
        assert P.min() >= 0 and P.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("dim", [1, 2])
def test_lds_transitions_and_rewards_are_those_stated(dim):
    instance = instances.rebuild("lds", {"dimension": dim, "pull": 0.7, "force": 0.2, "sigma": 0.3, "bound": 0.5}, {})
    states = np.array([[0.1, -0.3], [2.0, 0.4], [-0.5, -9.0]])[:, :dim]
    given, clipped = states if dim > 1 else states[:, 0], np.clip(states, -0.5, 0.5)
    natural, rewards = instance.natural_at(instance.theta_p, given), instance.first_step(given)[0]
    pushes = np.array([[-0.2], [0.0], [0.2]]) if dim == 1 else np.array([[0.0, 0.0], [0.2, 0.0], [0.0, 0.2]])
    assert np.allclose(0.3 * natural, 0.7 * clipped[:, None] + pushes, rtol=0, atol=1e-12)
    away = np.square(clipped - 0.5).sum(-1)
    assert np.allclose(rewards, 1 - away[:, None] - 0.05 * pushes.any(1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("action", [0, 1, 2])
def test_value_of_a_fixed_push_by_the_lyapunov_recursion(action):
    """V_h(s) = P_h s^2 + 2 q_h s + c_h, Riccati's recursion without a choice; no state reaches the bound."""
    H, values = 6, {"horizon": 6, "bound": 3.0, "sigma": 0.1, "force": 0.1, "pull": 0.7, "cost": 0.05}
    problem = instances.rebuild("lds", values, {})
    f, a, sigma, goal = 0.1 * (action - 1), 0.7, 0.1, 3.0
    P = q = c = 0.0
    for _ in range(H):
        # r(s) = 1 - (s - goal)^2 - cost, and then s' = a s + f + sigma z.
        c = 1 - goal**2 - 0.05 * (action != 1) + P * (f**2 + sigma**2) + 2 * q * f + c
        P, q = -1 + P * a**2, goal + P * a * f + q * a
    policy = np.full((1, 1, H, problem.model.n_cells), action)
    V, s = bellman.evaluate(policy, problem.R, problem.P)[0, 0], problem.model.space.nodes
    inside = np.abs(s) < 1.4  # ten standard deviations and six pushes away from the bound
    assert inside.sum() > 50
    assert np.allclose(V[inside], (P * s**2 + 2 * q * s + c)[inside], rtol=0, atol=1e-8)


def test_custom_sin_is_the_published_one():
    """p(s'|s,a) ~ exp(-|s'|^1.7/1.7 + sin(4 s')(s + a)) and r(s), on another grid of states."""
    instance = instances.rebuild("custom-sin", {}, {})
    s, after = np.array([-2.0, -0.3, 0.0, 0.9]), np.linspace(-4, 4, 41)
    R, P = instance.first_step(s)
    bumps = np.exp(-10 * (s - np.pi / 8) ** 2) + np.exp(-10 * (s + 3 * np.pi / 8) ** 2)
    assert np.allclose(R, bumps[:, None], rtol=0, atol=1e-12)
    family, natural = instance.model.family, instance.natural_at(instance.theta_p, s)
    for a, sign in enumerate((-1.0, 1.0)):
        exponent = np.sin(4 * after) * (s + sign)[:, None] - np.abs(after) ** 1.7 / 1.7
        found = natural[:, a] @ family.statistic(after).T + family.log_base_at(after)
        assert np.allclose(found, exponent, rtol=0, atol=1e-12)
        for i in range(len(s)):
            density = lambda x, tilt=s[i] + sign: np.exp(np.sin(4 * x) * tilt - np.abs(x) ** 1.7 / 1.7)  # noqa: E731
            total = quad(density, -9, 9, points=[-2, -1, 0, 1, 2], limit=400, epsabs=1e-13)[0]
            positive = quad(density, 0, 9, points=[0.5, 1, 2], limit=400, epsabs=1e-13)[0] / total
            assert P[i, a, instance.model.space.nodes > 0].sum() == pytest.approx(positive, abs=1e-7)
    assert (instance.horizon, instance.start(np.array([0.0, 0.75])).tolist()) == (10, [-1.0, 0.5])


def test_circle_aims_along_chords_between_its_knots():
    instance = instances.rebuild("circle", {"knots": 8, "kappa": 9.0, "back": 0.5, "ahead": 0.3}, {})
    knots = -np.pi + 2 * np.pi * np.arange(8) / 8
    natural = instance.natural_at(instance.theta_p, knots)
    away, side = np.abs(knots), np.where(knots < 0, -1.0, 1.0)
    aims = [side * np.maximum(away - 0.5, 0.0), side * np.minimum(away + 0.3, np.pi)]
    for a in range(2):
        assert np.allclose(natural[:, a], 9 * np.stack([np.cos(aims[a]), np.sin(aims[a])], -1), rtol=0, atol=1e-12)
    middle = instance.natural_at(instance.theta_p, knots[:-1] + np.pi / 8)
    assert np.allclose(middle, (natural[:-1] + natural[1:]) / 2, rtol=0, atol=1e-12)
    last = instance.natural_at(instance.theta_p, np.array([np.pi - np.pi / 8, np.pi]))
    assert np.allclose(last, [(natural[-1] + natural[0]) / 2, natural[0]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [1.0, 30.0])
def test_softmax_moments_are_those_of_a_general_family(size, rng):
    base = np.log(rng.dirichlet(np.ones(5), (2, 3)))
    base[0, 0, 2:4] = -np.inf
    family, natural = Softmax(FiniteSpace(5), base), size * rng.standard_normal((2, 2, 3, 4))
    for fast, slow in zip(family.moments(natural), Family.moments(family, natural), strict=True):
        assert np.allclose(fast, slow, rtol=1e-10, atol=1e-15)
