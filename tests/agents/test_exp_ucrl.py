"""EXP-UCRL: radius, bonus and clipping against brute force."""

import math

import numpy as np
import pytest
from scipy import optimize

from befrl.interaction import LOGGED
from helpers import INSTANCES, derivative, full, full_U, instance, play, trained

# Two steps: the only bonus is that of the first step, on V_2 = max_a E[r].
TWO_STEPS = [("chain", {"bins": 3}), ("riverswim", {"states": 4}), ("dense", {})]


def direct_radius(agent, i, beta, multiple):
    problem, learner = agent.problem, agent.learner
    features, eta, delta = problem.model.features, agent.parameters.eta, agent.parameters.delta
    A = full(features.trace)
    G = np.zeros_like(A)
    for x, a in np.ndindex(learner.counts.shape[1:]):
        G += learner.counts[i, x, a] * full_U(features, x, a).T @ full_U(features, x, a)
    C = np.linalg.det(np.eye(len(A)) + beta / eta * np.linalg.inv(A) @ G)
    beta_n = eta / 2 * problem.constants["B_A"] ** 2 + math.log(2 * C / delta)
    return multiple * math.sqrt(2 * beta_n)


@pytest.mark.parametrize(("name", "values"), [(name, {}) for name in INSTANCES])
@pytest.mark.parametrize("scale", ["theory", 0.3])
def test_radius_by_the_determinant(name, values, scale):
    agent = trained("exp-ucrl", instance(name, **values), scale=scale, eta=0.6, delta=0.1)
    for beta in (0.05, 1.3):
        for i in range(2):
            expected = direct_radius(agent, i, beta, 1.0 if scale == "theory" else scale)
            assert agent.radius(beta)[i] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("name", "values"), TWO_STEPS)
def test_covariance_with_the_value_is_the_slope_of_its_expectation(name, values, rng):
    """U' Cov(psi, V) = d/dtheta E_theta V, by finite differences at every (cell, action)."""
    problem = instance(name, **values)
    model = problem.model
    theta = rng.uniform(-1, 1, model.d)
    V = rng.uniform(0, 2, model.n_cells)
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
    found = optimize.minimize(
        lambda d: -g @ d,
        start,
        jac=lambda d: -g,
        constraints={
            "type": "ineq",
            "fun": lambda d: (rho**2 - d @ H @ d) / rho**2,
            "jac": lambda d: -2 * H @ d / rho**2,
        },
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return -found.fun


@pytest.mark.parametrize(("name", "values"), TWO_STEPS)
@pytest.mark.parametrize("track", ["U", "K"])
def test_values_are_the_linearised_maximum_over_the_ellipsoid(name, values, track):
    problem = instance(name, horizon=2, **values)
    model, scale = problem.model, 0.05
    agent = trained("exp-ucrl", problem, track, seeds=(0,), episodes=12, scale=scale)
    plan, learner = agent.plan(12), agent.learner
    theta_p, H = learner.theta_p[0], full(learner.hessian_p[0])
    rho = direct_radius(agent, 0, problem.constants["beta_p"], scale)
    R = np.empty(problem.R.shape)
    for x, a in np.ndindex(R.shape):
        x_r = full_U(model.features, x, a).T @ model.B
        if track == "K":
            c = problem.theta_r @ x_r
        else:
            rho_r = direct_radius(agent, 0, problem.constants["beta_r"], scale)
            c = learner.theta_r[0] @ x_r + largest_on_ellipsoid(x_r, full(learner.hessian_r[0]), rho_r)
        R[x, a] = min(1.0, model.reward.mean(c)) if track == "U" else model.reward.mean(c)
    assert np.allclose(plan.rewards[0], R, rtol=0, atol=1e-6)
    V = np.clip(R, 0, 1).max(1)
    slope = derivative(lambda t: model.kernel(t[None])[0] @ V, theta_p)
    Q = R + model.kernel(theta_p[None])[0] @ V
    bonus = np.array([[largest_on_ellipsoid(g, H, rho) for g in row] for row in slope])
    assert bonus.max() > 1e-4  # a hundred times the tolerance
    best = np.clip(Q + bonus, 0, 2)
    assert np.allclose(plan.values[0], best.max(1), rtol=0, atol=1e-6)
    assert np.allclose(best[np.arange(len(best)), plan.policy[0, 0]], best.max(1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", INSTANCES)
def test_values_never_leave_their_range(name):
    problem = instance(name)
    for scale in ("theory", 1e6):
        agent = trained("exp-ucrl", problem, scale=scale)
        values = agent.plan(5).values
        assert np.all((values >= 0) & (values <= problem.horizon))
    assert np.all(agent.plan(5).rewards <= 1.0)


def test_a_huge_radius_promises_everything():
    values = trained("exp-ucrl", instance("chain"), scale=1e6).plan(5).values
    assert np.array_equal(values, np.full_like(values, 40.0))


@pytest.mark.parametrize("track", ["U", "K"])
def test_without_a_radius_it_is_greedy(track):
    """On the chain rewards lie in [0, 1], so that clipping has nothing to do."""
    greedy = play("greedy", instance("chain"), track, episodes=20)
    plain = play("exp-ucrl", instance("chain"), track, episodes=20, scale=0)
    for key in LOGGED:
        assert np.allclose(greedy[key], plain[key], rtol=0, atol=1e-12, equal_nan=True), key


@pytest.mark.parametrize("name", INSTANCES)
def test_a_larger_radius_promises_more(name):
    agents = [trained("exp-ucrl", instance(name), scale=scale) for scale in (0.0, 0.01, 0.1, 1.0)]
    values = np.stack([agent.plan(5).values for agent in agents])
    assert np.all(np.diff(values, axis=0) >= -1e-12)
