"""ORLC against a transcription that visits the whole history; its certificates against exact regret."""

import numpy as np
import pytest

from befrl import agents
from befrl.experiment import loop
from befrl.experiment.environment import Environment
from helpers import ROOT, instance, light, spec
from pairs import cover
from transcription import assert_plan_is


def printed(agent, history, i, K):
    """Q~ and Q_ (H, S, A) of the docstring, with loops over all visits; and the certificate of each cell."""
    problem = agent.problem
    H, S, A, cell = problem.horizon, problem.model.n_cells, problem.model.n_actions, problem.model.space.cell
    scale, L = agent.parameters.scale[i], np.log(3 * S * A * K * H * (S + H + 1) / 0.05)
    V, low, Q, Q_low = np.zeros(S), np.zeros(S), [], []
    for h in reversed(range(H)):
        steps, top = range(H) if agent.parameters.share == "steps" else [h], H - h
        up, down = np.full((S, A), float(top)), np.zeros((S, A))
        for s, a in np.ndindex(S, A):
            mine = [(t, g) for t in history for g in steps if (t.cells[i, g], t.actions[i, g]) == (s, a)]
            if N := len(mine):
                R = sum(t.rewards[i, g] for t, g in mine) / N if agent.R is None else agent.R[s, a]
                y = [cell(t.next_states[i, g : g + 1])[0] for t, g in mine]
                both = (V[y] - low[y]).mean() / H + (np.sqrt(L / (2 * N)) if agent.R is None else 0)
                psi = both + np.sqrt(2 * L / N) * np.std(V[y]) + (H**2 / 2 + 3 * H) * L / N
                psi_low = both + np.sqrt(2 * L / N) * np.std(low[y]) + (S + 1) * (H**2 + 3 * H) * L / N
                up[s, a] = min(max(R + V[y].mean() + scale * psi, 0), top)
                down[s, a] = min(max(R + low[y].mean() - scale * psi_low, 0), top)
        V = up.max(1)
        low = np.array([down[s][up[s] >= V[s] - 1e-12].min() for s in range(S)])
        Q, Q_low = [up, *Q], [down, *Q_low]
    return np.array(Q), np.array(Q_low), V - low


@pytest.mark.parametrize(("name", "track", "share"), cover(["chain", "riverswim", "waves"], "UK", ["steps", "none"]))
def test_every_plan_and_certificate_of_a_run_is_the_printed_one(name, track, share):
    problem, K = light(name, horizon=4), 8
    agent = loop.make_agent(spec("orlc", problem, track, [0, 1], K, scale=0.0002, share=share))
    environment, history = Environment(problem, ROOT, "test", [0, 1]), []
    for _ in range(K):
        plan = agent.plan(len(history))
        for i in range(2):
            Q, Q_low, certificate = printed(agent, history, i, K)
            assert_plan_is(agent, plan, Q, i, atol=1e-12)
            assert np.allclose(plan.certificate[i], problem.model.space.on_anchors(certificate), rtol=0, atol=1e-12)
        history.append(environment.rollout(agent, plan.policy))
        agent.update(history[-1])
    assert Q.min() < 1 and (Q_low.max() > 0 or name == "riverswim")  # where most rewards are zero


def test_widths_by_hand():
    """H = 2: in state 0 action 0 led three times to 0 and once to 1, action 1 once to 0; there are no other data."""
    problem, v = light("riverswim", horizon=2), 0.0005
    agent = loop.make_agent(spec("orlc", problem, "K", seeds=[0], episodes=10, scale=v))
    L = np.log(3 * 6 * 2 * 20 * 9 / 0.05)
    assert agent.facts()["L"] == pytest.approx([L]) and agent.facts()["certificate_delta"] == [1.0]
    agent.counts.following[0, 0, 0, 0, :2], agent.counts.following[0, 0, 0, 1, 0] = (3, 1), 1
    agent.counts.visits[0, 0, 0] = 4, 1
    plan = agent.plan(0)
    values = plan.values[0]
    # Step 2: V = 0, so that psi is 8 L/N above and 70 L/N below; action 1 is the better one. State 1 has [0, 1].
    upper, lower = 8 * L * v, 0.0
    assert agent.R[0, 0] + 2 * L * v < upper < 1
    # Step 1, action 0: means 3/4 of state 0 and 1/4 of state 1, which is 1 - upper above it, and 0 below.
    both = 3 / 4 * (upper - lower) + 1 / 4
    psi = np.sqrt(L / 2) * np.sqrt(3 / 16) * (1 - upper) + both / 2 + 2 * L
    first = agent.R[0, 0] + both + v * psi
    other = agent.R[0, 1] + upper + v * (upper / 2 + 8 * L)
    assert first > other and values[0] == pytest.approx(first, rel=1e-12)
    lowest = max(agent.R[0, 0] - v * (both / 2 + 17.5 * L), 0)
    assert plan.certificate[0, 0] == pytest.approx(first - lowest, rel=1e-12) and np.all(plan.certificate[0, 1:] == 2)
    assert agents.constants("orlc", agents.parameters("orlc", {})) == "surrogate"


def certified(problem, track, episodes, seeds=range(4), **values):
    """The certificates at the first states, the exact regrets and the optimism of a run, (n, K) each."""
    log = loop.run(spec("orlc", problem, track, list(seeds), episodes, **values))
    return log["certificate"], log["regret"], log["optimism"]


# Instances where a few thousand episodes bring certificates below the trivial one, and some policies are bad.
SMALL = {"jao": {"arms": 2, "horizon": 2}, "riverswim": {"states": 3, "horizon": 3}}


@pytest.mark.parametrize(("name", "track", "share"), cover(list(SMALL), "UK", ["steps", "none"]))
def test_certificates_bound_the_exact_regret_with_surrogate_constants(name, track, share):
    problem = instance(name, **SMALL[name])
    certificates, regrets, optimism = certified(problem, track, 3000, share=share)
    assert np.all(optimism >= 0) and np.all(certificates >= regrets)
    assert certificates[:, -1].max() < problem.horizon and regrets.max() > 0


@pytest.mark.parametrize("name", SMALL)
def test_certificates_fail_with_a_tiny_scale(name):
    certificates, regrets, _ = certified(instance(name, **SMALL[name]), "U", 200, range(20), scale=1e-4)
    assert np.any(certificates < regrets)
