"""The MDPs of C62: what new is worth, and when BEF-RLSVI first plays it."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from befrl.claims.toolbox import bounded_trap, traps
from befrl.claims.toolbox.chances import lower_limit, upper_limit

HIDDEN = {"trap": "hidden", "m": 0.5, "M": 2.0, "eta": 1.0}
CANCELLING = {"trap": "cancelling", "m": 12.0, "M": 2.0, "eta": 1.0}
ONE_STEP = {"trap": "one step", "m": 12.0, "M": 2.0, "eta": 1.0}
RUNS, EPISODES = 4000, 25


def firsts(case, x=400.0):
    return traps.first_trials(case, x, RUNS, EPISODES, np.random.default_rng(7))


@pytest.mark.parametrize("case", [HIDDEN, CANCELLING | {"m": 3.0}])
@pytest.mark.parametrize("mean", [-3.0, 0.0, 0.7, 5.0])
def test_expected_features_are_those_of_quadrature(case, mean):
    for i in range(3):
        value = lambda y, i=i: traps.second_feature(case, np.array(y))[i] * norm.pdf(y - mean)  # noqa: E731
        integral, _ = quad(value, mean - 9, mean + 9, points=[-1, 1, 2 * case["m"] - 2], limit=200)
        assert traps.second_feature(case, np.array(mean), 1.0)[i] == pytest.approx(integral, abs=1e-7)


def test_the_gap_is_that_of_the_values():
    root = math.sqrt(2)
    assert traps.gap(HIDDEN) == pytest.approx(float(ndtr(2 / root) - ndtr(0.5 / root)), rel=1e-12)
    assert traps.gap(CANCELLING) == pytest.approx(float(ndtr(2.0) - ndtr(-10.0)), rel=1e-12)
    assert traps.gap(ONE_STEP) == 1.0


def test_the_noise_of_new_cancels_in_the_imagined_episode():
    """Its own feature e_2 and the expected second one at y ~ N(0,1) have no e_2 left."""
    left = traps.ARMS[traps.NEW] + traps.second_feature(CANCELLING, np.array(0.0), 1.0)
    assert abs(left[1]) < 1e-12 and abs(left[2]) < 1e-100


@pytest.mark.parametrize("x", [1e-3, 400.0, 1e9])
def test_in_the_hidden_trap_new_is_played_in_episode_1_or_never(x):
    first = firsts(HIDDEN, x)
    assert set(first) == {1, EPISODES + 1}
    hits = int((first == 1).sum())
    assert lower_limit(hits, RUNS) < 1 / 3 < upper_limit(hits, RUNS)


def test_in_the_cancelling_trap_new_is_played_first_if_its_noise_exceeds_that_of_the_others():
    """In episode 1, where nothing is known, new needs xi_2 > |xi_1|: a quarter of the runs."""
    first = firsts(CANCELLING)
    hits = int((first == 1).sum())
    assert lower_limit(hits, RUNS) < 1 / 4 < upper_limit(hits, RUNS)
    assert (first > EPISODES).sum() + hits > RUNS - 40


@pytest.mark.parametrize("m", [5.0, 5.5])
def test_the_bound_on_later_trials_covers_the_counted_ones(m):
    case, after = CANCELLING | {"m": m}, 8
    first = firsts(case)
    hits = int(((first > after) & (first <= EPISODES)).sum())
    assert hits > 0 and lower_limit(hits, RUNS) <= traps.later(case, after, EPISODES) < 1.0


def test_the_bound_on_later_trials_grows_with_K_and_is_small_for_long_ways():
    values = [traps.later(CANCELLING | {"m": 20.0}, 30, K) for K in (1e2, 1e6, 1e12, 1e18)]
    assert values == sorted(values) and values[-1] < 1e-20
    assert traps.later(HIDDEN, 30, 1e18) == 0.0


def test_with_bounded_laws_the_agent_of_the_package_plays_new_in_episode_1_or_never():
    runs, episodes = 300, 12
    first = bounded_trap.first_trials(1e4, 1.0, runs, episodes, seed=3)
    assert set(first) == {1, episodes + 1}
    hits = int((first == 1).sum())
    assert lower_limit(hits, runs) < 1 / 3 < upper_limit(hits, runs)


def test_the_bounded_trap_has_nonnegative_features_and_new_is_best():
    made = bounded_trap.instance()
    assert made.model.family.psi.min() >= 0 and made.R.min() >= 0 and made.R.max() <= 1
    chances = 1 / (1 + np.exp(-(bounded_trap.FAVOUR + np.array([0.8, -0.8 * bounded_trap.PART, 2.5]))))
    rewarded = 1 / (1 + math.exp(-2.2)) - 0.5
    assert bounded_trap.gap() == pytest.approx(rewarded * (chances[2] - chances[0]), rel=1e-9)


def test_with_one_step_new_is_soon_played():
    first = firsts(ONE_STEP)
    assert (first <= EPISODES).all() and first.mean() < 5
