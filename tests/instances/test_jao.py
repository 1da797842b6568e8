"""The two-state instance of the lower bounds: closed forms, its prior, and that greedy fails where others learn."""

import numpy as np
import pytest
from scipy.stats import binomtest

from befrl import instances
from befrl.analysis.statistics import failed
from befrl.common.errors import InputError
from befrl.instances.jao import BAD, GOOD, Parameters
from helpers import instance, play


def test_arms():
    problem = instance("jao", arms=4, rate=0.2, eps=0.1, leave=0.3, background=0.4, bonus=0.05, top=0.8)
    assert np.allclose(problem.P[BAD, :, GOOD], [0.2, 0.2, 0.2, 0.3], rtol=0, atol=1e-12)
    assert np.allclose(problem.P[GOOD, :, GOOD], 0.7, rtol=0, atol=1e-12)
    assert np.allclose(problem.R, [[0.45, 0.4, 0.4, 0.4], [0.8] * 4], rtol=0, atol=1e-12)


@pytest.mark.parametrize("horizon", [1, 2, 17])
@pytest.mark.parametrize("leave", [0.05, 0.2, 0.6])
def test_without_a_bonus_the_value_is_a_geometric_sum(horizon, leave):
    """D_t = V(good) - V(bad) with t steps to go is (r - b) (1 - x^t)/(1 - x), with x = 1 - leave - rate - eps."""
    problem = instance("jao", horizon=horizon, rate=0.1, eps=0.2, leave=leave, background=0.3, bonus=0.0, top=0.7)
    x = 1 - leave - 0.1 - 0.2
    D = 0.4 * (1 - x ** np.arange(horizon + 1)) / (1 - x)
    V = problem.optimum[1]
    assert np.allclose(V[:, GOOD] - V[:, BAD], D[::-1], rtol=0, atol=1e-12)
    assert problem.optimal_value == pytest.approx(0.3 * horizon + 0.3 * D[:-1].sum(), abs=1e-12)
    # D_t grows with t for x > 0, and arms differ by eps D_t: the smallest gap is that of the last step but one.
    assert problem.gap == pytest.approx(0.2 * 0.4 if horizon > 1 else 0.0, abs=1e-12)


def test_the_last_arm_is_optimal_until_its_advantage_is_below_the_bonus():
    chosen = Parameters()
    problem = instance("jao")
    H, first, last = chosen.horizon, 0, chosen.arms - 1
    D = good = bad = 0.0
    for h in reversed(range(H)):
        advantage = chosen.eps * D - chosen.bonus
        assert problem.optimal_policy[h, BAD] == (last if advantage > 0 else first)
        gain = chosen.background + chosen.bonus + chosen.rate * D + max(advantage, 0.0)
        good, bad = chosen.top + good - chosen.leave * D, bad + gain
        D = good - bad
    assert problem.optimal_value == pytest.approx(bad, abs=1e-12)
    assert set(problem.optimal_policy[:, BAD]) == {first, last}


def test_by_default_the_prior_is_the_truth_about_all_arms_but_two():
    """At theta = 0 an arm of the bad state has the background's reward and rate: no optimism, no pessimism for free."""
    problem = instance("jao")
    nothing = np.zeros((1, problem.model.d))
    between = slice(1, -1)
    assert np.allclose(problem.model.mean_reward(nothing)[0, BAD], problem.R[BAD, between][0], rtol=0, atol=1e-12)
    assert np.allclose(problem.model.kernel(nothing)[0, BAD], problem.P[BAD, between][0], rtol=0, atol=1e-12)


def failures(algorithm, track, seeds=100, **values):
    """The exact two-sided 98 % interval of the share of failed seeds."""
    problem = instance("jao")
    regret = play(algorithm, problem, track, range(seeds), 300, **values)["regret"]
    share = failed(regret, problem.optimal_value - problem.uniform_value)
    return binomtest(int(share.sum()), seeds).proportion_ci(0.98, "exact")


@pytest.mark.parametrize("eta", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("track", "share"), [("U", 0.2), ("K", 0.5)])
def test_greedy_fails_with_unknown_and_with_known_rewards(track, share, eta):
    """More seeds fail than the stated share, whatever the penalty; each bound is wrong with probability 1 % at most."""
    assert failures("greedy", track, eta=eta).low > share


@pytest.mark.parametrize("track", ["U", "K"])
def test_posterior_sampling_learns(track):
    """Fewer than one seed in ten fails; the bound is wrong with probability 1 % at most."""
    assert failures("exp-psrl", track).high < 0.1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 0.6, "eps": 0.5}, r"rate \+ eps = 1.1 must be at most 0.999"),
        ({"background": 0.8, "bonus": 0.1}, r"background \+ bonus = 0.9 must be below top = 0.9"),
        ({"background": 1.0}, "background = 1.0 is not allowed"),
    ],
)
def test_impossible_arms_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        instances.build("jao", values)
