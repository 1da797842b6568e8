"""Intervals of means and shares against exact laws. Their coverage is measured in `test_coverage.py`."""

from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import t as student_law

from befrl.analysis.intervals import bounded_interval, clopper_pearson, mean_interval, p_value

LAWS = {
    "normal": lambda rng, shape: rng.normal(3.0, 1.0, shape),
    "log-normal": lambda rng, shape: rng.lognormal(0.0, 1.5, shape),
    "rare failures": lambda rng, shape: rng.normal(1.0, 0.1, shape) + 20.0 * (rng.random(shape) < 0.05),
    "shares": lambda rng, shape: rng.integers(0, 2, shape) * 1.0,
}


def student(x, level):
    half = student_law.ppf((1 + level) / 2, len(x) - 1) * x.std(0, ddof=1) / np.sqrt(len(x))
    return x.mean(0) - half, x.mean(0) + half


def weighted_mean_exceeds(points, c):
    """P(sum_i w_i x_i > c), w uniform on the simplex: the integral of a spline, whose knots are distinct points."""
    return sum(np.prod([(x - c) / (x - other) for other in points if other != x]) for x in points if x > c)


@pytest.mark.parametrize("n", [3, 5, 8])
def test_the_upper_end_is_a_quantile_of_the_weighted_mean(rng, n):
    """With a bound far away the saddlepoint formula is worst: conservative by 1 to 3.5 %."""
    for level in np.repeat([0.5, 0.9, 0.95, 0.99], 10):
        x = rng.lognormal(0.0, 0.5, n)
        low, high = bounded_interval(x, level, least=0.0, most=50.0)
        assert bounded_interval(-x, level, least=-50.0, most=0.0) == pytest.approx((-high, -low), abs=1e-9)
        assert 0.96 < weighted_mean_exceeds([*x, 50.0], high) / ((1 - level) / 2) < 1.0


def test_the_interval_of_failures_with_a_bound_is_that_of_clopper_and_pearson():
    """On values 0 and 1 the two are the same, up to the saddlepoint formula."""
    for n, count in [(size, count) for size in (10, 30, 200) for count in range(size // 5)]:
        low, high = bounded_interval(np.r_[np.zeros(n - count), np.ones(count)], 0.95)
        assert (low, high) == pytest.approx(clopper_pearson(count, n, 0.95), rel=0.025)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 300), st.floats(0.01, 1.0), st.floats(0.0, 1.0), st.floats(0.3, 0.999), st.integers(0, 2**32))
def test_the_interval_of_a_share_is_in_the_unit_interval_and_contains_the_mean(n, width, ones, level, seed):
    """Also for few, small and extreme shares, whose other interval has an end beyond 1."""
    rng = np.random.default_rng(seed)
    shares = np.where(rng.random(n) < ones, 1.0, width * rng.random(n))
    low, high = bounded_interval(shares, level)
    assert 0 <= low <= shares.mean() <= high <= 1
    assert mean_interval([0.0, 1.0], 0.95)[1] > 5


@pytest.mark.parametrize("law", LAWS)
def test_the_interval_contains_students_and_grows_with_the_level(rng, law):
    for n in (2, 10, 100):
        x = LAWS[law](rng, (n, 50))
        inner = mean_interval(x, 0.5)
        for level in (0.8, 0.95, 0.999):
            low, high = mean_interval(x, level)
            t_low, t_high = student(x, level)
            assert np.all(low <= t_low + 1e-12) and np.all(high >= t_high - 1e-12)
            assert np.all(low <= inner[0]) and np.all(high >= inner[1])
            inner = low, high


@pytest.mark.parametrize("law", LAWS)
def test_the_interval_is_equivariant_and_the_order_of_the_seeds_does_not_count(rng, law):
    x = LAWS[law](rng, (40, 6))
    low, high = mean_interval(x, 0.95)
    assert np.allclose(mean_interval(3 * x - 7, 0.95), (3 * low - 7, 3 * high - 7), rtol=0, atol=1e-8)
    assert np.allclose(mean_interval(-x, 0.95), (-high, -low), rtol=0, atol=1e-9)
    assert np.allclose(mean_interval(rng.permutation(x), 0.95), (low, high), rtol=0, atol=1e-9)


def test_a_column_has_the_same_interval_alone_and_among_others(rng):
    x = LAWS["rare failures"](rng, (30, 40, 100))
    low, high = mean_interval(x, 0.95)
    p = p_value(x - 2.0)
    assert low.shape == high.shape == p.shape == (40, 100)
    for at in ((0, 0), (17, 3), (39, 99)):
        alone = x[:, *at]
        assert (*mean_interval(alone, 0.95), p_value(alone - 2.0)) == (low[at], high[at], p[at])


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(LAWS)), st.integers(2, 300), st.floats(0.3, 0.999), st.integers(0, 2**32))
def test_the_p_value_of_an_end_is_one_minus_the_level(law, n, level, seed):
    x = LAWS[law](np.random.default_rng(seed), n)
    assume(x.std() > 0)
    for end in mean_interval(x, level):
        assert p_value(x - end) == pytest.approx(1 - level, rel=1e-6)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [3, 30, 300])
def test_the_p_value_falls_with_the_distance_from_the_mean(rng, law, n):
    """From 1 at the mean, to both sides, also where r is so small that r* is a ratio of small numbers."""
    x = LAWS[law](rng, n)
    x[0] += 0.5
    t = np.r_[np.geomspace(1e-9, 1e-2, 30), np.linspace(0.02, 6.0, 300)]
    for side in (-1, 1):
        p = p_value((x - x.mean())[:, None] + side * t * x.std(ddof=1) / np.sqrt(n))
        assert np.all(np.diff(p) <= 1e-4) and p[0] > 0.99 and p[-1] < 0.1
        assert np.all(p >= 2 * student_law.sf(t, n - 1) - 1e-12)


def test_values_without_spread_and_single_seeds():
    low, high = mean_interval(np.ones((1, 3)), 0.95)
    assert np.isnan(low).all() and np.isnan(high).all()
    assert np.array_equal(p_value(np.ones((1, 3))), np.ones(3))
    assert mean_interval(np.full(9, 2.5), 0.95) == (2.5, 2.5)
    assert mean_interval(np.array([-2e-13, 0.0, -1e-13]), 0.95, least=0.0) == (0.0, 0.0)  # an oracle's regrets
    assert (p_value(np.zeros(9)), p_value(np.full(9, 2.5))) == (1.0, 0.0)
    low, high = bounded_interval(np.zeros(30), 0.9)
    # No failure in 30 seeds: the end at level 90 % is the rate that is excluded with 95 %.
    assert low == 0.0 and high == pytest.approx(1 - 0.05 ** (1 / 30), rel=0.01)


@pytest.mark.parametrize(("count", "n"), [(0, 1), (0, 30), (1, 30), (7, 30), (29, 30), (30, 30), (3, 200)])
def test_beyond_the_ends_of_a_share_the_count_is_too_rare(count, n):
    def at_most(k, q):
        return sum(comb(n, i) * q**i * (1 - q) ** (n - i) for i in range(k + 1))

    low, high = clopper_pearson(count, n, 0.95)
    assert (low == 0) if count == 0 else (1 - at_most(count - 1, low) == pytest.approx(0.025, rel=1e-9))
    assert (high == 1) if count == n else (at_most(count, high) == pytest.approx(0.025, rel=1e-9))
    lows, highs = clopper_pearson(np.array([0, count]), n, 0.95)
    assert (lows[1], highs[1], lows[0]) == (low, high, 0)
