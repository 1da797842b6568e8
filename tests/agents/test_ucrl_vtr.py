"""UCRL-VTR: regression, radius and plan against brute force over the history; coverage of its confidence set."""

import math

import numpy as np
import pytest

from befrl.agents import ucrl_vtr
from befrl.agents.ucrl_vtr import DECIMALS
from befrl.experiment import loop
from helpers import INSTANCES, ROOT, full, full_U, matrices_at, optimal, play, spec
from helpers import light as instance
from pairs import cover

SMALL = [("riverswim", {"states": 3, "horizon": 5}), ("chain", {"bins": 3, "horizon": 5}), ("jao", {"horizon": 4})]


def history(problem, episodes, seeds=(0, 1), track="K", **values):
    """An agent after some episodes of its own, with the values and the trajectory of each."""
    agent = loop.make_agent(spec("ucrl-vtr", problem, track, list(seeds), episodes, **values))
    environment, past = loop.Environment(problem, ROOT, "test", list(seeds)), []
    for k in range(episodes):
        plan = agent.plan(k)
        past.append((agent.V, environment.rollout(agent, plan.policy), getattr(agent.mixture, "theta", None)))
        agent.update(past[-1][1])
    return agent, past


def one_hot_regression(problem, past, i, lam):
    """M and w by loops over all visits, with X in R^d, d = C^2 A."""
    space, A = problem.model.space, problem.model.n_actions
    C = space.n_cells
    M, w = lam * np.eye(C * A * C), np.zeros(C * A * C)
    for V, t, _ in past:
        for h in range(problem.horizon):
            X = np.zeros((C, A, C))
            X[t.cells[i, h], t.actions[i, h]] = V[i, h + 1]
            M += np.outer(X, X)
            w += V[i, h + 1, space.cell(t.next_states[i, h])] * X.ravel()
    return M, w


@pytest.mark.parametrize(("name", "values"), [*SMALL, ("waves", {})])
@pytest.mark.parametrize("lam", [1.0, 0.3])
def test_design_weights_and_radius_by_loops_over_the_history(name, values, lam):
    problem = instance(name, **values)
    H, C, A = problem.horizon, problem.model.n_cells, problem.model.n_actions
    agent, past = history(problem, 12, scale=0.2, lam=lam, delta=0.03)
    agent.mixture.prepare()
    for i in range(2):
        M, w = one_hot_regression(problem, past, i, lam)
        assert np.allclose(full(agent.mixture.inverse[i].reshape(-1, C, C)) @ M, np.eye(len(M)), rtol=0, atol=1e-9)
        assert np.allclose(agent.mixture.theta[i].ravel(), np.linalg.solve(M, w), rtol=0, atol=1e-9)
        noise = math.sqrt(2 * math.log(1 / 0.03) + np.linalg.slogdet(M)[1] - len(M) * math.log(lam))
        for h in range(H):
            beta = math.sqrt(lam) * math.sqrt(C * A) + (H - h) / 2 * noise
            assert agent.radius()[i, h] == pytest.approx(0.2 * beta, rel=1e-9)


def test_rank_one_updates_stay_accurate():
    problem = instance("riverswim", states=4, horizon=12)
    agent, past = history(problem, 150, seeds=(0,), scale=0.05)
    M, _ = one_hot_regression(problem, past, 0, 1.0)
    assert np.linalg.cond(M) > 1e3
    assert np.allclose(full(agent.mixture.inverse[0].reshape(8, 4, 4)) @ M, np.eye(len(M)), rtol=0, atol=1e-8)


@pytest.mark.parametrize(("name", "values"), SMALL)
@pytest.mark.parametrize("clip", ["H", "H-h"])
def test_plan_by_loops(name, values, clip):
    problem = instance(name, **values)
    H, C, A = problem.horizon, problem.model.n_cells, problem.model.n_actions
    agent, past = history(problem, 10, seeds=(0,), scale=0.05, clip=clip)
    plan = agent.plan(10)
    M, w = one_hot_regression(problem, past, 0, 1.0)
    theta, inverse, beta = np.linalg.solve(M, w), np.linalg.inv(M), agent.radius()[0]
    V, Q = np.zeros(C), np.empty((C, A))
    for h in reversed(range(H)):
        for s, a in np.ndindex(C, A):
            X = np.zeros((C, A, C))
            X[s, a] = V
            X = X.ravel()
            value = problem.R[s, a] + X @ theta + beta[h] * math.sqrt(X @ inverse @ X)
            Q[s, a] = round(min(max(value, 0.0), H if clip == "H" else H - h), DECIMALS)
        V = Q.max(1)
        assert np.allclose(Q[np.arange(C), plan.policy[0, h]], V, rtol=0, atol=1e-9)
    assert np.allclose(plan.values[0], V, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("name", "tolerance"), [("dense", 1e-10), ("riverswim", 1e-10), ("waves", 1e-5)])
def test_linearised_regression_by_loops(name, tolerance):
    """X = U' Cov_theta0(psi, V) at the visited states themselves, where interpolation has its error."""
    problem = instance(name)
    model, i = problem.model, 1
    features, family = model.features, model.family
    agent, past = history(problem, 8, scale=0.1, lam=0.7, presentation="linearised")
    A = full(features.trace)
    M, w = 0.7 * A, np.zeros(model.d)
    for V, t, theta0 in past:
        U = matrices_at(problem, t.states[i], t.actions[i])
        for h in range(problem.horizon):
            eta = (U[h] @ theta0[i])[None, None, None]
            # Structural zeros belong to (s,a).
            law = family if model.smooth else family.restricted(t.cells[i, h], t.actions[i, h])
            mass, values = law.masses(eta)[0][0, 0, 0], V[i, h + 1][model.space.node_anchor]
            mean = mass @ values
            X = U[h].T @ (family.psi.T @ (mass * values) - mean * (family.psi.T @ mass))
            following = t.next_states[i, h]
            near = V[i, h + 1].reshape(model.n_cells, -1)[model.space.cell(following)]
            y = near @ model.space.interpolation(following) if model.smooth else near[0]
            M += np.outer(X, X)
            w += (y - mean + X @ theta0[i]) * X
    assert np.allclose(full(agent.mixture.M[i]), M, rtol=0, atol=tolerance * np.abs(M).max())
    assert np.allclose(agent.mixture.w[i], w, rtol=0, atol=tolerance * max(1.0, np.abs(w).max()))
    agent.mixture.prepare()
    expected = np.linalg.slogdet(M)[1] - np.linalg.slogdet(0.7 * A)[1]
    assert agent.mixture.log_det_ratio[i] == pytest.approx(expected, abs=1e-4)


def test_linearised_bonus_is_the_norm_of_the_slope():
    problem = instance("dense", horizon=2)
    model, psi = problem.model, problem.model.family.psi
    agent, _ = history(problem, 6, seeds=(0,), scale=0.1, presentation="linearised")
    plan = agent.plan(6)
    inverse, beta = np.linalg.inv(full(agent.mixture.M[0])), agent.radius()[0]
    V, P = np.round(np.clip(problem.R, 0, 2), DECIMALS).max(1), model.kernel(agent.mixture.theta[:1])[0]
    Q = np.empty(problem.R.shape)
    for s, a in np.ndindex(Q.shape):
        X = full_U(model.features, s, a).T @ (psi.T @ (P[s, a] * V) - (P[s, a] @ V) * (psi.T @ P[s, a]))
        Q[s, a] = np.clip(problem.R[s, a] + P[s, a] @ V + beta[0] * math.sqrt(X @ inverse @ X), 0, 2)
    assert np.allclose(plan.values[0], np.round(Q, DECIMALS).max(1), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("name", "values"), SMALL)
def test_confidence_set_covers_and_theory_is_optimistic(name, values):
    """|theta* - theta_hat|_M <= beta_1 at all episodes for 1 - delta of the seeds; delta = 0.1, 120 seeds."""
    problem, seeds = instance(name, **values), range(120)
    agent = loop.make_agent(spec("ucrl-vtr", problem, "K", seeds, 25, scale=0.05, delta=0.1))
    environment = loop.Environment(problem, ROOT, "test", list(seeds))
    covered = np.ones(len(seeds), dtype=bool)
    for k in range(25):
        plan, error = agent.plan(k), agent.mixture.theta - problem.P
        M = np.linalg.inv(agent.mixture.inverse)
        size = np.sqrt(((M @ error[..., None])[..., 0] * error).sum((1, 2, 3)))
        covered &= size <= agent.radius()[:, 0] / 0.05
        agent.update(environment.rollout(agent, plan.policy))
    assert covered.mean() >= 0.9
    optimism = play("ucrl-vtr", problem, "K", range(20), 25, delta=0.1)["optimism"]
    assert np.mean((optimism >= -1e-9).all(1)) >= 0.9


@pytest.mark.parametrize(("name", "presentation", "clip"), cover(INSTANCES, ["one-hot", "linearised"], ["H", "H-h"]))
def test_values_never_leave_their_range(name, presentation, clip):
    problem = instance(name)
    agent, _ = history(problem, 3, track="U", scale=1e6, presentation=presentation, clip=clip)
    plan = agent.plan(3)
    assert np.all((plan.values >= 0) & (plan.values <= problem.horizon))
    assert np.all(agent.V[:, -2] <= (1.0 if clip == "H-h" else problem.horizon))


def test_without_a_radius_the_linearised_plan_is_that_of_its_estimate():
    problem = instance("riverswim", states=4, horizon=6)
    agent, _ = history(problem, 10, scale=0, presentation="linearised")
    plan, P = agent.plan(10), problem.model.kernel(agent.mixture.theta)
    for i in range(2):
        assert np.allclose(plan.values[i], optimal(problem.R, P[i], 6)[1][0], rtol=0, atol=6 * 10**-DECIMALS)


@pytest.mark.parametrize(("decimals", "same"), [(DECIMALS, True), (15, False)])
def test_rounding_of_values_keeps_rounding_errors_from_the_actions(decimals, same, monkeypatch):
    """Relative errors of 1e-15, as between processors, in what is maximised; a small lam amplifies them."""
    problem, rng = instance("chain", bins=8, horizon=40), np.random.default_rng(0)
    monkeypatch.setattr(ucrl_vtr, "DECIMALS", decimals)
    usual = history(problem, 30, scale=5e-4, lam=0.03)[1]
    step = ucrl_vtr.OneHot.step

    def disturbed(mixture, V):
        mean, norm = step(mixture, V)
        return mean * (1 + rng.uniform(-1e-15, 1e-15, mean.shape)), norm

    monkeypatch.setattr(ucrl_vtr.OneHot, "step", disturbed)
    found = history(problem, 30, scale=5e-4, lam=0.03)[1]
    assert same == all((a[1].actions == b[1].actions).all() for a, b in zip(usual, found, strict=True))
