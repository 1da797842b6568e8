"""EXP-UCRL: radius, bonus and clipping against brute force."""

import math
from unittest import mock

import numpy as np
import pytest
from scipy import optimize

from befrl.numerics import linalg
from befrl.planning import optimism
from helpers import INSTANCES, LOG, assert_optimal, derivative, full, full_U, play, random_episodes, trained
from helpers import light as instance
from pairs import cover

# Two steps: the only bonus is that of the first step, on V_2 = max_a E[r].
TWO_STEPS = [("chain", {"bins": 3}), ("riverswim", {"states": 4}), ("dense", {}), ("waves", {})]


def direct_radius(agent, i, beta, multiple):
    problem, learner = agent.problem, agent.learner
    features, eta, delta = problem.model.features, agent.parameters.eta[i], agent.parameters.delta[i]
    A, G = full(features.trace), np.zeros((features.d, features.d))
    for x, a in np.ndindex(learner.data.counts.shape[1:]):
        G += learner.data.counts[i, x, a] * full_U(features, x, a).T @ full_U(features, x, a)
    C = np.linalg.det(np.eye(len(A)) + beta / eta * np.linalg.inv(A) @ G)
    return multiple * math.sqrt(eta * problem.constants["B_A"] ** 2 + 2 * math.log(2 * C / delta))


@pytest.mark.parametrize(("name", "scale"), [(name, ("theory", 0.3)[i % 2]) for i, name in enumerate(INSTANCES)])
def test_radius_by_the_determinant(name, scale):
    agent = trained("exp-ucrl", instance(name), scale=scale, eta=0.6, delta=0.1)
    for beta in (0.05, 1.3):
        for i in range(2):
            expected = direct_radius(agent, i, beta, 1.0 if scale == "theory" else scale)
            assert agent.radius(beta)[i] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("name", "values"), TWO_STEPS)
def test_covariance_with_the_value_is_the_slope_of_its_expectation(name, values, rng):
    """U' Cov(psi, V) = d/dtheta E_theta V, by finite differences at every (cell, action)."""
    model = instance(name, **values).model
    theta, V = rng.uniform(-1, 1, model.d), rng.uniform(0, 2, model.n_anchors)
    slope = derivative(lambda t: model.kernel(t[None])[0] @ V, theta)
    P, partial = (part[0] for part in model.family.kernel_and_partial_means(model.features.natural(theta[None])))
    for x, a in np.ndindex(P.shape[:2]):
        covariance = V @ partial[x, a] - (P[x, a] @ V) * partial[x, a].sum(0)
        assert np.allclose(full_U(model.features, x, a).T @ covariance, slope[x, a], rtol=0, atol=1e-9)


def largest_on_ellipsoid(g, H, rho):
    """max g . delta over delta' H delta <= rho^2, by a general optimiser."""
    if np.abs(g).max() < 1e-9:
        return 0.0
    start = rho * g / np.sqrt(g @ H @ g)
    ball = {"type": "ineq", "fun": lambda d: 1 - d @ H @ d / rho**2, "jac": lambda d: -2 * H @ d / rho**2}
    options = {"ftol": 1e-13, "maxiter": 500}
    return -optimize.minimize(lambda d: -g @ d, start, jac=lambda d: -g, constraints=ball, options=options).fun


@pytest.mark.parametrize(("name", "values"), TWO_STEPS)
@pytest.mark.parametrize("track", ["U", "K"])
def test_values_are_the_linearised_maximum_over_the_ellipsoid(name, values, track):
    problem = instance(name, horizon=2, **values)
    model, scale = problem.model, 0.05
    agent = trained("exp-ucrl", problem, track, seeds=(0,), episodes=12, scale=scale)
    plan, learner = agent.plan(12), agent.learner
    theta_p, H = learner.theta_p[0], full(learner.hessian_p[0])
    rho, rho_r = (direct_radius(agent, 0, problem.constants[beta], scale) for beta in ("beta_p", "beta_r"))
    R = np.empty(problem.R.shape)
    for x, a in np.ndindex(R.shape):
        x_r = full_U(model.features, x, a).T @ model.B
        if track == "K":
            R[x, a] = model.reward.mean(problem.theta_r @ x_r)
        else:
            c = learner.theta_r[0] @ x_r + largest_on_ellipsoid(x_r, full(learner.hessian_r[0]), rho_r)
            R[x, a] = min(1.0, model.reward.mean(c))
    assert np.allclose(plan.rewards[0], R, rtol=0, atol=1e-6)
    V = np.clip(R, 0, 1).max(1)
    slope = derivative(lambda t: model.kernel(t[None])[0] @ V, theta_p)
    bonus = np.array([[largest_on_ellipsoid(g, H, rho) for g in row] for row in slope])
    assert bonus.max() > 1e-4  # a hundred times the tolerance
    best = np.clip(R + model.kernel(theta_p[None])[0] @ V + bonus, 0, 2)
    assert np.allclose(plan.values[0], best.max(1), rtol=0, atol=1e-6)
    assert_optimal(problem, plan.policy[0, :1], best[None], atol=1e-6)


@pytest.mark.parametrize("track", ["U", "K"])
def test_extreme_radii_are_greedy_and_promise_everything(track):
    """On the chain rewards lie in [0, 1], so that clipping has nothing to do."""
    greedy = play("greedy", instance("chain"), track, episodes=10)
    plain = play("exp-ucrl", instance("chain"), track, episodes=10, scale=0)
    for key in LOG:
        assert np.allclose(greedy[key], plain[key], rtol=0, atol=1e-12, equal_nan=True), key
    values = trained("exp-ucrl", instance("chain"), track, scale=1e6).plan(5).values
    assert track == "K" or np.array_equal(values, np.full_like(values, 40.0))


@pytest.mark.parametrize("name", INSTANCES)
def test_a_radius_promises_more_than_none_within_the_range(name):
    """Between two radii there is no order: the local bonus |U' Cov(psi, V)| may be smaller for a larger V.

    Pinsker's bound promises more than the local one: |U' Cov(psi, V)|^2 <= lambda_max range^2/4 in M^-1.
    """
    problem, local, words = instance(name), [], ("local", "pinsker")
    for scale in (0.0, 0.01, 0.1, "theory", 1e6):
        plan, pinsker = (trained("exp-ucrl", problem, scale=scale, relaxation=word).plan(5) for word in words)
        local.append(plan.values)
        assert np.all(pinsker.values >= plan.values - 1e-9)
        assert np.all(plan.rewards <= 1.0)
    assert np.all(np.array(local) >= local[0] - 1e-12)
    assert np.all(local[0] >= 0) and np.all(np.array(local) <= problem.horizon)


@pytest.mark.parametrize(("name", "values"), TWO_STEPS)
def test_the_envelope_gradient_is_the_slope_of_the_best_value(name, values, rng):
    """Six steps, at a random theta, where the best policy does not change within the differences."""
    model = instance(name, horizon=6, **values).model
    theta, R = rng.uniform(-1, 1, model.d), rng.uniform(0, 1, (1, model.n_anchors, model.n_actions))
    start = rng.dirichlet(np.ones(model.n_anchors))[None]

    def best(t):
        return optimism.value_and_slope(model, t[None], R, 6, start)[0][0]

    slope = optimism.value_and_slope(model, theta[None], R, 6, start)[1][0]
    assert np.abs(slope).max() > 1e-2
    assert np.allclose(slope, derivative(best, theta), rtol=0, atol=1e-8)


@pytest.mark.parametrize(("name", "track"), [("chain", "U"), ("riverswim", "K"), ("waves", "U"), ("waves", "K")])
def test_the_order_of_the_relaxations(name, track):
    """At the first state models of a small ellipsoid promise less than the linearised maximum, up to O(rho^2)."""
    problem, promised = instance(name), {}
    for relaxation in ("gradient", "sample", "local"):
        agent = trained("exp-ucrl", problem, track, episodes=12, relaxation=relaxation, scale=0.01)
        start, R = agent.first_states.masses(), agent.optimistic_rewards()
        promised[relaxation] = (agent.plan(12).values * start).sum(-1)
    estimate = optimism.value_and_slope(problem.model, agent.learner.theta_p, R, problem.horizon, start)[0]
    assert np.all(promised["gradient"] > estimate)
    assert np.all(promised["gradient"] >= promised["sample"])
    assert np.all(promised["local"] >= promised["gradient"] - 0.05 * (promised["gradient"] - estimate))


@pytest.mark.parametrize("name", ["chain", "dense"])
def test_pinsker_at_two_steps(name):
    problem = instance(name, horizon=2)
    model, scale = problem.model, 0.05
    agent = trained("exp-ucrl", problem, "K", seeds=(0,), episodes=12, scale=scale, relaxation="pinsker")
    theta, H = agent.learner.theta_p, full(agent.learner.hessian_p[0])
    rho = direct_radius(agent, 0, problem.constants["beta_p"], scale)
    cov = model.family.moments(model.features.natural(theta))[2][0]
    Q = problem.R + model.kernel(theta)[0] @ np.clip(problem.R, 0, 1).max(1)
    for x, a in np.ndindex(Q.shape):
        U = full_U(model.features, x, a)
        Q[x, a] += rho / 2 * math.sqrt(np.linalg.eigvals(U @ np.linalg.inv(H) @ U.T @ cov[x, a]).real.max())
    assert np.allclose(agent.plan(12).values[0], np.clip(Q, 0, 2).max(1), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("name", "relaxation"), cover(["chain", "riverswim", "waves"], ["gradient", "sample"]))
def test_the_chosen_model_lies_in_the_ellipsoid(name, relaxation, drawn):
    agent = trained("exp-ucrl", instance(name), scale=0.1, relaxation=relaxation)
    plan, region = agent.plan(5), agent.region()
    theta = drawn["kernel"][-1]
    size = np.sqrt(linalg.quadratic(region.matrix, theta - region.centre)) / region.rho
    assert np.all(size <= 1 + 1e-9)
    if relaxation == "sample":
        assert np.allclose(size, 1.0)
    start = agent.first_states.masses()
    value = optimism.value_and_slope(agent.problem.model, theta, plan.rewards, agent.problem.horizon, start)[0]
    assert np.allclose((plan.values * start).sum(-1), value, rtol=0, atol=1e-10)


def test_ascent_finds_the_best_model():
    """d = 4: against 20,000 models in the outer part of the ellipsoid."""
    problem = instance("chain", bins=2, horizon=4)
    agent = trained("exp-ucrl", problem, "K", seeds=(0,), episodes=6, scale=0.1, relaxation="gradient")
    region, R, start = agent.region(), agent.optimistic_rewards(), agent.first_states.masses()
    found, rng = (agent.plan(6).values * start).sum(), np.random.default_rng(0)
    z = rng.standard_normal((20000, problem.model.d))
    z *= region.rho * rng.uniform(0.8, 1, (20000, 1)) / np.linalg.norm(z, axis=1, keepdims=True)
    thetas = region.centre + linalg.solve_transposed_factor(linalg.cholesky(region.matrix), z)
    values = optimism.value_and_slope(problem.model, thetas, np.repeat(R, len(z), axis=0), 4, start)[0]
    assert values.max() <= found + 1e-9
    assert found <= values.max() + 0.01 * abs(values.max())


def test_first_states_are_counted_by_cell():
    problem = instance("waves")
    space = problem.model.space
    seen = optimism.FirstStates(space, 2)
    assert np.allclose(seen.masses().reshape(2, space.n_cells, -1).sum(-1), 1 / space.n_cells)
    episodes = random_episodes(problem, (0, 1), 4)
    for episode in episodes:
        seen.add(episode)
    cells = np.stack([episode.cells[:, 0] for episode in episodes], axis=1)
    for i in range(2):
        shares = np.bincount(cells[i], minlength=space.n_cells) / 4
        assert np.allclose(seen.masses()[i], np.outer(shares, space.cell_shares).ravel(), rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["chain", "riverswim"])
def test_the_confidence_set_covers_the_truth_at_all_times(name):
    """sum KL(theta^, theta*) + eta/2 |theta^ - theta*|_A^2 <= beta_n in all of 25 episodes, for 95 % of 200 seeds.

    That is not void: a tenth of beta_n does not cover.
    """
    problem, ratios = instance(name, horizon=8), []
    model, agent = problem.model, trained("exp-ucrl", problem, seeds=range(200), episodes=0)
    truth = model.features.natural(problem.theta_p[None])
    for episode in random_episodes(problem, range(200), 25):
        agent.update(episode)
        theta, counts = agent.learner.theta_p, agent.learner.data.counts
        distance = (counts * model.family.kl(model.features.natural(theta), truth)).sum((1, 2))
        distance += 0.5 * linalg.quadratic(model.features.trace[None], theta - problem.theta_p)
        ratios.append(distance / (agent.radius(problem.constants["beta_p"]) ** 2 / 2))
    worst = np.max(ratios, axis=0)
    assert (worst <= 1.0).mean() >= 0.95
    assert (worst <= 0.1).mean() < 0.95


@pytest.mark.parametrize("relaxation", ["gradient", "sample"])
def test_the_number_of_plans_is_counted(relaxation, monkeypatch):
    agent = trained("exp-ucrl", instance("chain", bins=3), relaxation=relaxation, samples=7)
    counted = mock.Mock(wraps=optimism.bellman.backward_induction)
    monkeypatch.setattr(optimism.bellman, "backward_induction", counted)
    assert agent.plan(5).plans == counted.call_count > 1
