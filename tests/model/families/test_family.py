"""The family by quadrature and by sums: derivatives of Z, KL, kernels and sampling."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from befrl.common.errors import InputError
from befrl.model.families.base import ContinuousFamily, Family, FiniteFamily
from befrl.model.families.gaussian import GaussianStates
from befrl.model.families.panels import invert_panel
from befrl.model.families.truncated_normal import TruncatedNormal
from befrl.model.families.von_mises import VonMises
from befrl.model.spaces import BinnedInterval, FiniteSpace, SmoothBox
from helpers import derivative

SIGMA = 0.15


def quadratic():
    """p = 2 on [0, 1]: psi = (s, s^2), Lebesgue measure."""
    space = BinnedInterval(4)
    return Family(space, np.stack([space.nodes, space.nodes**2], axis=1), np.zeros(len(space.nodes)))


def masked():
    """p = 3, four states, different supports of two (cell, action)."""
    base = np.array([[[0.1, 0.2, 0.3, 0.4]], [[0.5, 0.5, 0.0, 0.0]]])
    with np.errstate(divide="ignore"):
        return FiniteFamily(FiniteSpace(4), np.eye(4)[:, 1:], np.log(base))


def normal():
    return TruncatedNormal(BinnedInterval(5), SIGMA)


def circle():
    return VonMises(SmoothBox([np.linspace(-np.pi, np.pi, 33)], 12, periodic=True))


def gaussian():
    """psi = s on [-9, 9] with the base measure N(0, 1), so that s ~ N(natural, 1)."""
    space = SmoothBox([np.linspace(-9, 9, 37)], 8, unbounded=True)
    return ContinuousFamily(space, lambda s: np.asarray(s)[..., None], stats.norm.logpdf)


def exponential():
    """psi = s on [0, 2] under Lebesgue measure."""
    return ContinuousFamily(SmoothBox([np.array([0.0, 0.3, 1.0, 2.0])], 14), lambda s: np.asarray(s)[..., None])


def sines():
    """psi = (sin 4s, sin 8s), a base measure with a kink at zero, where cells end."""
    right = np.array([0.02, 0.08, *np.arange(1, 37) / 4])
    space = SmoothBox([np.concatenate([-right[::-1], [0.0], right])], 16, unbounded=True)
    psi = lambda s: np.sin(np.multiply.outer(s, [4.0, 8.0]))  # noqa: E731
    return ContinuousFamily(space, psi, lambda s: -(np.abs(s) ** 1.7) / 1.7)


def line(dim=1):
    return GaussianStates(SmoothBox([np.linspace(-1, 1, 3)] * dim, 3, unbounded=True), 0.5)


def square():
    return line(2)


KINDS = [quadratic, masked, normal]


def parameters(family, rng, n=3, size=3.0):
    """Random natural parameters (n, N, A, p) of the family's own shape."""
    return rng.uniform(-size, size, (n, *family.log_base.shape[:2], family.p))


@pytest.mark.parametrize("kind", [*KINDS, circle, gaussian, exponential, sines, line])
def test_moments_are_derivatives_and_kernels_are_laws(kind, rng):
    """E psi = dZ and Cov psi = dE psi by differences; partial means add up to E psi."""
    family = kind()
    one = family.restricted(0, 0)

    def moments(natural):
        return [part[0, 0, 0] for part in one.moments(natural[None, None, None])]

    for natural in rng.uniform(-3, 3, (4, family.p)):
        Z, mean, cov = moments(natural)
        assert one.log_partition(natural[None, None, None])[0, 0, 0] == pytest.approx(Z, abs=1e-14)
        assert np.allclose(derivative(lambda v: moments(v)[0], natural), mean, rtol=0, atol=1e-9)
        assert np.allclose(derivative(lambda v: moments(v)[1], natural), cov, rtol=0, atol=1e-9)
    natural = parameters(family, rng, size=8.0 if kind in KINDS else 3.0)
    P, partial = family.kernel_and_partial_means(natural)
    assert P.shape[-1] == family.space.n_anchors and np.all(P >= 0)
    assert np.allclose(P.sum(-1), 1.0, rtol=0, atol=1e-13)
    assert np.allclose(family.kernel(natural), P, rtol=0, atol=1e-14)
    if kind is not line:  # whose box of four standard deviations stands for all of R
        assert np.allclose(partial.sum(-2), family.moments(natural)[1], rtol=0, atol=1e-12 if kind in KINDS else 1e-10)


def test_masked_laws_by_hand():
    family = masked()
    P = family.kernel(np.broadcast_to(np.log([2.0, 3.0, 4.0]), (1, 2, 1, 3)))[0, :, 0]
    assert P[0] == pytest.approx(np.array([0.1, 0.4, 0.9, 1.6]) / 3, abs=1e-15)
    assert P[1] == pytest.approx([1 / 3, 2 / 3, 0, 0], abs=1e-15)
    assert np.array_equal(P[1, 2:], [0, 0])
    assert np.array_equal(family.support(1, 0), [[0, 0, 0], [1, 0, 0]])


def test_kl_is_the_sum_over_nodes(rng):
    for family in (kind() for kind in KINDS):
        natural, other = parameters(family, rng), parameters(family, rng)
        log_p, log_q = family.log_masses(natural)[0], family.log_masses(other)[0]
        p = np.exp(log_p)
        direct = (p * np.where(p > 0, log_p - np.where(p > 0, log_q, 0.0), 0.0)).sum(-1)
        kl = family.kl(natural, other)
        assert np.allclose(kl, direct, rtol=1e-8, atol=1e-10) and np.all(kl > 0)
        assert np.allclose(family.kl(natural, natural), 0.0, rtol=0, atol=1e-13)


def test_a_seed_has_the_same_bits_alone(rng):
    for kind in KINDS:
        family = kind()
        natural = parameters(family, rng, n=5)
        for whole, alone in zip(family.moments(natural), family.moments(natural[3:4]), strict=True):
            assert np.array_equal(whole[3], alone[0])
        together, alone = (family.kernel_and_partial_means(part) for part in (natural, natural[3:4]))
        assert all(np.array_equal(whole[3], one[0]) for whole, one in zip(together, alone, strict=True))


def test_finite_sampler_is_the_inverse_cdf(rng):
    """And stays on the support at both ends of the uniform numbers."""
    family = masked()
    natural = parameters(family, rng, n=1)
    P, draw = family.kernel(natural)[0], family.sampler(natural[0])
    u = (np.arange(10_000) + 0.5) / 10_000
    for x in range(2):
        counts = np.bincount(draw(np.full(10_000, x), np.zeros(10_000, dtype=int), u), minlength=4)
        assert np.all(np.abs(counts / 10_000 - P[x, 0]) <= 1.0001e-4)
        assert np.all(counts[P[x, 0] == 0] == 0)
    with np.errstate(divide="ignore"):
        base = np.log([[[0.0, 0.5, 0.5, 0.0]], [[0.7, 0.1, 0.1, 0.1]]])
    draw = FiniteFamily(FiniteSpace(4), np.eye(4)[:, 1:], base).sampler(np.zeros((2, 1, 3)))
    u = np.array([0.0, 1 - 2**-53])
    assert draw(np.zeros(2, dtype=int), np.zeros(2, dtype=int), u).tolist() == [1, 2]
    assert draw(np.ones(2, dtype=int), np.zeros(2, dtype=int), u).tolist() == [0, 3]


def von_mises_cdf(*natural):
    """On [-pi, pi]; scipy's own CDF starts at the mode less pi."""
    law = stats.vonmises(np.hypot(*natural), loc=np.arctan2(natural[1], natural[0])).cdf
    return lambda s: law(s) - law(-np.pi)


QUANTILES = [
    (circle, [0.0, 0.0], stats.uniform(-np.pi, 2 * np.pi).cdf),
    (circle, [0.7, -0.2], von_mises_cdf(0.7, -0.2)),
    (circle, [-14.0, 5.0], von_mises_cdf(-14.0, 5.0)),
    (circle, [0.0, 40.0], von_mises_cdf(0.0, 40.0)),  # beyond 50 scipy approximates
    (gaussian, [0.0], stats.norm().cdf),
    (gaussian, [-2.3], stats.norm(-2.3).cdf),
    (exponential, [1.5], lambda s: np.expm1(1.5 * s) / np.expm1(3.0)),
    (exponential, [-12.0], lambda s: np.expm1(-12 * s) / np.expm1(-24)),
]


def test_quantiles_are_the_inverse_of_the_cdf():
    u = np.concatenate([[0.0], (np.arange(400) + 0.5) / 400, [1 - 2**-53]])
    for kind, natural, cdf in QUANTILES:
        family = kind()
        s = family.quantile(np.tile(natural, (len(u), 1)), u)
        assert np.all((s >= family.space.low[0]) & (s <= family.space.high[0]))
        assert np.all(np.diff(s) > 0)
        assert cdf(s) == pytest.approx(u, abs=1e-8)
        assert s[0] == pytest.approx(family.space.low[0], abs=1e-6) or kind is gaussian


@pytest.mark.parametrize("natural", [[3.0, -1.0], [-9.0, 0.5]])
def test_quantiles_of_a_law_without_closed_form_by_integration(natural):
    family, u = sines(), (np.arange(20) + 0.5) / 20
    s = family.quantile(np.tile(natural, (len(u), 1)), u)
    density = lambda x: np.exp(natural[0] * np.sin(4 * x) + natural[1] * np.sin(8 * x) - np.abs(x) ** 1.7 / 1.7)  # noqa: E731
    cuts = np.unique([*np.linspace(-9, 9, 73), *s])
    pieces = [integrate.quad(density, a, b, epsabs=1e-13, epsrel=1e-12)[0] for a, b in pairwise(cuts)]
    cdf = np.concatenate([[0.0], np.cumsum(pieces)]) / np.sum(pieces)
    assert cdf[np.searchsorted(cuts, s)] == pytest.approx(u, abs=1e-8)


def test_gaussian_quantiles_in_one_dimension_and_two(rng):
    edges, u = np.linspace(-4, 4, 9), rng.random(50)
    line, plane = (GaussianStates(SmoothBox([edges] * dim, 3, unbounded=True), 0.3) for dim in (1, 2))
    assert stats.norm(0.6, 0.3).cdf(line.quantile(np.full((50, 1), 2.0), u)) == pytest.approx(u, abs=1e-12)
    both = plane.quantile(np.tile([2.0, -1.0], (50, 1)), np.stack([u, u[::-1]], axis=1))
    assert stats.norm(0.6, 0.3).cdf(both[:, 0]) == pytest.approx(u, abs=1e-12)
    assert stats.norm(-0.3, 0.3).cdf(both[:, 1]) == pytest.approx(u[::-1], abs=1e-12)
    assert np.all(np.isfinite(line.quantile(np.zeros((2, 1)), np.array([0.0, 1 - 2**-53]))))


def test_a_draw_has_the_same_bits_alone(rng):
    for family in (circle(), gaussian(), exponential(), sines()):
        natural, u = rng.uniform(-5, 5, (20, family.p)), rng.random(20)
        together = family.quantile(natural, u)
        assert all(family.quantile(natural[i : i + 1], u[i : i + 1])[0] == together[i] for i in range(20))


# Densities on [-1, 1] with mean 1, as polynomials in t, and their integrals from -1.
POLYNOMIALS = [
    ([1.0], lambda t: (t + 1) / 2),
    ([1.0, 0.9], lambda t: (t + 1) / 2 + 0.225 * (t**2 - 1)),
    ([0.75, 1.5, 0.75], lambda t: (t + 1) ** 3 / 8),  # zero at the left end, with a zero slope
    ([0.0, 0.0, 3.0], lambda t: (t**3 + 1) / 2),  # zero in the middle, where Newton's method leaves the bracket
    ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0], lambda t: (t**7 + 1) / 2),
]


def test_a_panel_is_inverted_exactly_for_polynomials():
    nodes = np.polynomial.legendre.leggauss(8)[0]
    shares = np.concatenate([[0.0], np.linspace(0.003, 0.997, 151), [1.0]])
    for coefficients, cdf in POLYNOMIALS:
        t = invert_panel(np.tile(np.polynomial.polynomial.polyval(nodes, coefficients), (len(shares), 1)), shares)
        assert np.all((t >= -1) & (t <= 1)) and np.all(np.diff(t) > 0)
        assert cdf(t) == pytest.approx(shares, abs=1e-14)


def on_a_line(first, second, base):
    """Derivatives of two components in one dimension."""
    return np.stack(first, -1)[:, None], np.stack(second, -1)[:, None], base[:, None]


# d psi (n, dim, p), d^2 psi (n, dim, p) and d b (n, dim) at states s.
DERIVATIVES = {
    circle: lambda s: on_a_line([-np.sin(s), np.cos(s)], [-np.cos(s), -np.sin(s)], 0 * s),
    gaussian: lambda s: (np.ones((len(s), 1, 1)), np.zeros((len(s), 1, 1)), -s[:, None]),
    sines: lambda s: on_a_line(
        [4 * np.cos(4 * s), 8 * np.cos(8 * s)],
        [-16 * np.sin(4 * s), -64 * np.sin(8 * s)],
        -np.sign(s) * np.abs(s) ** 0.7,
    ),
    square: lambda s: (np.tile(2 * np.eye(2), (len(s), 1, 1)), np.zeros((len(s), 2, 2)), -4 * s),
}


@pytest.mark.parametrize("kind", DERIVATIVES)
def test_derivatives_in_the_next_state_by_closed_forms(kind, rng):
    """The differences miss h^4/30 of the fifth and h^4/90 of the sixth derivative, h = 2e-3: 5e-8 for sin 8s."""
    family, missed = kind(), 1e-7 if kind is sines else 1e-8
    s = rng.uniform(0.1, 0.9, (50, 2) if kind is square else 50)
    for found, exact in zip(family.derivatives(s), DERIVATIVES[kind](s), strict=True):
        assert found.shape == exact.shape
        assert np.allclose(found, exact, rtol=0, atol=missed)
    table = family.derivatives(s[:48].reshape(6, 8, *s.shape[1:]))
    assert np.allclose(table[0], DERIVATIVES[kind](s[:48])[0].reshape(table[0].shape), rtol=0, atol=missed)


def test_a_family_restricted_to_one_pair_has_its_law(rng):
    family, natural = masked(), rng.uniform(-2, 2, (4, 3))
    whole = family.moments(np.broadcast_to(natural[:, None, None], (4, 2, 1, 3)))
    for x in range(2):
        one = family.restricted(x, 0)
        for part, alone in zip(whole, one.moments(natural[:, None, None]), strict=True):
            assert np.array_equal(part[:, x], alone[:, 0])
        assert one.log_base.shape == (1, 1, 4) and family.log_base.shape == (2, 1, 4)


def test_a_continuous_family_without_psi_is_rejected():
    with pytest.raises(InputError, match="has no psi: give `statistic`"):
        ContinuousFamily(SmoothBox([np.linspace(0, 1, 3)], 4))


def test_bounds_hold_if_psi_is_known_on_all_states_or_its_diameter_is_stated(rng):
    """Nodes are inside the cells, so that the diameter there is too small; it is found without a table of all pairs."""
    psi = rng.standard_normal((600, 2))
    finite = FiniteFamily(FiniteSpace(600), psi, np.zeros(600))
    longest = max(np.linalg.norm(psi - x, axis=1).max() for x in psi)
    assert finite.diameter == pytest.approx(longest, rel=1e-14) and finite.bounds_hold
    unstated = exponential()
    assert 0.98 * 2 < unstated.diameter == np.ptp(unstated.psi) < 2 and not unstated.bounds_hold
    stated = ContinuousFamily(unstated.space, unstated.statistic, diameter=2.0)
    assert stated.bounds_hold and (stated.covariance_bound, stated.self_concordance) == (1.0, 2.0)
    assert not quadratic().bounds_hold and all(family().bounds_hold for family in (masked, normal, circle, line))
