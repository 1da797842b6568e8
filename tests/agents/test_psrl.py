"""PSRL: the draws have the posterior's law, and the plan is optimal in the drawn MDP."""

import numpy as np
import pytest
from scipy import stats

from befrl.agents.shared.posterior import log_gamma_draws
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import ROOT, assert_optimal, light, random_episodes, trained
from pairs import cover

each_share = pytest.mark.parametrize("share", ["steps", "none"])


@pytest.mark.parametrize("shape", [1e-3, 0.5, 1.0, 7.3, 1e4])
def test_gamma_draws(shape):
    """Kolmogorov-Smirnov on the logarithms at the level 1e-6, beside a row of another shape; each row as if alone."""
    shapes = np.repeat([[shape], [2.0]], 20_000, axis=1)
    draws = log_gamma_draws(shapes, [np.random.default_rng(seed) for seed in (0, 1)])
    for row, each in enumerate((shape, 2.0)):
        assert stats.kstest(draws[row], stats.loggamma(each).cdf).pvalue > 1e-6
        assert draws[row].tobytes() == log_gamma_draws(shapes[[row]], [np.random.default_rng(row)]).tobytes()


def test_gamma_and_exponential_draws_of_a_row_follow_each_other():
    """Gamma(a) = Gamma(a + 1) U^(1/a) with a U of its own: no number of the generator is used twice."""
    shapes, one = np.array([[0.4, 1.0, 7.3, 2.0]]), np.random.default_rng(3)
    by_hand = np.log(one.standard_gamma(shapes[0] + 1)) - one.standard_exponential(4) / shapes[0]
    assert np.array_equal(log_gamma_draws(shapes, [np.random.default_rng(3)])[0], by_hand)


COVER = cover(["chain", "riverswim", "waves"], ["theory", 0.5], ["steps", "none"])


@pytest.mark.parametrize(("name", "scale", "share"), COVER)
def test_kernels_have_the_dirichlet_s_moments(name, scale, share):
    """alpha = (1 + N)/v^2 on the support: means alpha/sum, variances m (1 - m)/(1 + sum), 6 standard errors."""
    problem = light(name, horizon=3)
    agent = trained("psrl", problem, seeds=range(50), same_data=True, scale=scale, share=share)
    draws = np.concatenate([agent.kernel()[:, -1] for _ in range(100)])
    N, _ = statistics(problem, share)
    allowed = problem.P > 0 if name == "riverswim" else 1.0  # a swimmer gets to the next state at most
    alpha = allowed * (1 + N) / (1.0 if scale == "theory" else 0.25)
    total = alpha.sum(-1, keepdims=True)
    mean, count = alpha / total, len(draws)
    variance = mean * (1 - mean) / (1 + total)
    assert np.all(np.abs(draws.mean(0) - mean) <= 6 * np.sqrt(variance / count) + 1e-15)
    # The variance of a squared deviation is at most that of the deviation, all being below 1.
    assert np.all(np.abs(draws.var(0) - variance) <= 6 * np.sqrt(variance / count) + 1e-15)
    assert np.allclose(draws.sum(-1), 1.0)


def statistics(problem, share):
    """Visits (C, A, C) and sums of rewards (C, A) of the first seed's five episodes; of the last step, or of all."""
    C, A, cell = problem.model.n_cells, problem.model.n_actions, problem.model.space.cell
    N, total = np.zeros((C, A, C)), np.zeros((C, A))
    for t in random_episodes(problem, (0,), 5):
        for h in range(problem.horizon) if share == "steps" else [problem.horizon - 1]:
            N[t.cells[0, h], t.actions[0, h], cell(t.next_states[0])[h]] += 1
            total[t.cells[0, h], t.actions[0, h]] += t.rewards[0, h]
    return N, total


@each_share
def test_without_noise_there_are_the_posterior_means(share):
    """v = 0, beside a row with v = 1 that learns from the same episodes."""
    problem = light("riverswim", horizon=3)
    settings = [{"scale": scale, "share": share, "alpha_0": 0.4, "mu_0": 0.3} for scale in (0, 1)]
    agent = loop.make_agent(RunSpec.of(problem, "test", "psrl", settings, 5, [0], root_seed=ROOT))
    for t in random_episodes(problem, (0, 0), 5):
        agent.update(t)
    P, R = agent.kernel()[:, -1], agent.rewards()[:, -1]
    N, total = statistics(problem, share)
    weights = np.where(problem.P > 0, 0.4 + N, 0.0)
    assert np.allclose(P[0], weights / weights.sum(-1, keepdims=True), rtol=0, atol=1e-15)
    assert np.allclose(R[0], (0.3 + total) / (1 + N.sum(-1)), rtol=0, atol=1e-15)
    assert np.all(np.abs(P[1] - P[0]).max(-1)[(problem.P > 0).sum(-1) > 1] > 0)
    assert np.all(R[1] != R[0])


def test_the_mask_is_the_known_support():
    problem = light("riverswim")
    agent = trained("psrl", problem)
    assert np.all(agent.kernel()[..., problem.P == 0] == 0)
    assert np.all(agent.kernel()[..., problem.P > 0] > 0)
    assert np.all(trained("psrl", problem, mask="ignored").kernel() > 0)
    assert agent.facts()["share_of_next_states_allowed"] == (problem.P > 0).mean()


@each_share
def test_rewards_have_the_normal_posterior(share):
    """Standardised by hand: 20,000 draws, 5 standard errors for mean and variance."""
    problem, values = light("chain", horizon=3), {"mu_0": 0.3, "tau_0": 2.0, "tau": 5.0, "scale": 0.7}
    agent = trained("psrl", problem, seeds=range(50), same_data=True, share=share, **values)
    draws = np.concatenate([agent.rewards()[:, -1] for _ in range(400)])
    N, total = statistics(problem, share)
    precision = 2.0 + 5.0 * N.sum(-1)
    z = (draws - (2.0 * 0.3 + 5.0 * total) / precision) * np.sqrt(precision) / 0.7
    assert np.abs(z.mean(0)).max() < 5 / np.sqrt(len(z))
    assert np.abs(z.var(0) - 1).max() < 5 * np.sqrt(2 / len(z))


@pytest.mark.parametrize(("track", "share"), [("U", "steps"), ("K", "none"), ("U", "none")])
def test_the_plan_is_optimal_in_the_drawn_mdp(track, share, monkeypatch):
    problem = light("riverswim", horizon=5)
    agent = trained("psrl", problem, track, share=share)
    P, R = agent.kernel(), agent.rewards()
    monkeypatch.setattr(agent, "kernel", lambda: P)
    monkeypatch.setattr(agent, "rewards", lambda: R)
    plan = agent.plan(5)
    for i in range(2):
        assert track == "U" or np.allclose(R[i], problem.R)
        V, Q = np.zeros(6), []
        for h in reversed(range(5)):
            t = 0 if share == "steps" else h
            Q.insert(0, R[i, t] + P[i, t] @ V)
            V = Q[0].max(1)
        assert np.allclose(plan.values[i], V, rtol=0, atol=1e-10)
        assert_optimal(problem, plan.policy[i], np.array(Q))
