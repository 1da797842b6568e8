"""LMC-LSVI against its Langevin steps: one draw from the closed law has the moments and quantiles of J_k steps."""

import numpy as np
import pytest
from scipy import linalg, stats

from befrl.agents.shared.regression import OneHot, RandomFeatures
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import assert_standard_normal, light, random_episodes, trained
from pairs import cover
from transcription import assert_plan_is, features, played, regress

ONE_HOT, WAVES = {}, {"presentation": "random-features", "frequencies": 4}
SHARED, FEW = {"share": "steps"}, {"steps": 3}


def constants(agent, Lambda, i):
    """eta_k, J_k and 1/beta_k as printed."""
    eigenvalues, steps = np.linalg.eigvalsh(Lambda), agent.parameters.steps[i]
    d, H, K = len(Lambda), agent.problem.horizon, agent.problem.episodes
    kappa = eigenvalues[-1] / eigenvalues[0]
    J = int(np.ceil(2 * kappa * np.log(4 * H * K * d))) if np.isnan(steps) else int(steps)
    noise = agent.parameters.scale[i] * H * np.sqrt(d * np.log(2 * d * H * K / agent.parameters.delta[i]))
    return 1 / (4 * eigenvalues[-1]), J, noise**2


def moments(agent, Lambda, best, start, i):
    """The mean and the covariance of the last of J_k Langevin steps, one step at a time."""
    eta, J, heat = constants(agent, Lambda, i)
    A = np.eye(len(Lambda)) - 2 * eta * Lambda
    mean, S = start, np.zeros_like(Lambda)
    for _ in range(J):
        mean = mean - eta * 2 * (Lambda @ mean - Lambda @ best)
        S = A @ S @ A.T + 2 * eta * heat * np.eye(len(Lambda))
    return mean, S


@pytest.mark.parametrize(("values", "steps"), cover([ONE_HOT, SHARED, WAVES], [1, 7, None]))
def test_the_closed_law_has_the_mean_and_the_covariance_of_all_steps(values, steps, rng):
    problem, h = light("chain", horizon=4), 2
    agent = trained("lmc-lsvi", problem, scale=0.02, lam=0.6, steps=steps, **values)
    history = random_episodes(problem, (0, 1), 5)
    regression = agent.regression
    V, start = rng.normal(size=regression.shape[:2]), rng.normal(size=(2, regression.D))
    shape = regression.normals().shape
    forget, spread = regression.functions(agent.law)
    fit = regression.weights(h, V)
    mine = (fit + forget(h, start.reshape(shape) - fit)).reshape(2, -1)
    # Column e of the root of Sigma is its product with the unit vector e.
    units = np.eye(regression.D)
    root = np.stack([spread(h, np.tile(e, (2, 1)).reshape(shape)).reshape(2, -1) for e in units], axis=-1)
    for i in range(2):
        Lambda, best = regress(agent, history, i, h, V[i])
        mean, S = moments(agent, Lambda, best, start[i], i)
        assert np.allclose(mine[i], mean, rtol=0, atol=1e-10)
        assert np.allclose(root[i] @ root[i].T, S, rtol=0, atol=1e-10)
        assert np.allclose(root[i], linalg.sqrtm(S), rtol=0, atol=1e-9)


def printed(agent, history, draws, i):
    """Q (K, H, S, A) of all episodes of seed i, with the draws (K, H, D): every sample of the history is visited."""
    _, X = features(agent, i)
    H, R = agent.problem.horizon, 0.0 if agent.regression.R is None else agent.regression.R
    w, plans = np.zeros((H, X.shape[-1])), []
    for k, normals in enumerate(draws):
        V, Q = np.zeros(len(X)), []
        for h in reversed(range(H)):
            mean, S = moments(agent, *regress(agent, history[:k], i, h, V), w[h], i)
            w[h] = mean + linalg.sqrtm(S) @ normals[h]
            Q.insert(0, np.clip(R + X @ w[h], 0, H - h))
            V = Q[0].max(1)
        plans.append(np.array(Q))
    return plans


CASES = cover(["chain", "riverswim", "waves"], "UK", [ONE_HOT, SHARED, WAVES], [{}, FEW])


@pytest.mark.parametrize(("name", "track", "values", "steps"), CASES)
def test_every_plan_is_the_printed_one(name, track, values, steps, monkeypatch):
    """With three steps each plan depends on all earlier ones."""
    draws = []
    for cls in (OneHot, RandomFeatures):
        original = cls.normals
        monkeypatch.setattr(cls, "normals", lambda self, of=original: draws.append(of(self)) or draws[-1])
    values = {"scale": 0.02, "lam": 0.6} | values | steps
    agent, plans, history = played("lmc-lsvi", light(name, horizon=4), track, **values)
    used = np.array([z.reshape(2, -1) for z in draws]).reshape(6, 4, 2, -1)[:, ::-1]  # the last step is drawn first
    for i in range(2):
        for mine, Q in zip(plans, printed(agent, history, used[:, :, i], i), strict=True):
            assert_plan_is(agent, mine, Q, i)


@pytest.mark.parametrize(("name", "values"), [("chain", ONE_HOT), ("waves", WAVES)])
def test_real_langevin_steps_have_the_law_of_the_weights(name, values, rng):
    """20,000 chains of three steps with new noise against the law, and against 5000 plans from the same start.

    `assert_standard_normal` states its error rate; Kolmogorov-Smirnov at the level 1e-6, three times.
    """
    problem, count = light(name, horizon=2), 20_000
    agent = trained("lmc-lsvi", problem, seeds=(0,), scale=0.02, lam=0.6, steps=3, **values)
    Lambda, best = regress(agent, random_episodes(problem, (0,), 5), 0, 1, np.zeros(agent.regression.shape[1]))
    eta, J, heat = constants(agent, Lambda, 0)
    start = rng.normal(size=len(best))
    w = np.tile(start, (count, 1))
    for _ in range(J):
        w += -eta * 2 * (w - best) @ Lambda + np.sqrt(2 * eta * heat) * rng.normal(size=w.shape)
    mean, S = moments(agent, Lambda, best, start, 0)
    assert_standard_normal((w - mean) @ np.linalg.cholesky(np.linalg.inv(S)))
    mine, shape = [], agent.regression.normals().shape
    for k in range(5000):
        agent.w[1] = start.reshape(shape)
        agent.plan(k)
        mine.append(agent.w[1].ravel())
    X = features(agent, 0)[1]
    for point, a in ((0, 0), (1, 1), (2, 0)):
        assert stats.ks_2samp(np.array(mine) @ X[point, a], w @ X[point, a]).pvalue > 1e-6


def test_constants_by_hand():
    """d = 16, H = 40, K = 5, delta = 0.05; eigenvalues 1 and 4: eta = 1/16, A = 7/8 and 1/2, kappa = 4."""
    settings = [{"scale": 0.5}, {"steps": 2}]
    agent = loop.make_agent(RunSpec.of(light("chain"), "test", "lmc-lsvi", settings, 5, [0]))
    heat = 40**2 * 16 * np.log(2 * 16 * 200 / 0.05) * np.array([0.25, 1])
    facts = agent.facts()
    assert facts["d"] == 16
    assert facts["noise"] == pytest.approx(np.sqrt(heat))
    assert list(facts["J_first"]) == [19, 2]  # 2 log(4 * 40 * 5 * 16) = 18.9
    power, root = (part[:, 0, :, 0] for part in agent.law(np.tile([[[[1.0], [4.0]]]], (2, 1, 1, 1))))
    assert power[0] == pytest.approx([(7 / 8) ** 76, 0.5**76])  # 8 log(12,800) = 75.7
    assert power[0, 0] < 1 / 12_800
    assert power[1] == pytest.approx([49 / 64, 1 / 4])
    # Two steps: the variance 2 eta (1 + A^2)/beta.
    assert root[1] ** 2 == pytest.approx(heat[1] / 8 * np.array([1 + 49 / 64, 1 + 1 / 4]))


def test_with_the_steps_of_the_theory_nothing_is_left_of_the_start():
    """|A^J| <= 1/(4 H K d), at any ridge, and Sigma is between 1/2 and 2/3 of Lambda^-1/beta."""
    for lam in (1e-6, 1.0, 1e3):
        agent = trained("lmc-lsvi", light("chain"), scale=1e-3, lam=lam)
        Lambda = lam + agent.regression.counts.visits
        power, root = agent.law(Lambda)
        assert np.all((power >= 0) & (power <= 1 / (4 * 40 * 5 * 16)))
        ratio = root**2 * Lambda / agent.noise[:, None, None, None] ** 2
        assert np.all((ratio > 0.5 - 1e-9) & (ratio < 2 / 3 + 1e-9))
