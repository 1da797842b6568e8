"""The two-state instance of the lower bounds: closed forms, the prior, and failures of greedy."""

import numpy as np
import pytest
from scipy.stats import binomtest

from befrl import instances
from befrl.analysis.statistics import failed
from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from befrl.instances.jao import BAD, GOOD, Parameters
from helpers import ROOT, instance


def test_probabilities_and_mean_rewards_of_the_arms():
    problem = instance("jao", arms=4, rate=0.2, eps=0.1, leave=0.3, background=0.4, bonus=0.05, top=0.8)
    assert np.allclose(problem.P[BAD, :, GOOD], [0.2, 0.2, 0.2, 0.3], rtol=0, atol=1e-12)
    assert np.allclose(problem.P[GOOD, :, GOOD], 0.7, rtol=0, atol=1e-12)
    assert np.allclose(problem.R, [[0.45, 0.4, 0.4, 0.4], [0.8] * 4], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("horizon", "leave"), [(1, 0.2), (2, 0.05), (17, 0.2), (17, 0.6)])
def test_without_a_bonus_the_value_is_a_geometric_sum(horizon, leave):
    """D_t = V(good) - V(bad) with t steps to go is (r - b) (1 - x^t)/(1 - x), with x = 1 - leave - rate - eps."""
    problem = instance("jao", horizon=horizon, rate=0.1, eps=0.2, leave=leave, background=0.3, bonus=0.0, top=0.7)
    x = 1 - leave - 0.1 - 0.2
    D, V = 0.4 * (1 - x ** np.arange(horizon + 1)) / (1 - x), problem.optimum[1]
    assert np.allclose(V[:, GOOD] - V[:, BAD], D[::-1], rtol=0, atol=1e-12)
    assert problem.optimal_value == pytest.approx(0.3 * horizon + 0.3 * D[:-1].sum(), abs=1e-12)
    # D_t grows with t for x > 0, and arms differ by eps D_t: the smallest gap is that of the last step but one.
    assert problem.gap == pytest.approx(0.2 * 0.4 if horizon > 1 else 0.0, abs=1e-12)


def test_the_last_arm_is_optimal_until_its_advantage_is_below_the_bonus():
    problem, chosen = instance("jao"), Parameters()
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


def test_default_prior_matches_all_arms_but_two():
    """At theta = 0 an arm of the bad state has the background's reward and rate: no optimism, no pessimism for free."""
    problem = instance("jao")
    nothing, between = np.zeros((1, problem.model.d)), slice(1, -1)
    assert np.allclose(problem.model.mean_reward(nothing)[0, BAD], problem.R[BAD, between][0], rtol=0, atol=1e-12)
    assert np.allclose(problem.model.kernel(nothing)[0, BAD], problem.P[BAD, between][0], rtol=0, atol=1e-12)


def failures(algorithm, track, *settings, seeds=100):
    """The exact two-sided 98 % interval of the share of failed seeds in each setting."""
    problem = instance("jao")
    run = RunSpec.of(problem, "test", algorithm, list(settings), 300, range(seeds), track=track, root_seed=ROOT)
    failing = failed(loop.run(run)["regret"], problem.optimal_value - problem.uniform_value)
    counts = failing.reshape(len(settings), seeds).sum(1)
    return [binomtest(int(count), seeds).proportion_ci(0.98, "exact") for count in counts]


@pytest.mark.parametrize(("track", "share"), [("U", 0.2), ("K", 0.5)])
def test_greedy_fails_and_posterior_sampling_learns(track, share):
    """Greedy on more seeds than the share, with any penalty; exp-psrl on fewer than a tenth. Level 1 % each."""
    assert all(found.low > share for found in failures("greedy", track, {"eta": 0.1}, {"eta": 1.0}, {"eta": 10.0}))
    assert failures("exp-psrl", track, {})[0].high < 0.1


IMPOSSIBLE = [
    ({"rate": 0.6, "eps": 0.5}, r"rate \+ eps = 1.1 must be at most 0.999"),
    ({"background": 0.8, "bonus": 0.1}, r"background \+ bonus = 0.9 must be below top = 0.9"),
    ({"background": 1.0}, "background = 1.0 is not allowed"),
]


@pytest.mark.parametrize(("values", "message"), IMPOSSIBLE)
def test_impossible_arms_are_rejected(values, message):
    with pytest.raises(InputError, match=message):
        instances.build("jao", values)
