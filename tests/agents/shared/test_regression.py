"""The shared regression against one that visits the whole history, its noise, its features and its counts."""

import numpy as np
import pytest
from scipy import stats

from befrl import agents
from befrl.agents.shared import cells, regression
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import ROOT, assert_standard_normal, light, random_episodes, trained
from transcription import features, regress

PRESENTATIONS = ("one-hot", "random-features")
each_presentation = pytest.mark.parametrize("presentation", PRESENTATIONS)
each_share = pytest.mark.parametrize("share", ["none", "steps"])


def learned(problem, episodes=4, seeds=(0, 1), track="U", **values):
    """An agent with a regression, and the trajectories that it has seen."""
    agent = trained("lsvi-ucb", problem, track, seeds=seeds, episodes=episodes, frequencies=4, **values)
    return agent, random_episodes(problem, seeds, episodes)


@pytest.mark.parametrize("name", ["chain", "riverswim", "dense", "waves", "lds"])
@pytest.mark.parametrize("track", ["U", "K"])
@each_presentation
@each_share
def test_mean_and_width_are_those_of_the_whole_history(name, track, presentation, share):
    problem = light(name, horizon=5)
    agent, history = learned(problem, track=track, presentation=presentation, share=share, lam=0.7)
    V = np.random.default_rng(1).normal(size=(2, agent.regression.points))
    for h in (0, 3, 4):
        step = agent.regression.step(h, V)
        for i in range(2):
            Lambda, w = regress(agent, history, i, h, V[i])
            _, X = features(agent, i)
            known = 0.0 if track == "U" else agent.regression.R
            assert np.allclose(step.mean()[i], known + X @ w, rtol=0, atol=1e-9)
            widths = np.sqrt(np.einsum("xad,de,xae->xa", X, np.linalg.inv(Lambda), X))
            assert np.allclose(step.width()[i], widths, rtol=0, atol=1e-9)


def test_states_in_two_dimensions():
    problem = light("lds", dimension=2, horizon=2)
    agent, history = learned(problem, episodes=3, seeds=(0,), presentation="random-features")
    V = np.random.default_rng(1).normal(size=(1, agent.regression.points))
    _, w = regress(agent, history, 0, 1, V[0])
    X = agent.regression.X[0].reshape(-1, problem.model.n_actions, 8)
    assert np.allclose(agent.regression.step(1, V).mean()[0], X @ w, rtol=0, atol=1e-9)


@each_presentation
@each_share
@pytest.mark.parametrize("name", ["chain", "waves"])
def test_noise_has_the_inverse_of_lambda_for_covariance(name, presentation, share):
    """Weights xi with x'xi the noise: L'xi is standard normal (5 standard errors, 20,000 draws)."""
    problem = light(name, horizon=3)
    agent, history = learned(problem, seeds=(0,), presentation=presentation, share=share)
    _, X = features(agent, 0)
    Lambda, _ = regress(agent, history, 0, 1, np.zeros(len(X)))
    step = agent.regression.step(1, np.zeros((1, len(X))))
    draws = np.concatenate([step.noise() for _ in range(20_000)]).reshape(20_000, -1)
    xi = draws @ np.linalg.pinv(X.reshape(-1, X.shape[-1])).T
    assert np.allclose(xi @ X.reshape(-1, X.shape[-1]).T, draws)
    assert_standard_normal(xi @ np.linalg.cholesky(Lambda))


@each_presentation
@pytest.mark.parametrize("members", [1, 2, 7, 100])
def test_the_largest_of_many_draws_has_the_law_of_a_maximum(presentation, members):
    """Phi(noise/width)^M is uniform: Kolmogorov-Smirnov at the level 1e-6 for a few points."""
    problem = light("chain", horizon=3)
    agent, _ = learned(problem, seeds=(0,), presentation=presentation)
    step = agent.regression.step(0, np.zeros((1, 8)))
    draws = np.concatenate([step.noise(members) / step.width() for _ in range(5000)])
    for cell, a in ((0, 0), (0, 1), (5, 1)):
        assert stats.kstest(stats.norm.cdf(draws[:, cell, a]) ** members, "uniform").pvalue > 1e-6


def test_one_hot_noise_is_independent_between_points():
    problem = light("chain", horizon=2)
    agent, _ = learned(problem, seeds=(0,))
    step = agent.regression.step(0, np.zeros((1, 8)))
    draws = np.concatenate([step.noise(9) for _ in range(5000)]).reshape(5000, -1)
    correlation = np.corrcoef(draws.T) - np.eye(16)
    assert np.abs(correlation).max() < 5 / np.sqrt(5000)


@pytest.mark.parametrize("name", ["waves", "circle", "chain"])
def test_random_features_have_norm_one_and_approximate_the_gaussian_kernel(name):
    problem = light(name)
    values = {"presentation": "random-features", "frequencies": 2048, "bandwidth": 0.7, "share": "steps"}
    agent = loop.make_agent(
        RunSpec(problem, "test", "lsvi-ucb", agents.parameters("lsvi-ucb", values), 1, [0], "U", ROOT)
    )
    X = agent.regression.X[0]
    assert np.allclose(np.square(X).sum(-1), 1.0)
    model = problem.model
    phi = model.phi(model.space.nodes).reshape(len(X), -1) if model.smooth else np.eye(len(X))
    squares = np.square(phi[:, None] - phi).sum(-1)
    kernel = np.exp(-squares / (2 * 0.7**2 * squares.mean()))
    # A mean of 2048 cosines: at most 5 standard errors.
    assert np.abs(X @ X.T - kernel).max() < 5 * np.sqrt(0.5 / 2048)


@pytest.mark.parametrize("name", ["chain", "waves"])
def test_shared_statistics_are_the_sums_over_the_steps(name):
    problem = light(name, horizon=4)
    apart, _ = learned(problem, share="none")
    shared, _ = learned(problem, share="steps")
    for key in ("visits", "following", "rewards"):
        one, other = (getattr(agent.regression.counts, key) for agent in (apart, shared))
        assert one.shape[1] == 4
        assert other.shape[1] == 1
        assert np.allclose(one.sum(1), other[:, 0], rtol=0, atol=1e-12)
    apart, _ = learned(problem, share="none", presentation="random-features")
    shared, _ = learned(problem, share="steps", presentation="random-features")
    for key in ("W", "b"):
        one, other = (getattr(agent.regression, key) for agent in (apart, shared))
        assert np.allclose(one.sum(1), other[:, 0], rtol=0, atol=1e-12)
    Lambda, total = (np.linalg.inv(a.regression.F @ a.regression.F.swapaxes(-1, -2)) for a in (apart, shared))
    assert np.allclose(Lambda.sum(1) - 3 * np.eye(8), total[:, 0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("lam", [1e-6, 1.0, 1e6])
def test_the_square_root_does_not_drift(lam):
    """After 1000 samples F F' and the widths are those of Lambda, summed up and inverted once."""
    problem = light("waves")
    agent, history = learned(problem, episodes=200, seeds=(0,), presentation="random-features", share="steps", lam=lam)
    regression = agent.regression
    x = np.concatenate([regression.features(t)[0] for t in history])
    inverse = np.linalg.inv(lam * np.eye(8) + x.T @ x)
    assert np.allclose(regression.F[0, 0] @ regression.F[0, 0].T, inverse, rtol=1e-6, atol=1e-9 * np.abs(inverse).max())
    widths = np.sqrt(np.einsum("xd,de,xe->x", regression.X[0], inverse, regression.X[0]))
    V = np.zeros((1, regression.points))
    assert np.allclose(regression.step(0, V).width().ravel(), widths, rtol=1e-5, atol=0)


def test_counts_count():
    problem = light("riverswim", horizon=5)
    agent, history = learned(problem, share="none")
    counts = agent.regression.counts
    for i in range(2):
        visits = np.zeros((5, 6, 2, 6))
        for t in history:
            for h in range(5):
                visits[h, t.cells[i, h], t.actions[i, h], t.next_states[i, h]] += 1
        assert np.array_equal(counts.following[i], visits)
        assert np.array_equal(counts.visits[i], visits.sum(-1))


def test_known_rewards_of_cells_are_means_over_their_states():
    problem = light("lds")
    agent, _ = learned(problem, track="K", episodes=1)
    space = problem.model.space
    points, weights = np.polynomial.legendre.leggauss(20)
    for cell in (0, 7, 20):
        low, high = space.edges[0][cell : cell + 2]
        R, _ = problem.first_step(low + (high - low) * (points + 1) / 2)
        assert np.allclose(agent.regression.R[cell], weights @ R / 2, rtol=0, atol=1e-8)


def test_support_is_that_of_the_true_kernel():
    for name in ("riverswim", "chain", "waves"):
        problem = light(name)
        C = problem.model.n_cells
        P = problem.P.reshape(C, -1, problem.model.n_actions, C, problem.model.space.per_cell).sum((1, 4))
        assert np.array_equal(cells.support(problem.model), P > 0)


def test_what_is_exact():
    def fit(name, **values):
        return agents.specification(light(name).model, "rlsvi", agents.parameters("rlsvi", values))

    assert fit("chain") == fit("riverswim") == "exact"
    assert fit("waves") == fit("lds", presentation="random-features") == "misspecified"
    # 16 pairs (cell, action): 8 frequencies span all functions of them, 7 do not.
    assert fit("chain", presentation="random-features", frequencies=8) == "exact"
    assert fit("chain", presentation="random-features", frequencies=7) == "misspecified"
    assert regression.exact(light("jao").model, agents.parameters("rlsvi", {}))


def test_enough_random_features_and_no_penalty_are_one_hot_features():
    """Without a penalty both fit the visited (s,a) exactly: the same means there."""
    problem = light("chain", horizon=3)
    history = random_episodes(problem, (0,), 60)
    V = np.random.default_rng(2).normal(size=(1, 8))
    means = []
    for presentation in PRESENTATIONS:
        values = {"presentation": presentation, "frequencies": 40, "share": "steps", "lam": 1e-6}
        agent = loop.make_agent(
            RunSpec(problem, "test", "rlsvi", agents.parameters("rlsvi", values), 60, [0], "U", ROOT)
        )
        for t in history:
            agent.update(t)
        means.append(agent.regression.step(0, V).mean())
    seen = trained("rlsvi", problem, seeds=(0,), episodes=60, share="steps").regression.counts.visits[:, 0] > 0
    assert seen.sum() > 4
    assert np.allclose(means[0][seen], means[1][seen], rtol=0, atol=1e-3)
