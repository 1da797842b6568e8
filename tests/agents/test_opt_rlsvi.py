"""OPT-RLSVI: the default function, its constants, and what is left without it."""

import numpy as np
import pytest

from helpers import light, play, random_episodes, trained
from transcription import assert_plan_is, plan, spy_on_values


@pytest.mark.parametrize("name", ["chain", "waves", "riverswim"])
@pytest.mark.parametrize("track", ["U", "K"])
def test_plans_are_the_printed_ones_without_noise(name, track):
    """alpha_U = 0.9, alpha_L = 0.45: unvisited pairs have the default, those visited once to thrice a mixture."""
    problem = light(name, horizon=4)
    agent = trained("opt-rlsvi", problem, track, episodes=8, sigma=0, alpha_u=0.9)
    history = random_episodes(problem, (0, 1), 8)
    regimes = set()

    def value(h, mean, width):
        Q = np.empty_like(mean)
        for point, a in np.ndindex(*mean.shape):
            n = width[point, a]
            if n <= 0.45:
                Q[point, a] = mean[point, a]
            elif n >= 0.9:
                Q[point, a] = 4 - h
            else:
                Q[point, a] = (0.9 - n) / 0.45 * mean[point, a] + (n - 0.45) / 0.45 * (4 - h)
            regimes.add(int(n > 0.45) + int(n >= 0.9))
        return Q

    for i in range(2):
        assert_plan_is(agent, agent.plan(8), plan(agent, history, i, value), i)
    assert regimes == {0, 1, 2}


def test_noise_reaches_the_linear_regime_only(monkeypatch):
    seen = spy_on_values(monkeypatch)
    problem = light("chain", horizon=2)
    agent = trained("opt-rlsvi", problem, seeds=range(50), same_data=True, episodes=20, sigma=1.0, alpha_u=0.5)
    for k in range(100):
        agent.plan(k)
    Q, visits = np.concatenate(seen[::2]), agent.regression.counts.visits[0, 1]
    width = 1 / np.sqrt(1 + visits)
    noisy = (1 - np.clip((width - 0.25) / 0.25, 0, 1)) * width
    assert 0 < (noisy == 0).sum() < noisy.size
    assert np.all(Q[:, noisy == 0] == 1)
    # Standard deviations of 5000 normal draws: 6 standard errors, each 1/sqrt(2 * 5000).
    assert np.allclose(Q.std(0)[noisy > 0], noisy[noisy > 0], rtol=6 / np.sqrt(10_000))


def test_constants_by_hand():
    """d = 16, H = 40, k = 4, delta = 0.05: sqrt(nu) = 640 sqrt(log(40 16^2 4/0.05)) + (3 40 + 1) sqrt(16)."""
    problem = light("chain")
    agent = trained("opt-rlsvi", problem, episodes=4)
    half = trained("opt-rlsvi", problem, episodes=4, scale=0.5)
    root_nu = 640 * np.sqrt(np.log(819_200)) + 121 * 4
    sigma, alpha_U = agent.constants(3)
    assert sigma == pytest.approx(np.sqrt(40) * root_nu)
    assert alpha_U == pytest.approx(1 / (4 * np.sqrt(16 * 40 * np.log(16 / 0.05)) * root_nu))
    assert half.constants(3)[0] == pytest.approx(sigma / 2)
    assert half.constants(3)[1] == pytest.approx(2 * alpha_U)


def test_theory_is_a_permanent_warm_up():
    """All values are the default: every action is as good as any other."""
    agent = trained("opt-rlsvi", light("chain"), episodes=20)
    plan = agent.plan(20)
    assert np.all(agent.problem.ties.share == 1.0)
    # 640 fair coins: 5 standard errors.
    assert abs(plan.policy.mean() - 0.5) < 2.5 / np.sqrt(plan.policy.size)
    assert np.all(plan.values == 40)


def test_without_the_default_it_is_rlsvi():
    problem = light("chain")
    one = play("opt-rlsvi", problem, episodes=10, sigma=0.5, alpha_u=1e9)
    other = play("rlsvi", problem, episodes=10, sigma=0.5)
    assert np.allclose(one["regret"], other["regret"], rtol=0, atol=1e-9)
