"""Reward laws: derivatives of Z, series, tails, inverses and samples."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import integrate, special

from befrl.common.errors import InputError
from befrl.model import rewards
from befrl.model.rewards import bernoulli, gaussian, truncated_exponential
from helpers import derivative

LAWS = [*(rewards.make(name, 0.5) for name in rewards.registry.names()), gaussian.Law(2.0)]
EXPONENTIAL = truncated_exponential.Law()
each_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__module__.rpartition(".")[2])


def test_every_law_is_found_by_its_name():
    """Laws that have a standard deviation take it; their variance is its square."""
    known = {"bernoulli": bernoulli.Law(), "gaussian": gaussian.Law(0.3), "truncated-exponential": EXPONENTIAL}
    assert set(known) <= set(rewards.registry.names())
    assert {name: rewards.make(name, 0.3) for name in known} == known
    assert rewards.make("gaussian", 0.3).variance(7.0) == pytest.approx(0.09)
    with pytest.raises(InputError, match="reward law"):
        rewards.make("nothing", 0.3)


def high_precision(c):
    """Z, Z', Z'' of the truncated exponential with 80 digits, from the closed forms."""
    with localcontext() as context:
        context.prec = 80
        c = Decimal(c)
        e = (-abs(c)).exp()
        Z, mean = ((c.exp() - 1) / c).ln(), 1 / (1 - (-c).exp()) - 1 / c
        return float(Z), float(mean), float(1 / c**2 - e / (1 - e) ** 2)


@each_law
def test_moments_are_derivatives_of_the_log_partition(law):
    for c in (-30.0, -5.0, -1.0, -0.15, -0.05, 0.0, 1e-3, 0.05, 0.15, 0.7, 3.0, 12.0, 40.0):
        at = np.array([c])
        slope = derivative(lambda x: law.log_partition(x)[0], at)[0]
        curvature = derivative(lambda x: law.mean(x)[0], at)[0]
        # The difference quotient carries the rounding of Z, or of Z', divided by the step of 1e-3.
        assert law.mean(at)[0] == pytest.approx(slope, abs=1e-10 + 5e-13 * abs(law.log_partition(c)))
        assert law.variance(at)[0] == pytest.approx(curvature, abs=1e-10 + 5e-13 * abs(law.mean(at)[0]))


def test_log_partition_from_its_definition():
    for c in (-6.0, -0.3, 0.0, 0.02, 2.0, 9.0):
        integral = integrate.quad(lambda r, c=c: np.exp(c * r), 0, 1, epsrel=1e-13)[0]
        assert EXPONENTIAL.log_partition(c) == pytest.approx(np.log(integral), abs=1e-12)
        assert bernoulli.Law().log_partition(c) == pytest.approx(np.log(1 + np.exp(c)), abs=1e-13)
        base = lambda r, c=c: np.exp(-0.5 * (r / 2) ** 2 + c * r) / np.sqrt(8 * np.pi)  # noqa: E731
        integral = integrate.quad(base, 4 * c - 30, 4 * c + 30, points=[4 * c], epsrel=1e-12, epsabs=0)[0]
        assert gaussian.Law(2.0).log_partition(c) == pytest.approx(np.log(integral), abs=1e-9)


def test_truncated_exponential_to_high_precision():
    """On both sides of the joins of series and tail, 0.1 and 0.2, and far out; at zero it is uniform."""
    joins = [0.0999999, np.nextafter(0.1, 0), 0.1, 0.1000001, 0.1999999, np.nextafter(0.2, 0), 0.2, 0.2000001]
    for size in (1e-8, 1e-3, *joins, 0.5, 1, 7, 36, 40, 300, 700, 750, 1e4):
        for c in (size, -size):
            Z, mean, variance = high_precision(c)
            assert EXPONENTIAL.log_partition(c) == pytest.approx(Z, rel=1e-13, abs=1e-14)
            assert EXPONENTIAL.mean(c) == pytest.approx(mean, rel=1e-13, abs=1e-15)
            assert EXPONENTIAL.variance(c) == pytest.approx(variance, rel=1e-12)
    parts = EXPONENTIAL.log_partition, EXPONENTIAL.mean, EXPONENTIAL.variance
    assert [part(0.0) for part in parts] == [0.0, 0.5, 1 / 12]
    u = np.linspace(0, 1, 11)
    assert np.array_equal(EXPONENTIAL.quantile(0.0, u), u)


@each_law
def test_tails_are_finite_and_monotone(law):
    c = np.concatenate([-np.geomspace(1e4, 1e-6, 300), [0.0], np.geomspace(1e-6, 1e4, 300)])
    Z, mean, variance = law.log_partition(c), law.mean(c), law.variance(c)
    assert np.all(np.isfinite([Z, mean, variance])) and np.all(np.diff(mean) >= 0) and np.all(variance >= 0)
    assert np.all(Z >= mean[300] * c - 1e-9)  # convex, above its tangent at 0 (shifted by Z(0) >= 0)
    if law.bounded:
        assert [mean[0], mean[-1]] == pytest.approx([0.0, 1.0], abs=1.1e-4)


def test_asymptotics_of_the_truncated_exponential():
    for c in (50.0, 700.0, 1e4):
        assert EXPONENTIAL.mean(c) == pytest.approx(1 - 1 / c, rel=1e-14)
        assert EXPONENTIAL.mean(-c) == pytest.approx(1 / c, rel=1e-11)
        assert EXPONENTIAL.variance(c) == pytest.approx(1 / c**2, rel=1e-14)
        assert EXPONENTIAL.log_partition(c) == pytest.approx(c - np.log(c), rel=1e-14)


@each_law
def test_natural_is_the_inverse_of_the_mean(law):
    c = np.array([-20.0, -3.0, -0.1, -1e-4, 0.0, 0.05, 1.0, 8.0, 20.0])
    # The mean is 1 - O(e^-c) or 1 - 1/c: what it can carry of c is limited by eps / variance.
    assert np.all(np.abs(law.natural(law.mean(c)) - c) <= 1e-12 + 2e-15 / law.variance(c))


def test_quantile_is_the_inverse_of_the_cdf():
    u = np.linspace(0, 1, 101)[1:-1]
    for c in (-1e4, -700.0, -5.0, -1e-8, 1e-10, 0.3, 5.0, 60.0, 700.0, 1e4):
        r = EXPONENTIAL.quantile(c, u)
        assert np.all((r >= 0) & (r <= 1))
        # F(r) = (e^(c r) - 1)/(e^c - 1); for c > 0 with e^c taken out.
        F = np.exp(c * (r - 1)) * np.expm1(-c * r) / np.expm1(-c) if c > 0 else np.expm1(c * r) / np.expm1(c)
        # Close to r = 1 the rounding of r itself moves F by eps c; below 1e-9 the law may pass for uniform.
        assert pytest.approx(u, abs=1e-12 + 1e-15 * abs(c) + (1e-10 if abs(c) < 1e-9 else 0.0)) == F
    for c in (-2.0, 0.0, 3.0):
        assert np.array_equal(bernoulli.Law().quantile(c, u) == 1, u >= 1 - special.expit(c))
        assert special.ndtr((gaussian.Law(0.5).quantile(c, u) - 0.25 * c) / 0.5) == pytest.approx(u, abs=1e-12)


@each_law
def test_samples_have_the_mean_and_the_variance(law, rng):
    m = 200_000
    for c in (-4.0, -0.05, 0.0, 1.0, 6.0):
        r = law.quantile(np.full(m, c), rng.random(m))
        spread, fourth = r.std(), ((r - r.mean()) ** 4).mean()
        # 5 standard errors each, 40 comparisons: 2e-5 of all seeds would fail; the seed is fixed.
        assert abs(r.mean() - law.mean(c)) < 5 * spread / np.sqrt(m)
        assert abs(r.var() - law.variance(c)) < 5 * np.sqrt((fourth - spread**4) / m) + 1e-12


@each_law
def test_variance_range_is_attained_and_never_left(law):
    for radius in (0.1, 2.0, 9.0):
        variances = law.variance(np.linspace(-radius, radius, 20_001))
        assert [variances.min(), variances.max()] == pytest.approx(np.array(law.variance_range(radius)), rel=1e-12)
