"""OPT-RLSVI: the default function, its constants, and what is left without it."""

import numpy as np
import pytest

from befrl import agents
from befrl.agents import opt_rlsvi
from befrl.common.errors import InputError
from helpers import light, play, random_episodes, trained
from transcription import assert_plan_is, plan, spy_on_values


def test_default_share_has_three_regimes_and_no_jumps():
    alpha_U = 0.4
    n = np.linspace(0, 1, 100_001)
    share = opt_rlsvi.default_share(n, alpha_U)
    assert np.all(share[n <= 0.2] == 0)
    assert np.all(share[n >= 0.4] == 1)
    inside = (n > 0.2) & (n < 0.4)
    assert np.allclose(share[inside], (n[inside] - 0.2) / (0.4 - 0.2))
    assert np.allclose(1 - share[inside], (0.4 - n[inside]) / (0.4 - 0.2))
    assert np.abs(np.diff(share)).max() < 1.01e-5 / 0.2


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
    noisy = (1 - opt_rlsvi.default_share(1 / np.sqrt(1 + visits), 0.5)) / np.sqrt(1 + visits)
    assert 0 < (noisy == 0).sum() < noisy.size
    assert np.all(Q[:, noisy == 0] == 1)
    # Standard deviations of 5000 normal draws: 6 standard errors, each 1/sqrt(2 * 5000).
    assert np.allclose(Q.std(0)[noisy > 0], noisy[noisy > 0], rtol=6 / np.sqrt(10_000))


def test_constants_by_hand():
    # d = H = 10, k = 1000, delta = 0.05: sqrt(beta) = 100 sqrt(log 2e7), sqrt(nu) = sqrt(beta) + 31 sqrt(10)
    nu = (100 * np.sqrt(np.log(2e7)) + 31 * np.sqrt(10)) ** 2
    assert opt_rlsvi.root_nu(10, 10, 1000, 1.0, 0.05) ** 2 == pytest.approx(nu)
    problem = light("chain")
    agent = trained("opt-rlsvi", problem, episodes=4)
    half = trained("opt-rlsvi", problem, episodes=4, scale=0.5)
    root_nu = opt_rlsvi.root_nu(16, 40, 4, 1.0, 0.05)
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


def test_either_absolute_numbers_or_scale():
    with pytest.raises(InputError, match="either sigma and alpha_u or scale"):
        agents.parameters("opt-rlsvi", {"alpha_u": 1, "scale": 0.1})
