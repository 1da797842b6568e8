"""EXP-PSRL: the draws have the law of the posterior, and the plan is optimal in the drawn model."""

import numpy as np
import pytest

from befrl.learning import likelihood
from helpers import INSTANCES, LOG, Idle, assert_optimal, assert_standard_normal, full, optimal, play, trained
from helpers import light as instance
from pairs import cover


def posterior_draws(problem, seeds, plans, drawn, episodes=1, **values):
    """Draws of theta_p and theta_r, (draws, d) each, and the agent; all seeds have the data of the same episodes."""
    agent = trained("exp-psrl", problem, seeds=range(seeds), episodes=episodes, same_data=True, **values)
    agent.planner = Idle(agent.planner)
    drawn["mean_reward"].clear()
    for k in range(plans):
        agent.plan(k)
    return np.concatenate(agent.planner.thetas), np.concatenate(drawn["mean_reward"]), agent


def standardised(draws, theta, hessian, scale):
    v = 1.0 if scale == "theory" else scale
    return (draws - theta[0]) @ np.linalg.cholesky(full(hessian[0])) / v


@pytest.mark.parametrize(("name", "scale"), [(name, ("theory", 0.3)[i % 2]) for i, name in enumerate(INSTANCES)])
def test_draws_have_covariance_v2_times_the_inverse_hessian(name, scale, drawn):
    """All seeds have the same data, so that 50 seeds and 200 plans are 10,000 draws of one law."""
    p, r, agent = posterior_draws(instance(name), 50, 200, drawn, episodes=5, scale=scale)
    p = standardised(p, agent.learner.theta_p, agent.learner.hessian_p, scale)
    r = standardised(r, agent.learner.theta_r, agent.learner.hessian_r, scale)
    assert_standard_normal(p)
    assert_standard_normal(r)
    # Transitions and rewards are drawn independently of each other.
    assert np.abs(p.T @ r / len(p)).max() < 5.5 / np.sqrt(len(p))


@pytest.mark.parametrize(("name", "track"), cover(INSTANCES, "UK"))
def test_the_plan_is_optimal_in_the_drawn_model(name, track, drawn):
    problem = instance(name)
    plan = trained("exp-psrl", problem, track).plan(5)
    theta_p, theta_r = drawn["kernel"][-1], drawn["mean_reward"][-1]
    if track == "K":
        assert np.array_equal(theta_r, np.broadcast_to(problem.theta_r, theta_r.shape))
    for i in range(2):
        R, P = problem.model.mean_reward(theta_r[i][None])[0], problem.model.kernel(theta_p[i][None])[0]
        Q, V = optimal(R, P, problem.horizon)
        assert np.allclose(plan.values[i], V[0], rtol=0, atol=1e-10)
        assert_optimal(problem, plan.policy[i], Q)


def quadrature_moments(loss, agent, d):
    """Mean, variance and fourth moment of each parameter where the posterior is a product of one law for each."""
    data, model = agent.learner.data, agent.problem.model
    grid, moments = np.linspace(-40, 40, 8001), []
    for i in range(d):
        theta = np.zeros((len(grid), d))
        theta[:, i] = grid
        value = loss(model, data, agent.parameters.eta, theta, np.zeros(len(grid), dtype=int))[0]
        mass = np.exp(value.min() - value)
        mass /= mass.sum()
        mean = mass @ grid
        moments.append([mean, mass @ (grid - mean) ** 2, mass @ (grid - mean) ** 4])
    return np.array(moments).T


@pytest.mark.parametrize(("name", "horizon"), [("literal", 5), ("chain", 6)])
def test_langevin_draws_have_the_moments_of_the_exact_posterior(name, horizon, drawn):
    """One episode and a weak prior: skewed. Within 5 standard errors of 4000 draws; beyond 10 by Laplace's method."""
    problem, z_scores = instance(name, bins=2, horizon=horizon), {}
    for posterior in ("mala", "laplace"):
        p, r, agent = posterior_draws(problem, 400, 10, drawn, posterior=posterior, eta=0.1)
        worst = []
        for draws, loss in ((p, likelihood.transitions), (r, likelihood.rewards)):
            mean, variance, fourth = quadrature_moments(loss, agent, problem.model.d)
            m = len(draws)
            worst.append(np.abs(draws.mean(0) - mean) / np.sqrt(variance / m))
            worst.append(np.abs(draws.var(0) - variance) / np.sqrt((fourth - variance**2) / m))
        z_scores[posterior] = np.max(worst)
    assert z_scores["mala"] < 5
    assert z_scores["laplace"] > 10


@pytest.mark.parametrize("scale", ["theory", 0.3])
def test_langevin_draws_of_a_normal_posterior_are_normal(scale, drawn):
    """On lds the posterior is N(theta^, v^2 H^-1): the steps leave it as it is."""
    p, _, agent = posterior_draws(instance("lds", horizon=5), 400, 10, drawn, posterior="mala", steps=5, scale=scale)
    assert_standard_normal(standardised(p, agent.learner.theta_p, agent.learner.hessian_p, scale))


def test_langevin_without_spread_is_greedy():
    greedy = play("greedy", instance("chain"), episodes=6)
    plain = play("exp-psrl", instance("chain"), episodes=6, scale=0, posterior="mala")
    assert all(greedy[key].tobytes() == plain[key].tobytes() for key in LOG)
