"""The shared regression against one that visits the whole history, its noise, its features and its counts."""

import numpy as np
import pytest
from scipy import stats

from befrl.agents.shared import cells
from befrl.experiment import loop
from helpers import assert_standard_normal, light, random_episodes, spec, trained
from pairs import cover
from transcription import features, regress

PRESENTATIONS = ("one-hot", "random-features")
SHARES = ("none", "steps")


def learned(problem, episodes=4, seeds=(0, 1), track="U", **values):
    """A regression, its agent, and the trajectories that it has seen."""
    agent = trained("lsvi-ucb", problem, track, seeds=seeds, episodes=episodes, **{"frequencies": 4, **values})
    return agent.regression, agent, random_episodes(problem, seeds, episodes)


COVER = cover(["chain", "riverswim", "dense", "waves", "lds"], "UK", PRESENTATIONS, SHARES)


@pytest.mark.parametrize(("name", "track", "presentation", "share"), COVER)
def test_mean_and_width_are_those_of_the_whole_history(name, track, presentation, share):
    problem = light(name, horizon=5)
    regression, agent, history = learned(problem, track=track, presentation=presentation, share=share, lam=0.7)
    V = np.random.default_rng(1).normal(size=regression.shape[:2])
    for h in (0, 3, 4):
        mean, width = regression.mean(h, V), regression.width(h)
        for i in range(2):
            Lambda, w = regress(agent, history, i, h, V[i])
            _, X = features(agent, i)
            assert np.allclose(mean[i], X @ w + (0.0 if track == "U" else regression.R), rtol=0, atol=1e-9)
            widths = np.sqrt(np.einsum("xad,de,xae->xa", X, np.linalg.inv(Lambda), X))
            assert np.allclose(width[i], widths, rtol=0, atol=1e-9)


def test_states_in_two_dimensions():
    problem = light("lds", dimension=2, horizon=2)
    regression, agent, history = learned(problem, episodes=3, seeds=(0,), presentation="random-features")
    V = np.random.default_rng(1).normal(size=regression.shape[:2])
    _, w = regress(agent, history, 0, 1, V[0])
    assert np.allclose(regression.mean(1, V)[0].ravel(), regression.X[0] @ w, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("presentation", "share", "name"), cover(PRESENTATIONS, SHARES, ["chain", "waves"]))
def test_noise_has_the_inverse_of_lambda_for_covariance(name, presentation, share):
    """Weights xi with x'xi the noise: L'xi is standard normal (5 standard errors, 20,000 draws)."""
    regression, agent, history = learned(light(name, horizon=3), seeds=(0,), presentation=presentation, share=share)
    X = features(agent, 0)[1]
    Lambda, _ = regress(agent, history, 0, 1, np.zeros(len(X)))
    X = X.reshape(-1, X.shape[-1])
    draws = np.concatenate([regression.noise(1) for _ in range(20_000)]).reshape(20_000, -1)
    xi = draws @ np.linalg.pinv(X).T
    assert np.allclose(xi @ X.T, draws)
    assert_standard_normal(xi @ np.linalg.cholesky(Lambda))


@pytest.mark.parametrize("presentation", PRESENTATIONS)
@pytest.mark.parametrize("members", [1, 7])
def test_the_largest_of_many_draws_has_the_law_of_a_maximum(presentation, members):
    """Phi(noise/width)^M is uniform: Kolmogorov-Smirnov at the level 1e-6; one-hot points are independent."""
    regression, _, _ = learned(light("chain", horizon=3), seeds=(0,), presentation=presentation)
    draws = np.concatenate([regression.noise(0, np.array([members])) / regression.width(0) for _ in range(5000)])
    for cell, a in ((0, 0), (0, 1), (5, 1)):
        assert stats.kstest(stats.norm.cdf(draws[:, cell, a]) ** members, "uniform").pvalue > 1e-6
    if presentation == "one-hot":
        assert np.abs(np.corrcoef(draws.reshape(5000, -1).T) - np.eye(16)).max() < 5 / np.sqrt(5000)


@pytest.mark.parametrize("name", ["waves", "circle", "chain"])
def test_random_features_have_norm_one_and_approximate_the_gaussian_kernel(name):
    problem = light(name)
    values = {"presentation": "random-features", "frequencies": 1024, "bandwidth": 0.7, "share": "steps"}
    X = loop.make_agent(spec("lsvi-ucb", problem, seeds=[0], **values)).regression.X[0]
    assert np.allclose(np.square(X).sum(-1), 1.0)
    model = problem.model
    phi = model.phi(model.space.nodes).reshape(len(X), -1) if model.smooth else np.eye(len(X))
    squares = np.square(phi[:, None] - phi).sum(-1)
    # A mean of 1024 cosines: at most 5 standard errors.
    assert np.abs(X @ X.T - np.exp(-squares / (2 * 0.7**2 * squares.mean()))).max() < 5 * np.sqrt(0.5 / 1024)


@pytest.mark.parametrize("lam", [1e-6, 1.0, 1e6])
def test_the_square_root_does_not_drift(lam):
    """After 1000 samples F F' and the widths are those of Lambda, summed up and inverted once."""
    values = {"presentation": "random-features", "share": "steps", "lam": lam}
    regression, _, history = learned(light("waves"), episodes=200, seeds=(0,), **values)
    x = np.concatenate([regression.features(t)[0] for t in history])
    inverse = np.linalg.inv(lam * np.eye(8) + x.T @ x)
    assert np.allclose(regression.F[0, 0] @ regression.F[0, 0].T, inverse, rtol=1e-6, atol=1e-9 * np.abs(inverse).max())
    widths = np.sqrt(np.einsum("xd,de,xe->x", regression.X[0], inverse, regression.X[0]))
    assert np.allclose(regression.width(0).ravel(), widths, rtol=1e-5, atol=0)


@pytest.mark.parametrize(("name", "share"), [("riverswim", "none"), ("riverswim", "steps"), ("waves", "steps")])
def test_counts_are_the_visits_of_the_history_by_cell(name, share):
    problem = light(name, horizon=5)
    regression, _, history = learned(problem, share=share)
    counts, (_, C, A) = regression.counts, regression.shape
    for i in range(2):
        visits, rewards = np.zeros((5, C, A, C)), np.zeros((5, C, A))
        for t in history:
            places = np.arange(5), t.cells[i], t.actions[i]  # each step has its own
            visits[*places, problem.model.space.cell(t.next_states[i])] += 1
            rewards[places] += t.rewards[i]
        if share == "steps":
            visits, rewards = visits.sum(0, keepdims=True), rewards.sum(0, keepdims=True)
        assert np.array_equal(counts.following[i], visits)
        assert np.array_equal(counts.visits[i], visits.sum(-1))
        assert np.allclose(counts.rewards[i], rewards, rtol=0, atol=1e-12)


def test_known_rewards_of_cells_are_means_over_their_states():
    problem = light("lds")
    (regression, _, _), (points, weights) = learned(problem, 1, track="K"), np.polynomial.legendre.leggauss(20)
    for cell in (0, 7, 20):
        low, high = problem.model.space.edges[0][cell : cell + 2]
        R, _ = problem.first_step(low + (high - low) * (points + 1) / 2)
        assert np.allclose(regression.R[cell], weights @ R / 2, rtol=0, atol=1e-8)


def test_support_is_that_of_the_true_kernel():
    for name in ("riverswim", "chain", "waves"):
        problem = light(name)
        C = problem.model.n_cells
        P = problem.P.reshape(C, -1, problem.model.n_actions, C, problem.model.space.per_cell).sum((1, 4))
        assert np.array_equal(cells.support(problem.model), P > 0)


def test_enough_random_features_and_no_penalty_are_one_hot_features():
    """Without a penalty both fit the visited (s,a) exactly: the same means there."""
    problem, values = light("chain", horizon=3), {"frequencies": 40, "share": "steps", "lam": 1e-6}
    V = np.random.default_rng(2).normal(size=(1, 8))
    one_hot, waves = (learned(problem, 60, (0,), presentation=word, **values)[0] for word in PRESENTATIONS)
    seen = one_hot.counts.visits[:, 0] > 0
    assert seen.sum() > 4
    assert np.allclose(one_hot.mean(0, V)[seen], waves.mean(0, V)[seen], rtol=0, atol=1e-3)
