"""EXP-PSRL: the draws have the law of the Laplace posterior."""

import numpy as np
import pytest

from befrl.interaction import LOGGED
from helpers import INSTANCES, assert_standard_normal, full, instance, optimal, play, trained


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("scale", ["theory", 0.3])
def test_draws_have_covariance_v2_times_the_inverse_hessian(name, scale, drawn):
    """All seeds have the same data, so that 500 seeds and 40 plans are 20,000 draws of one law."""
    problem = instance(name)
    agent = trained("exp-psrl", problem, seeds=range(500), same_data=True, scale=scale)
    for thetas in drawn.values():
        thetas.clear()
    for k in range(40):
        agent.plan(k)
    v = 1.0 if scale == "theory" else scale
    learner = agent.learner
    both = []
    for thetas, theta, hessian in (
        (drawn["kernel"], learner.theta_p, learner.hessian_p),
        (drawn["mean_reward"], learner.theta_r, learner.hessian_r),
    ):
        L = np.linalg.cholesky(full(hessian[0]))
        both.append((np.concatenate(thetas) - theta[0]) @ L / v)
        assert_standard_normal(both[-1])
    # Transitions and rewards are drawn independently of each other.
    cross = both[0].T @ both[1] / len(both[0])
    assert np.abs(cross).max() < 5.5 / np.sqrt(len(both[0]))


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("track", ["U", "K"])
def test_the_plan_is_optimal_in_the_drawn_model(name, track, drawn):
    problem = instance(name)
    agent = trained("exp-psrl", problem, track)
    plan = agent.plan(5)
    theta_p, theta_r = drawn["kernel"][-1], drawn["mean_reward"][-1]
    if track == "K":
        assert np.array_equal(theta_r, np.broadcast_to(problem.theta_r, theta_r.shape))
    for i in range(2):
        R, P = problem.model.mean_reward(theta_r[i][None])[0], problem.model.kernel(theta_p[i][None])[0]
        Q, V = optimal(R, P, problem.horizon)
        assert np.allclose(plan.values[i], V[0], rtol=0, atol=1e-10)
        chosen = np.take_along_axis(Q, plan.policy[i][..., None].astype(int), axis=-1)[..., 0]
        assert np.allclose(chosen, V[:-1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("track", ["U", "K"])
def test_without_spread_it_is_greedy(name, track):
    greedy = play("greedy", instance(name), track, episodes=20)
    plain = play("exp-psrl", instance(name), track, episodes=20, scale=0)
    assert all(greedy[key].tobytes() == plain[key].tobytes() for key in LOGGED)
