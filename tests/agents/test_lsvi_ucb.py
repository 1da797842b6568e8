"""LSVI-UCB against its paper: the printed algorithm, visiting the whole history."""

import numpy as np
import pytest

from helpers import light, play, trained
from pairs import cover
from transcription import assert_plan_is, plan, played

VALUES = [{}, {"share": "steps"}, {"presentation": "random-features", "frequencies": 5}]


@pytest.mark.parametrize(("name", "track", "values"), cover(["chain", "riverswim", "waves"], ["U", "K"], VALUES))
def test_every_plan_of_a_run_is_the_printed_one(name, track, values):
    problem = light(name, horizon=4)
    agent, plans, history = played("lsvi-ucb", problem, track, scale=0.01, **values)
    for k in (0, 1, 5):
        for i in range(2):
            Q = plan(agent, history[:k], i, lambda h, mean, width, i=i: np.minimum(mean + agent.beta[i] * width, 4))
            assert_plan_is(agent, plans[k], Q, i)


def test_beta_by_hand():
    # d = 16, H = 40, K = 5: iota = log(2 * 16 * 200/0.05) = log(128000)
    facts = trained("lsvi-ucb", light("chain"), episodes=5, scale=0.5).facts()
    assert facts["d"] == 16
    assert facts["beta"] == pytest.approx([8 * 40 * np.sqrt(np.log(128_000))] * 2)


def test_theory_is_a_permanent_warm_up_here():
    """All bounds exceed H: the agent plays at random for ever and believes in H."""
    agent = trained("lsvi-ucb", light("chain"), episodes=20)
    plan = agent.plan(20)
    assert np.all(agent.problem.ties.share == 1.0)
    # 640 fair coins: 5 standard errors.
    assert abs(plan.policy.mean() - 0.5) < 2.5 / np.sqrt(plan.policy.size)
    assert np.all(plan.values == 40)


def test_values_stay_optimistic_at_a_tenth_of_the_theory():
    log = play("lsvi-ucb", light("jao"), "U", range(10), 40, scale=0.1)
    assert np.all(log["optimism"] >= 0)
