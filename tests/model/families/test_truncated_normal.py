"""The closed forms of the truncated normal against quadrature, scipy and asymptotics, far tails included."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from befrl.model.families.base import Family
from befrl.model.families.truncated_normal import FAR, TruncatedNormal
from befrl.model.spaces import BinnedInterval

SIGMAS = [0.02, 0.1, 0.3, 1.0]


def make(sigma, bins=8, nodes=16):
    return TruncatedNormal(BinnedInterval(bins, nodes), sigma)


def eta_of(c):
    return np.asarray(c, dtype=float).reshape(1, 1, -1, 1)


def moments(family, c):
    """Z, mean and variance of x for a list of natural parameters."""
    return [part.ravel() for part in family.moments(eta_of(c))]


def exact_moments(h, c):
    """Mean and variance of N(c, 1) cut to [-h, h], by integrating over the distance y = h - x to the upper end.

    y has the density exp(-t y - y^2/2), t = c - h, on [0, 2h]; with v = y max(t, 1) the integrand has width one.
    """
    t = c - h
    unit = max(t, 1.0)
    end = min(2 * h * unit, 60.0 if t > 0 else np.inf)

    def integral(power):
        f = lambda v: v**power * np.exp(-(t / unit) * v - 0.5 * (v / unit) ** 2 - shift)  # noqa: E731
        return integrate.quad(f, 0, end, epsabs=0, epsrel=1e-13, limit=500, points=peak)[0]

    peak = [-t * unit] if 0 < -t * unit < end else None
    shift = 0.5 * t * t if peak else 0.0
    mean, square = integral(1) / integral(0), integral(2) / integral(0)
    return h - mean / unit, (square - mean**2) / unit**2


@pytest.mark.parametrize("sigma", SIGMAS)
def test_closed_forms_agree_with_fine_quadrature(sigma):
    family = make(sigma, bins=50, nodes=30)
    c = eta_of(np.linspace(-1.5, 1.5, 13) / sigma)  # aims from f = -1 to f = 2
    for one, other in zip(family.moments(c), Family.moments(family, c), strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-12)
    (P, partial), generic = family.kernel_and_partial_means(c), Family.kernel_and_partial_means(family, c)
    assert np.allclose([P, family.kernel(c)], generic[0], rtol=0, atol=1e-12)
    assert np.allclose(partial, generic[1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_moments_by_integration(sigma):
    """At c = h + offset: inside the interval, at its edge, on both sides of FAR and far beyond; continuous at FAR."""
    family = make(sigma)
    for offset in (-2.0, -0.5, 0.0, 1.0, 10.0, 29.0, 31.0, 100.0, 1e4):
        c = family.h + offset
        mean, variance = exact_moments(family.h, c)
        _, got_mean, got_variance = moments(family, [c])
        assert got_mean[0] == pytest.approx(mean, abs=1e-11 * max(1.0, c / 100))
        assert got_variance[0] == pytest.approx(variance, rel=1e-9)
    _, _, (before, after) = moments(family, [family.h + FAR - 1e-9, family.h + FAR + 1e-9])
    assert before == pytest.approx(after, rel=1e-9)


def test_moments_partition_and_kernel_of_scipy():
    family = make(0.1)
    for c in (-3.0, 0.0, 0.4, 2.0, 6.0):
        law = stats.truncnorm(-family.h - c, family.h - c, loc=c)
        Z, mean, variance = moments(family, [c])
        log_D = np.log(stats.norm.cdf(family.h - c) - stats.norm.cdf(-family.h - c))
        assert Z[0] == pytest.approx(c * c / 2 + log_D, abs=1e-12)
        assert mean[0] == pytest.approx(law.mean(), abs=1e-12)
        assert variance[0] == pytest.approx(law.var(), abs=1e-11)
        assert family.kernel(eta_of([c])).ravel() == pytest.approx(np.diff(law.cdf(family.cuts)), abs=1e-14)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_tails_are_finite_monotone_and_follow_their_asymptotics(sigma):
    family = make(sigma)
    c = np.concatenate([np.linspace(0.0, family.h, 20)[:-1], family.h + np.geomspace(0.1, 1e6, 200)])
    Z, mean, variance = moments(family, c)
    assert np.all(np.isfinite([Z, mean, variance])) and np.all(variance > 0)
    assert np.all(np.diff(variance) <= 0)  # it rounds to 1 as long as both ends are far away
    assert np.all(np.diff(variance)[c[:-1] > family.h] < 0)
    assert np.all(np.diff(mean[c < 1e4]) > 0)
    far = c > family.h + 1e3
    t = c[far] - family.h
    assert variance[far] * t**2 == pytest.approx(1 - 6 / t**2, abs=1e-9)
    # h - E x = 1/t - 2/t^3 + ..., up to the rounding of numbers as large as c.
    assert np.all(np.abs(family.h - mean[far] - (1 / t - 2 / t**3)) < 1e-12 + 1e-15 * c[far])


@pytest.mark.parametrize("sigma", SIGMAS)
def test_kernels_and_partial_means_in_the_tails(sigma):
    family = make(sigma)
    for c in (50.0, 1e3, 1e6):
        P, partial = family.kernel_and_partial_means(eta_of([c, -c]))
        assert np.all(np.isfinite(P)) and np.all(P >= 0)
        assert np.allclose(P.sum(-1), 1.0, rtol=0, atol=1e-12)
        assert np.array_equal(P, family.kernel(eta_of([c, -c])))
        assert np.allclose(partial.sum(-2), family.moments(eta_of([c, -c]))[1], rtol=1e-9, atol=0)
        # Mass outside the last bin: the law is close to an exponential of rate t / sigma from the upper end.
        t = c - family.h
        if t > 20:
            outside = np.exp(-t / sigma / 8 - 0.5 / (8 * sigma) ** 2)
            assert 1 - P[0, 0, 0, -1] == pytest.approx(outside, rel=0.05, abs=1e-12)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_mirror_symmetry(sigma):
    family, c = make(sigma), eta_of([0.3, 4.0, 40.0, 1e3])
    (Z, mean, variance), (Z_m, mean_m, variance_m) = family.moments(c), family.moments(-c)
    assert np.array_equal(Z, Z_m) and np.array_equal(mean, -mean_m) and np.array_equal(variance, variance_m)
    (P, partial), (P_m, partial_m) = family.kernel_and_partial_means(c), family.kernel_and_partial_means(-c)
    assert np.array_equal(P, P_m[..., ::-1]) and np.array_equal(partial, -partial_m[..., ::-1, :])
    assert np.all(family.moments(0 * c)[1] == 0)


def cdf(family, c, s):
    """CDF of s' at natural parameter c, from survival functions of the accurate side."""
    sign, law = 1.0 if c >= 0 else -1.0, stats.norm()
    x, c = sign * (s - 0.5) / family.sigma, abs(c)
    part = (law.cdf(x - c) - law.cdf(-family.h - c)) / (law.cdf(family.h - c) - law.cdf(-family.h - c))
    return part if sign > 0 else 1 - part


@pytest.mark.parametrize("sigma", SIGMAS)
def test_sampler_is_the_inverse_cdf(sigma):
    family, u = make(sigma), np.linspace(0.0, 1.0, 201)[1:-1]
    cs = np.array([-1.0, -0.6, -0.1, 0.0, 0.3, 0.5, 1.0]) / sigma  # all aims that a chain can have
    draw = family.sampler(cs.reshape(1, -1, 1))
    for a, c in enumerate(cs):
        s = draw(np.zeros(len(u), dtype=int), np.full(len(u), a), u)
        assert np.all((s >= 0) & (s <= 1)) and np.all(np.diff(s) >= 0)
        assert cdf(family, c, s) == pytest.approx(u, abs=1e-9)


def test_sampler_in_the_far_tail_is_the_inverse_cdf():
    """Beyond the reach of the instances the distance y to the end is exponential: P(Y > y) ~ exp(-t y - y^2/2)."""
    family, u, zero = make(0.1), np.linspace(0.05, 0.95, 19), np.zeros(19, dtype=int)
    for c in (50.0, -50.0, 1e3, 1e6):
        s = family.sampler(np.full((1, 1, 1), c))(zero, zero, u)
        y, t = (1 - s if c > 0 else s) / family.sigma, abs(c) - family.h
        tail = np.exp(-t * y - 0.5 * y * y) * special.erfcx((t + y) / np.sqrt(2)) / special.erfcx(t / np.sqrt(2))
        assert tail == pytest.approx(u if c > 0 else 1 - u, rel=1e-9 * max(1.0, abs(c) / 100))
