"""LSVI-PHE: perturbing all targets is drawing from N(theta^, sigma^2 Lambda^-1)."""

import numpy as np
import pytest
from scipy import stats

from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import assert_standard_normal, light, random_episodes, trained
from transcription import assert_plan_is, features, plan, reader, regress, spy_on_values

SIGMA, MEMBERS = 0.9, 6
VALUES = [{}, {"presentation": "random-features", "frequencies": 3}]


def perturbed(agent, history, h, V, count, rng):
    """theta~ (count, D) of so many perturbed histories: new noise on every target, and on the prior."""
    x_of, _ = features(agent, 0)
    D, lam = agent.regression.D, agent.parameters.lam[0]
    Lambda = lam * np.eye(D)
    total = SIGMA * np.sqrt(lam) * rng.normal(size=(count, D))
    for t in history:
        x = x_of(t.states[0, h], t.cells[0, h], t.actions[0, h])
        Lambda += np.outer(x, x)
        y = t.rewards[0, h] + reader(agent, t.next_states[0, h]) @ V + SIGMA * rng.normal(size=count)
        total += y[:, None] * x
    return np.linalg.solve(Lambda, total.T).T


@pytest.mark.parametrize(("name", "values"), [("chain", VALUES[0]), ("waves", VALUES[1])])
def test_perturbed_histories_have_the_derived_law(name, values, rng):
    """20,000 perturbed histories, 5 standard errors."""
    problem = light(name, horizon=3)
    agent = trained("lsvi-phe", problem, seeds=(0,), lam=0.6, **values)
    history = random_episodes(problem, (0,), 5)
    V = rng.normal(size=agent.regression.shape[1])
    draws = perturbed(agent, history, 1, V, 20_000, rng)
    Lambda, theta_hat = regress(agent, history, 0, 1, V)
    assert_standard_normal((draws - theta_hat) @ np.linalg.cholesky(Lambda) / SIGMA)


@pytest.mark.parametrize("name", ["chain", "waves"])
@pytest.mark.parametrize("values", VALUES)
def test_values_have_the_law_of_the_largest_perturbed_prediction(name, values, rng, monkeypatch):
    """Clipped Q of the last step: two-sample Kolmogorov-Smirnov at the level 1e-6, 4000 draws of either kind."""
    problem = light(name, horizon=2)
    seen = spy_on_values(monkeypatch)
    agent = trained("lsvi-phe", problem, seeds=(0,), sigma=SIGMA, members=MEMBERS, **values)
    history = random_episodes(problem, (0,), 5)
    for k in range(4000):
        agent.plan(k)
    mine = np.concatenate(seen[::2])
    _, X = features(agent, 0)
    draws = perturbed(agent, history, 1, np.zeros(len(X)), 4000 * MEMBERS, rng).reshape(4000, MEMBERS, -1)
    for point, a in ((0, 0), (1, 1), (2, 0)):
        theirs = np.clip((draws @ X[point, a]).max(1), 0, 1)
        assert stats.ks_2samp(mine[:, point, a], theirs).pvalue > 1e-6


@pytest.mark.parametrize("track", ["U", "K"])
def test_without_noise_it_is_clipped_least_squares_value_iteration(track):
    problem = light("lds", horizon=4)  # means below zero: the clip matters
    agent = trained("lsvi-phe", problem, track, sigma=0)
    history = random_episodes(problem, (0, 1), 5)
    for i in range(2):
        Q = plan(agent, history, i, lambda h, mean, width: np.clip(mean, 0, 4 - h))
        assert_plan_is(agent, agent.plan(5), Q, i)


def test_constants_by_hand():
    """M = d log(delta/9)/log Phi(1), Phi(1) = 0.841345: 16 * 5.19296/0.172753 = 480.96."""
    settings = [{"sigma": 0.3, "members": 4}, {"scale": 0.5}]
    spec = RunSpec.of(light("chain"), "test", "lsvi-phe", settings, 5, [0, 1])
    facts = loop.make_agent(spec).facts()
    assert facts["d"] == 16
    assert facts["sigma"] == pytest.approx(np.repeat([0.3, 20 * np.sqrt(16 * np.log(2 * 16 * 200 / 0.05))], 2))
    assert list(facts["M"]) == [4, 4, 481, 481]
    # Enough for optimism along all directions: the union bound over a 1/4-net of 9^d of them.
    assert 16 * np.log(9) + 481 * stats.norm.logcdf(1) <= np.log(0.05)


def test_with_random_features_all_rows_have_as_many_members():
    """Each row would take its own number of normal draws otherwise."""
    settings = [{"presentation": "random-features", "members": members} for members in (4, 5)]
    spec = RunSpec.of(light("chain"), "test", "lsvi-phe", settings, 5, [0, 1])
    with pytest.raises(InputError, match=r"agent 'lsvi-phe': .* the same members"):
        loop.make_agent(spec)
