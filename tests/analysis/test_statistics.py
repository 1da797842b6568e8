"""Statistics over seeds, against simulated truths. All seeds are fixed; error rates are those of a fresh one."""

import numpy as np
import pytest

from befrl.analysis import statistics
from befrl.analysis.statistics import bootstrap_mean, failed, resampling_weights, slope, time_exponent


@pytest.mark.parametrize(("level", "least", "most"), [(0.95, 0.91, 0.97), (0.5, 0.43, 0.57)])
@pytest.mark.parametrize("law", ["normal", "uniform"])
def test_the_interval_covers_a_known_mean_as_often_as_it_says(rng, law, level, least, most):
    """1000 samples of 50 seeds: the percentile interval covers in about 94 % (49 %) of them, with a standard error of
    0.7 % (1.6 %), so that a right one is outside of [least, most] once in 10,000 times."""
    truth, samples = 3.0, 1000
    draw = {"normal": rng.normal, "uniform": lambda m, s, size: rng.uniform(m - s, m + s, size)}[law]
    covered = []
    for _ in range(100):
        low, high = bootstrap_mean(draw(truth, 2.0, (50, samples // 100)), resampling_weights(50, 400, rng), level)
        covered.append((low <= truth) & (truth <= high))
    assert least <= np.mean(covered) <= most


def test_weights_are_counts_of_whole_seeds(rng):
    weights = resampling_weights(20, 4000, rng)
    counts = weights * 20
    assert weights.shape == (4000, 20)
    assert np.array_equal(counts.round(), counts.round(9))
    assert np.allclose(weights.sum(1), 1.0, atol=1e-12)
    # A count is Binomial(20, 1/20), variance 0.95: each mean within 5 standard errors, false alarm 1e-5.
    assert np.all(np.abs(counts.mean(0) - 1) < 5 * np.sqrt(0.95 / 4000))
    assert counts.max() > 1


def test_resampling_is_seeded():
    first, second = (resampling_weights(10, 50, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first, second)


def test_curves_are_resampled_whole(rng):
    """Columns that are multiples of each other keep their ratio in every resample, and so in the interval."""
    x = rng.normal(0, 1, 30)
    low, high = bootstrap_mean(np.stack([x, 3 * x, -x], axis=1), resampling_weights(30, 500, rng), 0.9)
    assert np.allclose([low[1], high[1]], [3 * low[0], 3 * high[0]], rtol=1e-12)
    assert np.allclose([low[2], high[2]], [-high[0], -low[0]], rtol=1e-12)
    assert low[0] < x.mean() < high[0]


def test_pairs_are_resampled_together(rng):
    """A difference that is the same on all seeds has no spread, however wide that of its terms."""
    x = rng.normal(0, 100, 30)
    low, high = bootstrap_mean((x + 2.0) - x, resampling_weights(30, 500, rng), 0.95)
    assert np.allclose([low, high], 2.0, atol=1e-9)


def test_a_higher_level_is_a_wider_interval(rng):
    x = rng.normal(0, 1, 30)
    weights = resampling_weights(30, 2000, rng)
    narrow, wide = (bootstrap_mean(x, weights, level) for level in (0.5, 0.99))
    assert wide[0] < narrow[0] < x.mean() < narrow[1] < wide[1]


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("K", [10, 1000, 12345])
def test_the_slope_of_a_power_is_its_exponent(K, power):
    k = np.arange(1, K + 1)
    assert slope(7.0 * k**power) == pytest.approx(power, abs=1e-9)


def test_the_slope_is_that_of_the_second_half():
    k = np.arange(1, 1001)
    late = np.where(k < 500, k, np.sqrt(500.0 * k))
    assert slope(late) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("curve", [np.zeros(10), np.r_[np.ones(9), -1.0], np.ones(1)])
def test_no_slope_where_there_is_no_logarithm_or_no_second_point(curve):
    assert np.isnan(slope(curve))


def test_a_seed_failed_if_its_last_tenth_is_above_half_the_uniform_regret():
    K, uniform = 40, 2.0
    regret = np.zeros((5, K))
    regret[0, :36] = 9.0  # bad early, good late
    regret[1, 36:] = 1.01  # just above half
    regret[2, 36:] = 0.99  # just below
    regret[3, -1] = 4.04  # the mean counts ...
    regret[4, -1] = 3.96  # ... not each episode
    assert failed(regret, uniform).tolist() == [False, True, False, True, False]


def test_of_few_episodes_the_last_one_counts():
    assert failed(np.array([[0.0, 0.0, 5.0], [5.0, 5.0, 0.0]]), 2.0).tolist() == [True, False]


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_time_exponent_is_the_power_of_k_whatever_the_outliers(power, rng):
    K = 2000
    seconds = 3e-4 * np.arange(1, K + 1.0) ** power
    # A few episodes that the machine was busy with something else.
    slow = rng.choice(K, 50, replace=False)
    seconds[slow] *= 100
    assert abs(time_exponent(seconds) - power) < 0.05
    assert np.isnan(time_exponent(seconds[:19]))


def test_the_spread_of_each_group():
    rows = [{"who": who, "n": n, "x": float(x)} for who, n in (("a", 1), ("b", None)) for x in range(11)]
    first, second = statistics.spread(rows, ("who", "n"), "repetitions", ("x",))
    assert first == {"who": "a", "n": 1, "repetitions": 11, "x": 5.0, "x_low": 1.0, "x_high": 9.0}
    assert second == first | {"who": "b", "n": None}
    assert list(statistics.spread_columns("repetitions", {"x": "length"})) == ["repetitions", "x", "x_low", "x_high"]


def test_the_median_of_infinite_errors_is_infinite():
    rows = [{"x": value} for value in (1.0, np.inf, np.inf)]
    (found,) = statistics.spread(rows, (), "draws", ("x",))
    assert found["x"] == np.inf and found["draws"] == 3
