"""EXP-PSRL: the draws have the law of the Laplace posterior."""

import numpy as np
import pytest

from befrl.learning import likelihood
from helpers import INSTANCES, LOG, Idle, assert_optimal, assert_standard_normal, full, optimal, play, trained
from helpers import light as instance


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("scale", ["theory", 0.3])
def test_draws_have_covariance_v2_times_the_inverse_hessian(name, scale, drawn):
    """All seeds have the same data, so that 50 seeds and 400 plans are 20,000 draws of one law."""
    problem = instance(name)
    agent = trained("exp-psrl", problem, seeds=range(50), same_data=True, scale=scale)
    drawn["mean_reward"].clear()
    agent.planner = Idle(agent.planner)
    for k in range(400):
        agent.plan(k)
    v = 1.0 if scale == "theory" else scale
    learner = agent.learner
    both = []
    for thetas, theta, hessian in (
        (agent.planner.thetas, learner.theta_p, learner.hessian_p),
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
        assert_optimal(problem, plan.policy[i], Q)


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("track", ["U", "K"])
def test_without_spread_it_is_greedy(name, track):
    problem = instance(name)
    count = 5 if problem.model.smooth else 20
    greedy = play("greedy", problem, track, episodes=count)
    plain = play("exp-psrl", problem, track, episodes=count, scale=0)
    assert all(greedy[key].tobytes() == plain[key].tobytes() for key in LOG)


def posterior_draws(problem, seeds, plans, drawn, **values):
    """Draws of theta_p and theta_r, (draws, d) each, and the agent; all seeds have the data of one short episode."""
    agent = trained("exp-psrl", problem, seeds=range(seeds), episodes=1, same_data=True, **values)
    agent.planner = Idle(agent.planner)
    drawn["mean_reward"].clear()
    for k in range(plans):
        agent.plan(k)
    return np.concatenate(agent.planner.thetas), np.concatenate(drawn["mean_reward"]), agent


def quadrature_moments(loss, agent, d):
    """Mean, variance and fourth moment of each parameter where the posterior is a product of one law for each."""
    data, model = agent.learner.data, agent.problem.model
    grid = np.linspace(-40, 40, 40001)
    rows = np.zeros(len(grid), dtype=int)
    moments = []
    for i in range(d):
        theta = np.zeros((len(grid), d))
        theta[:, i] = grid
        value = loss(model, data, agent.parameters.eta, theta, rows)[0]
        mass = np.exp(value.min() - value)
        mass /= mass.sum()
        mean = mass @ grid
        moments.append([mean, mass @ (grid - mean) ** 2, mass @ (grid - mean) ** 4])
    return np.array(moments).T


@pytest.mark.parametrize(
    ("name", "values"), [("literal", {"bins": 2, "horizon": 5}), ("chain", {"bins": 2, "horizon": 6})]
)
def test_langevin_draws_have_the_moments_of_the_exact_posterior(name, values, drawn):
    """One episode and a weak prior: skewed. Means and variances within 5 standard errors of 4000 draws.

    The Laplace approximation is further away than that, by the same yardstick.
    """
    problem = instance(name, **values)
    d = problem.model.d
    z_scores = {}
    for posterior in ("mala", "laplace"):
        p, r, agent = posterior_draws(problem, 400, 10, drawn, posterior=posterior, eta=0.1)
        worst = []
        for draws, loss in ((p, likelihood.transitions), (r, likelihood.rewards)):
            mean, variance, fourth = quadrature_moments(loss, agent, d)
            m = len(draws)
            worst.append(np.abs(draws.mean(0) - mean) / np.sqrt(variance / m))
            worst.append(np.abs(draws.var(0) - variance) / np.sqrt((fourth - variance**2) / m))
        z_scores[posterior] = np.max(worst)
    assert z_scores["mala"] < 5
    assert z_scores["laplace"] > 10


@pytest.mark.parametrize("scale", ["theory", 0.3])
def test_langevin_draws_of_a_normal_posterior_are_normal(scale, drawn):
    """On lds the posterior is N(theta^, v^2 H^-1): the steps leave it as it is."""
    p, _, agent = posterior_draws(instance("lds", horizon=5), 100, 40, drawn, posterior="mala", steps=5, scale=scale)
    v = 1.0 if scale == "theory" else scale
    L = np.linalg.cholesky(full(agent.learner.hessian_p[0]))
    assert_standard_normal((p - agent.learner.theta_p[0]) @ L / v)


def test_langevin_without_spread_is_greedy():
    problem = instance("chain")
    greedy = play("greedy", problem, episodes=6)
    plain = play("exp-psrl", problem, episodes=6, scale=0, posterior="mala")
    assert all(greedy[key].tobytes() == plain[key].tobytes() for key in LOG)


@pytest.mark.parametrize("name", ["chain", "riverswim", "circle"])
def test_langevin_seeds_have_the_same_bytes_alone(name):
    together = play("exp-psrl", instance(name), seeds=(0, 1, 2), episodes=4, posterior="mala")
    alone = play("exp-psrl", instance(name), seeds=(1,), episodes=4, posterior="mala")
    assert all(together[key][1:2].tobytes() == alone[key].tobytes() for key in LOG)
