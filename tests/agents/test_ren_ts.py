"""Thompson sampling with Gaussian next states: posterior against ridge algebra, masses against integrals."""

import numpy as np
import pytest
from scipy.special import ndtr

from befrl.agents.ren_ts import normal_masses
from helpers import assert_optimal, assert_standard_normal, fine_rule, full, optimal, random_episodes, samples, trained
from helpers import instance as whole
from helpers import light as instance

CONTINUOUS = ("chain", "circle", "custom-sin", "lds", "literal", "trap-one", "trap-zero", "waves")


def regressors(problem, s, a):
    """f(s,a) of each sample, (samples, q): phi, or one-hot(cell, action)."""
    model = problem.model
    if model.smooth:
        return model.phi(s)[np.arange(len(a)), a]
    return np.eye(model.n_cells * model.n_actions)[model.space.cell(s) * model.n_actions + a]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_posterior_is_ridge_regression(name):
    problem = whole(name) if name == "custom-sin" else instance(name)
    agent, episodes = trained("ren-ts", problem, eta=0.7), random_episodes(problem, (0, 1), 5)
    tolerance = 1e-3 if problem.model.smooth else 1e-10
    for i in range(2):
        s, a, _, s_next = samples(episodes, i)
        f, y = regressors(problem, s, a), s_next - agent.centre[0]
        Lambda = f.T @ f + 0.7 * np.eye(f.shape[1])
        W = np.linalg.solve(Lambda, f.T @ y)
        assert np.allclose(full(agent.precision[i]), Lambda, rtol=tolerance, atol=tolerance * len(y))
        assert np.allclose(agent.W[i], W, rtol=tolerance, atol=tolerance)
        if name == "lds":
            assert agent.sigma[i] == problem.model.family.sigma
            continue
        # The penalised sum of squares at its minimum.
        rest = np.square(y - f @ W).sum() + 0.7 * W @ W
        variance = (agent.base_variance + rest) / (1 + len(y))
        assert agent.sigma[i] ** 2 == pytest.approx(variance, rel=max(tolerance, 1e-9))


@pytest.mark.parametrize("dimension", [1, 2])
def test_on_lds_it_has_the_posterior_of_exp_psrl(dimension):
    """theta = W/sigma: the same mean, and sigma^2 Lambda^-1 is sigma^2 H^-1. Two dimensions are two regressions."""
    problem = instance("lds", dimension=dimension, horizon=4)
    ren, psrl = (trained(name, problem, episodes=3) for name in ("ren-ts", "exp-psrl"))
    assert np.allclose(ren.W / problem.model.family.sigma, psrl.learner.theta_p, rtol=0, atol=1e-9)
    assert np.allclose(ren.precision, psrl.learner.hessian_p, rtol=1e-12)
    for i in range(2):
        s, a, _, s_next = samples(random_episodes(problem, (0, 1), 3), i)
        f = regressors(problem, s, a)
        W = np.linalg.solve(f.T @ f + np.eye(f.shape[1]), f.T @ s_next)
        assert np.allclose(ren.W[i].reshape(dimension, -1), W.T, rtol=0, atol=5e-3)


@pytest.mark.parametrize(("name", "scale"), [(name, ("theory", 0.3)[i % 2]) for i, name in enumerate(CONTINUOUS)])
def test_draws_have_the_covariance_of_the_posterior(name, scale):
    agent = trained("ren-ts", instance(name), seeds=range(50), same_data=True, scale=scale)
    draws = np.concatenate([agent.draw() for _ in range(400)])
    L, v = np.linalg.cholesky(full(agent.precision[0])), 1.0 if scale == "theory" else scale
    assert_standard_normal((draws - agent.W[0]) @ L / (v * agent.sigma[0]))


@pytest.mark.parametrize("dimension", [1, 2])
def test_masses_are_those_of_gaussian_states(dimension, rng):
    problem = instance("lds", dimension=dimension, horizon=4)
    model, sigma = problem.model, problem.model.family.sigma
    natural = model.features.natural(problem.theta_p + 0.1 * rng.standard_normal((2, model.d)))
    P = normal_masses(model.space, sigma * natural, np.full(2, sigma))
    assert np.allclose(P, model.family.kernel(natural), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["chain", "literal", "waves", "circle"])
def test_masses_are_those_of_the_normal_law_cut_to_the_box(name, rng):
    """Of each cell by an independent rule, and their means; means beyond the box too."""
    space = instance(name).model.space
    low, high = float(space.low[0]), float(space.high[0])
    mean, sigma = rng.uniform(low - 0.3, high + 0.3, (2, 3, 2, 1)), np.array([0.15, 0.6])
    P = normal_masses(space, mean, sigma)
    assert np.allclose(P.sum(-1), 1.0, rtol=0, atol=1e-13)
    nodes, weights = fine_rule(space)
    for i, x, a in np.ndindex(2, 3, 2):
        density = weights * np.exp(-0.5 * np.square((nodes - mean[i, x, a, 0]) / sigma[i]))
        expected = np.bincount(space.cell(nodes), density / density.sum(), space.n_cells)
        assert np.allclose(P[i, x, a].reshape(space.n_cells, -1).sum(-1), expected, rtol=0, atol=1e-9)


def test_masses_far_outside_the_box_lie_at_its_end():
    space = instance("chain").model.space

    def masses(mean, sigma):
        return normal_masses(space, np.full((1, 1, 1, 1), mean), np.array([sigma]))[0, 0, 0]

    for mean, end in ((1e6, -1), (-1e6, 0)):
        assert masses(mean, 0.01)[end] == pytest.approx(1.0) and np.all(np.isfinite(masses(mean, 0.01)))
    assert np.allclose(masses(0.5, 1e6), 1 / space.n_cells)
    tails = ndtr(-(space.edges + 0.5) / 0.1)
    assert np.allclose(masses(-0.5, 0.1), -np.diff(tails) / (tails[0] - tails[-1]), rtol=1e-9)


@pytest.mark.parametrize(("name", "track"), [(name, "UK"[i % 2]) for i, name in enumerate(CONTINUOUS)])
def test_the_plan_is_optimal_in_the_drawn_model(name, track, drawn, monkeypatch):
    problem = instance(name)
    agent = trained("ren-ts", problem, track)
    theta = agent.draw()
    monkeypatch.setattr(agent, "draw", lambda: theta)
    plan = agent.plan(5)
    if track == "K":
        assert np.array_equal(plan.rewards, np.broadcast_to(problem.R, plan.rewards.shape))
    P = normal_masses(problem.model.space, agent.means(theta), agent.sigma)
    for i in range(2):
        Q, V = optimal(plan.rewards[i], P[i], problem.horizon)
        assert np.allclose(plan.values[i], V[0], rtol=0, atol=1e-9)
        assert_optimal(problem, plan.policy[i], Q)


def test_rewards_are_drawn_from_their_posterior(drawn):
    problem = instance("chain")
    agent = trained("ren-ts", problem, seeds=range(50), same_data=True)
    drawn["mean_reward"].clear()
    for k in range(200):
        agent.plan(k)
    L = np.linalg.cholesky(full(agent.reward.hessian[0]))
    assert_standard_normal((np.concatenate(drawn["mean_reward"]) - agent.reward.theta[0]) @ L)
    reference = trained("exp-psrl", problem, seeds=(0,))
    assert np.allclose(agent.reward.theta[0], reference.learner.theta_r[0], rtol=0, atol=1e-10)
