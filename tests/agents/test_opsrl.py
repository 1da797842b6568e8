"""OPSRL: every plan is the printed one with the same random numbers, and the draws have the posterior's law."""

import numpy as np
import pytest
from scipy import stats

from befrl.common import streams
from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import ROOT, light, random_episodes, spec, trained
from pairs import cover
from transcription import assert_plan_is, played


def allowed_in(problem, name):
    """Whether s' may follow (s,a), (C, A, C): a swimmer gets to the next state at most."""
    return problem.P > 0 if name == "riverswim" else np.ones((problem.model.n_cells, 2, problem.model.n_cells), bool)


def counted(problem, history, i, steps, s, a):
    """The visits to (s,a) in the whole history: the next cells, and the rewards."""
    mine = [(t, g) for t in history for g in steps if (t.cells[i, g], t.actions[i, g]) == (s, a)]
    next_cells = [int(problem.model.space.cell(t.next_states[i, g : g + 1])[0]) for t, g in mine]
    return next_cells, [t.rewards[i, g] for t, g in mine]


def printed(problem, agent, history, i, allowed, gammas, normals):
    """Q (H, C, A), one draw at a time. The order of random numbers is j, table, s, a, s', with the fake state last."""
    C, A, H, J = problem.model.n_cells, problem.model.n_actions, problem.horizon, agent.J
    kappa, p = agent.kappa[i], agent.parameters
    tables = [range(H)] if p.share == "steps" else [[h] for h in range(H)]
    keys = [(t, s, a) for t in range(len(tables)) for s in range(C) for a in range(A)]
    seen = {(t, s, a): counted(problem, history, i, tables[t], s, a) for t, s, a in keys}
    alpha, R = {}, {}
    for j in range(J):
        for key in keys:
            next_cells, rewards = seen[key]
            alpha |= {(j, *key, to): next_cells.count(to) / kappa for to in range(C) if allowed[*key[1:], to]}
            alpha[j, *key, C] = p.alpha_0[i]
            precision = p.tau_0[i] + p.tau[i] * len(rewards)
            mean = (p.tau_0[i] * p.mu_0[i] + p.tau[i] * sum(rewards)) / precision
            known = agent.R is not None
            R[j, *key] = agent.R[key[1:]] if known else mean + np.sqrt(kappa / precision) * normals.standard_normal()
    gamma = [gammas.standard_gamma(shape + 1) for shape in alpha.values()]
    U = [np.exp(-gammas.standard_exponential()) for _ in alpha]
    mass = {at: g * u ** (1 / x) if x else 0.0 for (at, x), g, u in zip(alpha.items(), gamma, U, strict=True)}
    Q, V = np.zeros((H, C, A)), np.zeros(C + 1)
    for h in reversed(range(H)):
        t = 0 if p.share == "steps" else h
        for s, a in np.ndindex(C, A):
            values = []
            for j in range(J):
                P = np.array([mass.get((j, t, s, a, to), 0.0) for to in range(C + 1)])
                values.append(R[j, t, s, a] + P @ V / P.sum())
            Q[h, s, a] = max(values)
        V = np.append(Q[h].max(1), p.r_0[i] * (H - h))
    return Q


@pytest.mark.parametrize(("name", "track", "share"), cover(["chain", "riverswim", "waves"], "UK", ["steps", "none"]))
def test_every_plan_of_a_run_is_the_printed_one(name, track, share):
    problem, values = light(name, horizon=3), {"kappa": 1.7, "alpha_0": 0.8, "r_0": 1.3, "mu_0": 0.2, "samples": 3}
    agent, plans, history = played("opsrl", problem, track, episodes=6, share=share, **values)
    for i in range(2):
        gammas, normals = (
            streams.generator(ROOT, "test", i, purpose) for purpose in (streams.AGENT_GAMMA, streams.AGENT_NORMAL)
        )
        for k in range(6):
            Q = printed(problem, agent, history[:k], i, allowed_in(problem, name), gammas, normals)
            assert_plan_is(agent, plans[k], Q, i)


@pytest.mark.parametrize(("share", "kappa"), [("steps", 1.0), ("none", 0.3), ("steps", 6.0)])
def test_draws_have_the_law_of_the_inflated_posterior(share, kappa):
    """Kolmogorov-Smirnov at the level 1e-6: the fake state has a Beta(alpha_0, N/kappa) share, its best of J the law
    F^J; of the rest s' has a Beta(N(s')/kappa, (N - N(s'))/kappa) share.
    """
    problem = light("riverswim", horizon=4)
    values = {"kappa": kappa, "alpha_0": 1.5, "share": share}
    agent = trained("opsrl", problem, seeds=range(40), episodes=30, same_data=True, **values)
    history = list(random_episodes(problem, (0,), 30))
    draws = np.concatenate([agent.kernels()[:, -1] for _ in range(50)])
    assert np.allclose(draws.sum(-1), 1.0)
    steps, tested = range(4) if share == "steps" else [3], 0
    for s, a in np.ndindex(6, 2):
        next_cells, _ = counted(problem, history, 0, steps, s, a)
        real, fake = draws[:, s, a, :, :-1], draws[:, s, a, :, -1]
        if not (N := len(next_cells)):
            assert np.all(fake == 1)
            continue
        law = stats.beta(1.5, N / kappa)
        assert stats.kstest(fake.ravel(), law.cdf).pvalue > 1e-6
        assert stats.kstest(fake.max(-1), lambda x, law=law: law.cdf(x) ** agent.J).pvalue > 1e-6
        for to in range(6):
            n = next_cells.count(to)
            if n in (0, N):
                assert np.all(real[..., to] == 0) if n == 0 else np.allclose(real[..., to], 1 - fake)
            else:
                share_of_real = (real[..., to] / (1 - fake)).ravel()
                assert stats.kstest(share_of_real, stats.beta(n / kappa, (N - n) / kappa).cdf).pvalue > 1e-6
                tested += 1
    assert tested


def test_without_inflation_there_is_the_empirical_model():
    """scale = 0, beside a row with kappa = 1 that learns from the same episodes."""
    problem = light("riverswim", horizon=3)
    settings = [{"scale": 0}, {"kappa": 1}]
    agent = loop.make_agent(RunSpec.of(problem, "test", "opsrl", settings, 5, [0], root_seed=ROOT))
    history = list(random_episodes(problem, (0, 0), 5))
    for t in history:
        agent.update(t)
    P = agent.kernels()[:, 0]
    for s, a in np.ndindex(6, 2):
        next_cells, _ = counted(problem, history, 0, range(3), s, a)
        expected = [next_cells.count(to) / len(next_cells) for to in range(6)] + [0] if next_cells else [0] * 6 + [1]
        assert np.allclose(P[0, s, a], expected, rtol=0, atol=1e-15)
    assert np.any(P[1] != P[0])


def test_constants_by_hand():
    # 2 ln(S A H K/delta) = 2 ln(8 * 2 * 4 * 10/0.05)
    facts = trained("opsrl", light("chain", horizon=4), episodes=10, scale=0.5, alpha_0=3.0).facts()
    assert facts["kappa"] == pytest.approx([np.log(12_800)] * 2)
    assert facts["n_0"] == pytest.approx([3 * np.log(12_800)] * 2)
    assert facts["J"] == 8
    with pytest.raises(InputError, match="either kappa or scale"):
        spec("opsrl", light("chain"), kappa=1.0, scale=0.5)
