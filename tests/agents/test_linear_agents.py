"""RLSVI, OPT-RLSVI, LSVI-UCB and LSVI-PHE against their papers: the printed algorithms visit the whole history."""

import numpy as np
import pytest
from scipy import stats

from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import assert_standard_normal, light, play, random_episodes, trained
from pairs import cover
from transcription import assert_plan_is, features, plan, played, reader, regress, spy_on_values

NAMES = ["chain", "riverswim", "waves"]
ONE_HOT, WAVES = {}, {"presentation": "random-features", "frequencies": 4}


@pytest.mark.parametrize(("name", "track", "values"), cover(NAMES, "UK", [ONE_HOT, {"share": "steps"}, WAVES]))
def test_every_plan_of_lsvi_ucb_is_the_printed_one(name, track, values):
    agent, plans, history = played("lsvi-ucb", light(name, horizon=4), track, scale=0.01, **values)
    for k in (0, 1, 5):
        for i in range(2):
            Q = plan(agent, history[:k], i, lambda h, mean, width, i=i: np.minimum(mean + agent.beta[i] * width, 4))
            assert_plan_is(agent, plans[k], Q, i)


@pytest.mark.parametrize(("name", "track", "values"), cover(["chain", "waves", "lds"], "UK", [ONE_HOT, WAVES]))
def test_without_noise_rlsvi_and_lsvi_phe_are_least_squares_value_iteration(name, track, values):
    """On lds means are below zero: the clip of LSVI-PHE matters."""
    problem = light(name, horizon=4)
    history = random_episodes(problem, (0, 1), 5)
    printed = {"rlsvi": lambda h, mean, width: mean, "lsvi-phe": lambda h, mean, width: np.clip(mean, 0, 4 - h)}
    for algorithm, value in printed.items():
        agent = trained(algorithm, problem, track, sigma=0, **values)
        for i in range(2):
            assert_plan_is(agent, agent.plan(5), plan(agent, history, i, value), i)


@pytest.mark.parametrize(("name", "track"), cover(NAMES, "UK"))
def test_plans_of_opt_rlsvi_are_the_printed_ones_without_noise(name, track):
    """alpha_U = 0.9, alpha_L = 0.45: unvisited pairs have the default, those visited once to thrice a mixture."""
    problem = light(name, horizon=4)
    agent = trained("opt-rlsvi", problem, track, episodes=8, sigma=0, alpha_u=0.9)
    history, regimes = random_episodes(problem, (0, 1), 8), set()

    def value(h, mean, width):
        Q = np.empty_like(mean)
        for at, n in np.ndenumerate(width):
            mixed = (0.9 - n) / 0.45 * mean[at] + (n - 0.45) / 0.45 * (4 - h)
            Q[at] = mean[at] if n <= 0.45 else 4 - h if n >= 0.9 else mixed
            regimes.add(int(n > 0.45) + int(n >= 0.9))
        return Q

    for i in range(2):
        assert_plan_is(agent, agent.plan(8), plan(agent, history, i, value), i)
    assert regimes == {0, 1, 2}


@pytest.mark.parametrize(("name", "values"), cover(["chain", "waves"], [ONE_HOT, WAVES]))
def test_weights_of_rlsvi_are_drawn_from_the_printed_normal_law(name, values, monkeypatch):
    """theta~ = theta^ + N(0, Sigma), given the draw of the next step: 50 seeds with the same data, 300 plans."""
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
    X = features(agent, 0)[1]
    Phi, unit = X.reshape(-1, X.shape[-1]), np.eye(X.shape[-1])
    for late in range(3):  # h = 2, 1, 0
        theta = np.array(seen[late::3]).reshape(300 * n, -1) @ np.linalg.pinv(Phi).T
        V = np.array(seen[late - 1 :: 3]).max(-1).reshape(300 * n, -1) if late else np.zeros((300 * n, len(X)))
        # Sigma as printed, with lambda = lam/sigma^2; theta^ is linear in V.
        Lambda, at_zero = regress(agent, history, 0, 2 - late, np.zeros(len(X)))
        Sigma = np.linalg.inv((Lambda - lam * unit) / sigma**2 + lam / sigma**2 * unit)
        units = [regress(agent, history, 0, 2 - late, e)[1] - at_zero for e in np.eye(len(X))]
        theta_hat = at_zero + V @ np.array(units)
        assert_standard_normal((theta - theta_hat) @ np.linalg.cholesky(np.linalg.inv(Sigma)))


def test_noise_of_opt_rlsvi_reaches_the_linear_regime_only(monkeypatch):
    seen = spy_on_values(monkeypatch)
    values = {"episodes": 20, "sigma": 1.0, "alpha_u": 0.5}
    agent = trained("opt-rlsvi", light("chain", horizon=2), seeds=range(50), same_data=True, **values)
    for k in range(100):
        agent.plan(k)
    Q, width = np.concatenate(seen[::2]), 1 / np.sqrt(1 + agent.regression.counts.visits[0, 1])
    noisy = (1 - np.clip((width - 0.25) / 0.25, 0, 1)) * width
    assert 0 < (noisy == 0).sum() < noisy.size
    assert np.all(Q[:, noisy == 0] == 1)
    # Standard deviations of 5000 normal draws: 6 standard errors, each 1/sqrt(2 * 5000).
    assert np.allclose(Q.std(0)[noisy > 0], noisy[noisy > 0], rtol=6 / np.sqrt(10_000))


SIGMA, MEMBERS = 0.9, 6


def perturbed(agent, history, h, V, count, rng):
    """theta~ (count, D) of so many perturbed histories: new noise on every target, and on the prior."""
    x_of, _ = features(agent, 0)
    D, lam = agent.regression.D, agent.parameters.lam[0]
    Lambda, total = lam * np.eye(D), SIGMA * np.sqrt(lam) * rng.normal(size=(count, D))
    for t in history:
        x = x_of(t.states[0, h], t.cells[0, h], t.actions[0, h])
        Lambda += np.outer(x, x)
        y = t.rewards[0, h] + reader(agent, t.next_states[0, h]) @ V + SIGMA * rng.normal(size=count)
        total += y[:, None] * x
    return np.linalg.solve(Lambda, total.T).T


@pytest.mark.parametrize(("name", "values"), [("chain", ONE_HOT), ("waves", WAVES)])
def test_lsvi_phe_takes_the_largest_prediction_of_perturbed_histories(name, values, rng, monkeypatch):
    """In law: 20,000 perturbed histories; Kolmogorov-Smirnov at the level 1e-6 for 2000 clipped Q of the last step."""
    problem, seen = light(name, horizon=2), spy_on_values(monkeypatch)
    agent = trained("lsvi-phe", problem, seeds=(0,), lam=0.6, sigma=SIGMA, members=MEMBERS, **values)
    history = random_episodes(problem, (0,), 5)
    X = features(agent, 0)[1]
    V = rng.normal(size=len(X))
    Lambda, theta_hat = regress(agent, history, 0, 0, V)
    draws = perturbed(agent, history, 0, V, 20_000, rng)
    assert_standard_normal((draws - theta_hat) @ np.linalg.cholesky(Lambda) / SIGMA)
    for k in range(2000):
        agent.plan(k)
    mine = np.concatenate(seen[::2])
    draws = perturbed(agent, history, 1, np.zeros(len(X)), 2000 * MEMBERS, rng).reshape(2000, MEMBERS, -1)
    for point, a in ((0, 0), (1, 1), (2, 0)):
        theirs = np.clip((draws @ X[point, a]).max(1), 0, 1)
        assert stats.ks_2samp(mine[:, point, a], theirs).pvalue > 1e-6


def test_with_random_features_all_rows_of_lsvi_phe_have_as_many_members():
    """Each row would take its own number of normal draws otherwise."""
    settings = [{"presentation": "random-features", "members": members} for members in (4, 5)]
    with pytest.raises(InputError, match=r"agent 'lsvi-phe': .* the same members"):
        loop.make_agent(RunSpec.of(light("chain"), "test", "lsvi-phe", settings, 5, [0, 1]))


def test_constants_by_hand():
    """d = 16, S = 8, A = 2, H = 40 on the chain; delta = 0.05."""

    def facts(algorithm, *settings, episodes=5):
        return loop.make_agent(RunSpec.of(light("chain"), "test", algorithm, settings, episodes, [0])).facts()

    iota = np.log(2 * 16 * 200 / 0.05)
    assert facts("lsvi-ucb", {"scale": 0.5})["d"] == 16
    assert facts("lsvi-ucb", {"scale": 0.5})["beta"] == pytest.approx(8 * 40 * np.sqrt(iota))
    phe = facts("lsvi-phe", {"sigma": 0.3, "members": 4}, {"scale": 0.5})
    assert phe["sigma"] == pytest.approx([0.3, 20 * np.sqrt(16 * iota)])
    # M = d log(delta/9)/log Phi(1) = 16 * 5.19296/0.172753 = 480.96: the union bound over a net of 9^d directions.
    assert list(phe["M"]) == [4, 481]
    assert 16 * np.log(9) + 481 * stats.norm.logcdf(1) <= np.log(0.05)
    # beta_k = 1/2 S H^3 log(2 H S A k)
    rlsvi = facts("rlsvi", {"scale": 0.1}, {"sigma": 0.7}, episodes=3)
    assert rlsvi["sigma_last"] == pytest.approx([0.1 * np.sqrt(4 * 40**3 * np.log(2 * 40 * 16 * 3)), 0.7])
    # sqrt(nu) = H d sqrt(log(H d^2 k/delta)) + (3 H + 1) sqrt(d)
    opt, root_nu = facts("opt-rlsvi", {}, {"scale": 0.5}, episodes=4), 640 * np.sqrt(np.log(819_200)) + 121 * 4
    assert opt["sigma_last"] == pytest.approx(np.sqrt(40) * root_nu * np.array([1, 0.5]))
    alpha_U = 1 / (4 * np.sqrt(16 * 40 * np.log(16 / 0.05)) * root_nu)
    assert opt["alpha_U_last"] == pytest.approx([alpha_U, 2 * alpha_U])


@pytest.mark.parametrize("algorithm", ["lsvi-ucb", "opt-rlsvi"])
def test_theory_plays_at_random_and_believes_in_the_horizon(algorithm):
    """All bounds exceed H, or all values are the default."""
    agent = trained(algorithm, light("chain"), episodes=20)
    plan = agent.plan(20)
    assert np.all(agent.problem.ties.share == 1.0)
    # 640 fair coins: 5 standard errors.
    assert abs(plan.policy.mean() - 0.5) < 2.5 / np.sqrt(plan.policy.size)
    assert np.all(plan.values == 40)


def test_lsvi_ucb_stays_optimistic_at_a_tenth_of_the_theory():
    assert np.all(play("lsvi-ucb", light("jao"), "U", range(10), 40, scale=0.1)["optimism"] >= 0)


def test_opt_rlsvi_without_the_default_is_rlsvi():
    one = play("opt-rlsvi", light("chain"), episodes=10, sigma=0.5, alpha_u=1e9)
    other = play("rlsvi", light("chain"), episodes=10, sigma=0.5)
    assert np.allclose(one["regret"], other["regret"], rtol=0, atol=1e-9)
