"""Oracle, uniformly random and greedy agents."""

import numpy as np
import pytest
from scipy import stats

from befrl.common.defaults import TRACKS
from helpers import INSTANCES, LOG, assert_optimal, optimal, play, random_episodes, trained, value_of
from helpers import light as instance
from pairs import cover

each_instance = pytest.mark.parametrize("name", INSTANCES)


@pytest.mark.parametrize(("name", "track"), [(name, list(TRACKS)[i % 2]) for i, name in enumerate(INSTANCES)])
def test_the_oracle_has_no_regret_but_that_of_policies_on_cells(name, track):
    problem = instance(name)
    log = play("oracle", problem, track, episodes=40)
    assert np.all(log["optimism"] == 0)
    assert log["regret"].min() > -1e-12
    if not problem.model.smooth:
        assert log["regret"].max() < 1e-12
    else:  # by the values on the anchors of the first cell: the mean of 120 starts lies between their extremes
        by_cell = problem.model.n_cells, -1
        lost = problem.optimum[1][0] - value_of(problem.optimal_policy, problem.R, problem.P)
        lost = lost.reshape(by_cell)[problem.start_masses.reshape(by_cell).sum(-1) > 0]
        assert lost.min() - 1e-9 <= log["regret"].mean() <= lost.max() + 1e-9


@each_instance
def test_random_has_the_regret_of_the_uniform_policy(name):
    problem = instance(name)
    C, A = problem.model.n_cells, problem.model.n_actions
    gap = problem.optimum[1][0] - value_of(np.full((problem.horizon, C, A), 1 / A), problem.R, problem.P)
    regret = play("random", problem, episodes=40)["regret"]
    starts = gap[problem.start_masses > 0]
    if not problem.model.smooth:
        assert np.all(np.abs(regret[..., None] - starts).min(-1) < 1e-12)
        assert regret.max() - regret.min() <= np.ptp(starts) + 1e-12
    else:
        # 120 starts of a law whose mean regret the anchors integrate: 4 standard errors, and what kinks of V* cost.
        mean = problem.optimal_value - problem.uniform_value
        assert regret.mean() == pytest.approx(mean, abs=4 * regret.std() / np.sqrt(regret.size) + 1e-5)


@each_instance
def test_random_takes_all_actions_equally_often_at_every_step(name):
    problem = instance(name)
    actions = np.concatenate([t.actions for t in random_episodes(problem, range(500), 4)])
    # Level 1e-5 for each of at most 40 steps on ten instances: 4e-3 of all roots would fail; the root is fixed.
    for step in actions.T:
        assert stats.chisquare(np.bincount(step, minlength=problem.model.n_actions)).pvalue > 1e-5
    assert abs(np.corrcoef(actions[:, 0], actions[:, -1])[0, 1]) < 5 / np.sqrt(len(actions))


@pytest.mark.parametrize(("name", "track", "eta"), cover(INSTANCES, TRACKS, [0.2, 1.0]))
def test_greedy_is_optimal_in_its_own_model_and_equals_agents_without_noise(name, track, eta):
    problem = instance(name)
    agent = trained("greedy", problem, track, episodes=6, eta=eta)
    plan, count = agent.plan(6), 5 if problem.model.smooth else 12
    for i in range(2):
        theta_r = problem.theta_r if track == "K" else agent.learner.theta_r[i]
        R = problem.model.mean_reward(theta_r[None])[0]
        Q, V = optimal(R, problem.model.kernel(agent.learner.theta_p[i][None])[0], problem.horizon)
        assert np.allclose(plan.values[i], V[0], rtol=0, atol=1e-10)
        assert_optimal(problem, plan.policy[i], Q)
        assert np.array_equal(plan.rewards[i], R)
    greedy = play("greedy", problem, track, episodes=count, eta=eta)
    for algorithm, values in (("bef-rlsvi", {"x": 0}), ("exp-psrl", {"scale": 0})):
        noiseless = play(algorithm, problem, track, episodes=count, eta=eta, **values)
        assert all(greedy[key].tobytes() == noiseless[key].tobytes() for key in LOG)
