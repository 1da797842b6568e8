"""Statistics over seeds: slopes, failures, growth of times and quantiles. Intervals have tests of their own."""

import itertools

import numpy as np
import pytest

from befrl.analysis.statistics import failed, slope, spread, time_exponent


def test_the_slope_of_a_power_is_its_exponent_and_that_of_the_second_half():
    for K, power in itertools.product((10, 1000, 12345), (0.0, 0.5, 1.0, 2.0)):
        assert slope(7.0 * np.arange(1, K + 1) ** power) == pytest.approx(power, abs=1e-9)
    k = np.arange(1, 1001)
    assert slope(np.where(k < 500, k, np.sqrt(500.0 * k))) == pytest.approx(0.5, abs=1e-3)
    # There is none without logarithms or a second point.
    for curve in (np.zeros(10), np.r_[np.ones(9), -1.0], np.ones(1)):
        assert np.isnan(slope(curve))


def test_a_seed_failed_if_its_last_tenth_is_above_half_the_uniform_regret():
    regret = np.zeros((5, 40))
    regret[0, :36] = 9.0  # bad early, good late
    regret[1, 36:], regret[2, 36:] = 1.01, 0.99  # just above half and below
    regret[3, -1], regret[4, -1] = 4.04, 3.96  # the mean counts, not each episode
    assert failed(regret, 2.0).tolist() == [False, True, False, True, False]
    # Of few episodes the last one counts.
    assert failed(np.array([[0.0, 0.0, 5.0], [5.0, 5.0, 0.0]]), 2.0).tolist() == [True, False]


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_time_exponent_is_the_power_of_k_whatever_the_outliers(power, rng):
    K = 2000
    seconds = 3e-4 * np.arange(1, K + 1.0) ** power
    seconds[rng.choice(K, 50, replace=False)] *= 100  # while the machine is busy with something else
    assert abs(time_exponent(seconds) - power) < 0.05
    assert np.isnan(time_exponent(seconds[:19]))


def test_medians_and_quantiles_of_each_group():
    rows = [{"who": who, "n": n, "x": float(x)} for who, n in (("a", 1), ("b", None)) for x in range(11)]
    first, second = spread(rows, ("who", "n"), "repetitions", ("x",))
    assert first == {"who": "a", "n": 1, "repetitions": 11, "x": 5.0, "x_low": 1.0, "x_high": 9.0}
    assert second == first | {"who": "b", "n": None}
    (found,) = spread([{"x": value} for value in (1.0, np.inf, np.inf)], (), "draws", ("x",))
    assert found["x"] == np.inf and found["draws"] == 3
