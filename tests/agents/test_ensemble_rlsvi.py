"""Ensemble RLSVI: every plan is the printed one with the same random numbers, and members have the law of RLSVI."""

import numpy as np
import pytest

from befrl.common import streams
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import ROOT, assert_standard_normal, light, random_episodes, trained
from pairs import cover
from transcription import assert_plan_is, features, played, reader, regress

ONE_HOT, WAVES = {}, {"presentation": "random-features", "frequencies": 4}
SHARED = {"share": "steps"}


def drawn(agent, i, episodes):
    """The random numbers of seed i: xi (T, D, M), eps (episodes, H, M) and the members of the episodes."""
    normals, uniforms = (
        streams.generator(ROOT, "test", i, purpose) for purpose in (streams.AGENT_NORMAL, streams.AGENT_UNIFORM)
    )
    normals.standard_normal(getattr(agent.regression, "omega", np.zeros((1, 0)))[0].size)
    H, M = agent.problem.horizon, agent.parameters.members
    T = 1 if agent.parameters.share == "steps" else H
    xi = normals.standard_normal((T, agent.regression.D, M))
    return xi, normals.standard_normal((episodes, H, M)), [int(u * M) for u in uniforms.random(episodes)]


def printed(agent, history, i, xi, eps, m):
    """Q (H, S, A) of member m: the ridge regression on targets with noise, one sample at a time."""
    x_of, X = features(agent, i)
    H, sigma, lam = agent.problem.horizon, agent.sigma[i], agent.parameters.lam[i]
    known = agent.regression.R is not None
    V, Q = np.zeros(len(X)), []
    for h in reversed(range(H)):
        t, steps = (0, range(H)) if agent.parameters.share == "steps" else (h, [h])
        prior = sigma / np.sqrt(lam) * xi[t, :, m]
        Lambda, total = lam * np.eye(len(prior)), lam * prior
        for k, episode in enumerate(history):
            for g in steps:
                x = x_of(episode.states[i, g], episode.cells[i, g], episode.actions[i, g])
                y = reader(agent, episode.next_states[i, g]) @ V + sigma * eps[k, g, m]
                Lambda += np.outer(x, x)
                total += x * (y if known else episode.rewards[i, g] + y)
        Q.insert(0, X @ np.linalg.solve(Lambda, total) + (agent.regression.R if known else 0))
        V = Q[0].max(1)
    return np.array(Q)


@pytest.mark.parametrize(
    ("name", "track", "values"), cover(["chain", "riverswim", "waves"], "UK", [ONE_HOT, SHARED, WAVES, WAVES | SHARED])
)
def test_every_plan_of_a_run_is_the_printed_one(name, track, values):
    agent, plans, history = played(
        "ensemble-rlsvi", light(name, horizon=3), track, sigma=0.7, lam=0.6, members=3, **values
    )
    for i in range(2):
        xi, eps, members = drawn(agent, i, len(history))
        assert len(set(members)) > 1
        for k, (mine, m) in enumerate(zip(plans, members, strict=True)):
            assert_plan_is(agent, mine, printed(agent, history[:k], i, xi, eps, m), i)


@pytest.mark.parametrize(("name", "values"), cover(["chain", "waves"], [SHARED, WAVES]))
def test_members_have_the_law_of_the_draws_of_rlsvi(name, values):
    """N_m ~ N(0, Lambda_h), so that sigma Lambda_h^-1 N_m ~ N(0, sigma^2 Lambda_h^-1)."""
    problem = light(name, horizon=3)
    agent = trained("ensemble-rlsvi", problem, seeds=(0,), lam=0.6, members=1000, **values)
    history = random_episodes(problem, (0,), 5)
    for h in range(agent.regression.tables):
        Lambda, _ = regress(agent, history, 0, h, np.zeros(agent.regression.shape[1]))
        assert_standard_normal(agent.N[0, h].T @ np.linalg.cholesky(np.linalg.inv(Lambda)))


def test_constants_by_hand():
    """d = 16, S = 8, A = 2, H = 40 on the chain: sigma^2 = 1/2 S H^3 log(2 H S A K)."""
    settings = [{"scale": 0.1}, {"sigma": 0.7}]
    facts = loop.make_agent(RunSpec.of(light("chain"), "test", "ensemble-rlsvi", settings, 3, [0])).facts()
    assert facts["d"] == 16 and facts["M"] == 20
    assert facts["sigma"] == pytest.approx([0.1 * np.sqrt(4 * 40**3 * np.log(2 * 40 * 16 * 3)), 0.7])
