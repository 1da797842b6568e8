"""RLSVI against its paper: means and covariances of the drawn weights."""

import numpy as np
import pytest

from helpers import assert_standard_normal, light, random_episodes, trained
from transcription import assert_plan_is, features, plan, regress, spy_on_values


@pytest.mark.parametrize("name", ["chain", "waves"])
@pytest.mark.parametrize("track", ["U", "K"])
@pytest.mark.parametrize("presentation", ["one-hot", "random-features"])
def test_without_noise_it_is_least_squares_value_iteration(name, track, presentation):
    problem = light(name, horizon=4)
    agent = trained("rlsvi", problem, track, sigma=0, presentation=presentation, frequencies=5)
    history = random_episodes(problem, (0, 1), 5)
    for i in range(2):
        assert_plan_is(agent, agent.plan(5), plan(agent, history, i, lambda h, mean, width: mean), i)


@pytest.mark.parametrize("values", [{}, {"presentation": "random-features", "frequencies": 4}])
@pytest.mark.parametrize("name", ["chain", "waves"])
def test_weights_are_drawn_from_the_printed_normal_law(name, values, monkeypatch):
    """theta~ = theta^ + N(0, Sigma), at each step given the draw of the next one; theta^ and Sigma as printed.

    50 seeds with the same data and 300 plans are 15,000 draws; 5 standard errors.
    """
    problem, sigma, lam, n = light(name, horizon=3), 0.6, 0.8, 50
    seen = spy_on_values(monkeypatch)
    agent = trained("rlsvi", problem, seeds=range(n), same_data=True, sigma=sigma, lam=lam, **values)
    if values:  # the same features for all
        regression = agent.regression
        for part in (regression.X, regression.F, regression.squares, regression.W, regression.b):
            part[:] = part[:1]
    history = random_episodes(problem, (0,), 5)
    for k in range(300):
        agent.plan(k)
    _, X = features(agent, 0)
    Phi = X.reshape(-1, X.shape[-1])
    for late in range(3):  # h = 2, 1, 0
        Q = np.array(seen[late::3]).reshape(300 * n, -1)
        V = np.array(seen[late - 1 :: 3]).max(-1).reshape(300 * n, -1) if late else np.zeros((300 * n, len(X)))
        # Sigma as printed, with lambda = lam/sigma^2; theta^ is linear in V.
        unit = np.eye(Phi.shape[1])
        Lambda, at_zero = regress(agent, history, 0, 2 - late, np.zeros(len(X)))
        Sigma = np.linalg.inv((Lambda - lam * unit) / sigma**2 + lam / sigma**2 * unit)
        units = [regress(agent, history, 0, 2 - late, e)[1] - at_zero for e in np.eye(len(X))]
        theta_hat = at_zero + V @ np.array(units)
        theta = Q @ np.linalg.pinv(Phi).T
        assert_standard_normal((theta - theta_hat) @ np.linalg.cholesky(np.linalg.inv(Sigma)))


def test_sigma_by_hand():
    # beta_k = 1/2 S H^3 log(2 H S A k) with S = 8, A = 2, H = 40, k = 3
    agent = trained("rlsvi", light("chain"), episodes=3, scale=0.1)
    assert np.array_equal(agent.facts()["sigma_last"], agent.sigma(2))
    assert agent.sigma(2) == pytest.approx([0.1 * np.sqrt(4 * 40**3 * np.log(2 * 40 * 16 * 3))] * 2)
