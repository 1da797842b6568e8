"""RRL-MNL: its step against a general optimiser, its Gram matrix, its noise and its plan against brute force."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import optimize, stats

from befrl.agents.shared import mnl
from helpers import full, full_U, in_family, play, random_episodes, trained
from helpers import light as instance

FINITE = [("riverswim", {"states": 3, "horizon": 5}), ("dense", {}), ("jao", {"horizon": 5}), ("factored", {})]


def features_of(problem, s, a):
    """Reachable states of (s, a) and f(s, a, s') in R^d for each, (states, d)."""
    states = np.flatnonzero(np.isfinite(problem.model.family.base(s, a)))
    psi = problem.model.family.psi[states]
    return states, (psi - psi[0]) @ full_U(problem.model.features, s, a)


def single_steps(problem, episodes):
    """Trajectories of one step each, in the order in which they happened."""
    for t in random_episodes(problem, (0, 1), episodes):
        for h in range(problem.horizon):
            names = ("states", "cells", "actions", "rewards", "next_states")
            yield dataclasses.replace(t, **{name: getattr(t, name)[:, h : h + 1] for name in names})


def argmin_in_ball(gradient, matrix, start, trace, L):
    """argmin of |x - start|^2_matrix/2 + gradient . x over |x|_trace <= L, by a general optimiser."""
    free = start - np.linalg.solve(matrix, gradient)
    if free @ trace @ free <= L**2:
        return free, False
    found = optimize.minimize(
        lambda x: 0.5 * (x - start) @ matrix @ (x - start) + gradient @ x,
        start,
        jac=lambda x: matrix @ (x - start) + gradient,
        constraints={"type": "ineq", "fun": lambda x: L**2 - x @ trace @ x, "jac": lambda x: -2 * trace @ x},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x, True


@pytest.mark.parametrize(("name", "values"), FINITE)
def test_each_step_is_its_argmin_and_the_gram_matrix_grows(name, values):
    """A small penalty, so that some steps end on the ball's edge."""
    problem = instance(name, **values)
    lam, kappa = 0.05, 0.2
    agent = trained("rrl-mnl", problem, episodes=0, lam=lam, kappa=kappa)
    agent.reachable.L_theta = L = 1.5
    trace = full(problem.model.features.trace)
    A = [lam * trace for _ in range(2)]
    edges = 0
    for t in single_steps(problem, 3):
        before = agent.reachable.whole(agent.theta)
        agent.update(t)
        for i in range(2):
            s, a = t.cells[i, 0], t.actions[i, 0]
            states, f = features_of(problem, s, a)
            A[i] = A[i] + kappa / 2 * f.T @ f
            P = problem.model.kernel(before[i : i + 1])[0, s, a, states]
            gradient = (P - (states == t.next_states[i, 0])) @ f
            expected, on_edge = argmin_in_ball(gradient, A[i], before[i], trace, L)
            edges += on_edge
            assert np.allclose(agent.reachable.whole(agent.theta)[i], expected, rtol=0, atol=1e-5)
            assert np.allclose(in_family(agent.reachable, agent.A[i], lam), A[i], rtol=0, atol=1e-12)
    assert edges > 3


class Recorded:
    """A stream that keeps what it gave."""

    def __init__(self, stream):
        self.stream, self.given = stream, []

    def take(self, m):
        self.given.append(self.stream.take(m).copy())
        return self.given[-1]


@pytest.mark.parametrize("scale", [1e-4, "theory"])
def test_plan_by_loops_from_the_same_normals(scale):
    """On features that all share one block, where normals are those of xi itself."""
    problem = instance("dense")
    H, d = problem.horizon, problem.model.d
    given = {} if scale == "theory" else {"lam": 1.0, "kappa": 1 / 16}
    agent = trained("rrl-mnl", problem, "K", seeds=(0,), scale=scale, delta=0.1, **given)
    normals = Recorded(agent.problem.normals)
    agent.problem = dataclasses.replace(agent.problem, normals=normals)
    plan, r = agent.plan(5), agent.reachable
    kappa, lam = (r.kappa(), r.L_f**2) if scale == "theory" else (1 / 16, 1.0)
    M, t, size = math.ceil(1 - math.log(H) / math.log(stats.norm.cdf(1))), 5 * H + 1, r.L_f * r.L_theta
    alpha = math.sqrt(
        8 * d / kappa * math.log(1 + t * 4 * r.L_f**2 / (d * lam))
        + (32 * size / 3 + 16 / kappa) * math.log((1 + math.ceil(2 * math.log2(t * 4 * size))) * t**2 / 0.1)
        + 2 * math.sqrt(2)
        + 2 * lam * r.L_theta**2
    )
    sigma = (1 if scale == "theory" else scale) * H * alpha
    A, P = in_family(r, agent.A[0], lam), problem.model.kernel(r.whole(agent.theta))[0]
    L, V = np.linalg.cholesky(A), np.zeros(4)
    z = normals.given[0].reshape(d, M, H)
    for h in reversed(range(H)):
        xi = sigma * np.linalg.solve(L.T, z[..., h])
        Q = np.empty(problem.R.shape)
        for s, a in np.ndindex(Q.shape):
            _, f = features_of(problem, s, a)
            fhat = max(f, key=lambda x: x @ np.linalg.solve(A, x))
            Q[s, a] = min(problem.R[s, a] + P[s, a] @ V + max(fhat @ xi), H)
        V = Q.max(1)
        assert np.allclose(Q[np.arange(4), plan.policy[0, h]], V, rtol=0, atol=1e-8)
    assert np.allclose(plan.values[0], V, rtol=0, atol=1e-8)
    assert scale == "theory" or V.max() < H  # not all of it is cut


@pytest.mark.parametrize(("name", "values"), FINITE)
def test_noise_has_the_covariance_of_xi_along_all_features(name, values):
    """Of f' xi, xi ~ N(0, A^-1), over all (s, a, s'), within 5 standard errors; 20,000 draws.

    Where each (s, a) has its own block fewer normals are drawn than xi has components.
    """
    problem = instance(name, **values)
    agent = trained("rrl-mnl", problem, seeds=(0,))
    r, draws = agent.reachable, 20_000
    z = r.normals(agent.problem.normals, draws, 1, r.random)[:, 0, :, 0]
    noise = np.zeros((r.block.size, r.U, draws))
    noise[r.random] = np.einsum("ixr,imx->xrm", r.turned(agent.A)[:, 0, r.random], z)
    noise = noise.reshape(-1, draws)
    f = (r.contrast @ r.features.U).reshape(-1, r.features.m)
    whole = np.zeros((len(f), r.features.n_blocks, r.features.m))
    whole[np.arange(len(f)), np.repeat(r.features.block.ravel(), r.U)] = f
    whole = whole.reshape(len(f), -1)
    covariance = whole @ np.linalg.solve(in_family(r, agent.A[0], agent.lam[0]), whole.T)
    variances = np.diag(covariance)
    error = np.sqrt((np.outer(variances, variances) + covariance**2) / draws)
    assert np.all(np.abs(noise @ noise.T / draws - covariance) <= 5 * error + 1e-12)
    assert np.all(np.abs(noise.mean(1)) <= 5 * np.sqrt(variances / draws) + 1e-12)


def test_noise_of_own_blocks_is_the_maximum_of_normals():
    """One draw from Phi^M times the largest |f|_{A^-1}, independent for all (s, a), by Kolmogorov's distance."""
    problem = instance("riverswim", states=3, horizon=5)
    agent = trained("rrl-mnl", problem, seeds=(0,))
    r, A = agent.reachable, in_family(agent.reachable, agent.A[0], agent.lam[0])
    draws = np.concatenate([agent.noise(r.turned(agent.A)) for _ in range(2000)]).reshape(10_000, *problem.R.shape)
    for s, a in np.ndindex(problem.R.shape):
        width = max(math.sqrt(x @ np.linalg.solve(A, x)) for x in features_of(problem, s, a)[1])
        if width == 0:
            assert np.all(draws[:, s, a] == 0)
        else:
            distance = stats.kstest(draws[:, s, a] / width, lambda z: stats.norm.cdf(z) ** agent.samples).statistic
            assert distance < 2.5 / math.sqrt(len(draws))
    correlations = np.corrcoef(draws.reshape(len(draws), -1)[:, r.random].T)
    assert np.abs(correlations - np.eye(len(correlations))).max() < 5 / math.sqrt(len(draws))


@pytest.mark.parametrize(("H", "M"), [(1, 1), (10, 15), (20, 19)])
def test_number_of_samples(H, M):
    assert trained("rrl-mnl", instance("jao", horizon=H)).samples == M


def test_projection_is_idle_inside_the_ball():
    problem = instance("dense")
    reachable = mnl.Reachable(problem.model, problem.constants)
    theta = np.full((2, 1, 5), 1e-3)
    before = theta.copy()
    reachable.project(theta, lambda rows: pytest.fail("nothing to project"))
    assert np.array_equal(theta, before)


def test_theory_is_optimistic_often_enough():
    """Lemma 6: with probability Phi(-1)/2 = 0.079 at least; at theory's sigma nearly always."""
    optimism = play("rrl-mnl", instance("riverswim", states=3, horizon=6), "K", range(30), 15)["optimism"]
    assert np.mean(optimism >= -1e-9) >= 0.079
