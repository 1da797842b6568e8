"""Oracle, uniformly random and greedy agents."""

import numpy as np
import pytest
from scipy import stats

from befrl.interaction import LOGGED, TRACKS
from helpers import INSTANCES, instance, optimal, play, random_episodes, trained, value_of

each_instance = pytest.mark.parametrize("name", INSTANCES)


@each_instance
@pytest.mark.parametrize("track", TRACKS)
def test_the_oracle_has_no_regret(name, track):
    log = play("oracle", instance(name), track, episodes=40)
    assert np.all(np.abs(log["regret"]) < 1e-12)
    assert np.all(log["optimism"] == 0)


@each_instance
def test_random_has_the_regret_of_the_uniform_policy(name):
    problem = instance(name)
    N, A = problem.R.shape
    gap = problem.optimum[1][0] - value_of(np.full((problem.horizon, N, A), 1 / A), problem.R, problem.P)
    regret = play("random", problem, episodes=40)["regret"]
    starts = gap[problem.start_masses > 0]
    assert np.all(np.abs(regret[..., None] - starts).min(-1) < 1e-12)
    assert regret.max() - regret.min() <= np.ptp(starts) + 1e-12


@each_instance
def test_random_takes_all_actions_equally_often_at_every_step(name):
    problem = instance(name)
    A = problem.model.n_actions
    actions = np.concatenate([t.actions for t in random_episodes(problem, range(50), 40)])
    # Level 1e-5 for each of at most 40 steps on three instances: 1e-3 of all roots would fail; the root is fixed.
    for step in actions.T:
        assert stats.chisquare(np.bincount(step, minlength=A)).pvalue > 1e-5
    assert abs(np.corrcoef(actions[:, 0], actions[:, -1])[0, 1]) < 5 / np.sqrt(len(actions))


@each_instance
@pytest.mark.parametrize("track", TRACKS)
def test_greedy_is_optimal_in_its_own_model(name, track):
    problem = instance(name)
    agent = trained("greedy", problem, track, episodes=6)
    plan = agent.plan(6)
    for i in range(2):
        theta_r = problem.theta_r if track == "K" else agent.learner.theta_r[i]
        R = problem.model.mean_reward(theta_r[None])[0]
        P = problem.model.kernel(agent.learner.theta_p[i][None])[0]
        Q, V = optimal(R, P, problem.horizon)
        assert np.allclose(plan.values[i], V[0], rtol=0, atol=1e-10)
        chosen = np.take_along_axis(Q, plan.policy[i][..., None].astype(int), axis=-1)[..., 0]
        assert np.allclose(chosen, V[:-1], rtol=0, atol=1e-10)
        assert np.array_equal(plan.rewards[i], R)


@each_instance
@pytest.mark.parametrize("track", TRACKS)
@pytest.mark.parametrize("eta", [0.2, 1.0])
def test_rlsvi_without_noise_is_greedy(name, track, eta):
    greedy = play("greedy", instance(name), track, episodes=35, eta=eta)
    noiseless = play("bef-rlsvi", instance(name), track, episodes=35, eta=eta, x=0)
    assert all(greedy[key].tobytes() == noiseless[key].tobytes() for key in LOGGED)
