"""UCBVI-BF against Algorithms 2 and 4 of its paper, visiting the whole history."""

import numpy as np
import pytest

from befrl.agents import ucbvi_bf
from befrl.experiment import loop
from helpers import light, spec
from pairs import cover
from transcription import assert_plan_is, played


def printed(agent, history, i, Q, K, reach=100):
    """Algorithm 2 with the bonus of Algorithm 4 and dictionaries; `Q` (H, S, A) is that of the episode before."""
    H, S, A = Q.shape
    scale, cell = agent.parameters.scale[i], agent.problem.model.space.cell
    L = np.log(5 * S * A * K * H / 0.05)
    V, new = dict.fromkeys(range(S), 0.0), Q.copy()
    for h in reversed(range(H)):
        arrivals = [int(cell(t.next_states[i, h : h + 1])[0]) for t in history]
        c = dict.fromkeys(range(S), H**2) | {
            y: min(reach**2 * H**3 * S**2 * A * L**2 / arrivals.count(y), H**2) for y in arrivals
        }
        steps = range(H) if agent.parameters.share == "steps" else [h]
        for s, a in np.ndindex(S, A):
            mine = [(t, g) for t in history for g in steps if (t.cells[i, g], t.actions[i, g]) == (s, a)]
            if not (N := len(mine)):
                continue
            ys = [int(cell(t.next_states[i, g : g + 1])[0]) for t, g in mine]
            mean = sum(V[y] for y in ys) / N
            b = np.sqrt(8 * L * sum((V[y] - mean) ** 2 for y in ys) / N / N) + 14 * H * L / (3 * N)
            b += np.sqrt(8 * sum(c[y] for y in ys) / N / N)
            if agent.R is None:
                R = sum(t.rewards[i, g] for t, g in mine) / N
                b += np.sqrt(L / (2 * N))
            else:
                R = agent.R[s, a]
            new[h, s, a] = min(Q[h, s, a], H, R + mean + scale * b)
        V = {s: new[h, s].max() for s in range(S)}
    return new


CASES = cover(["chain", "riverswim", "waves"], "UK", ["steps", "none"], ["printed", "short"])


@pytest.mark.parametrize(("name", "track", "share", "reach"), CASES)
def test_every_plan_of_a_run_is_the_printed_one(name, track, share, reach, monkeypatch):
    """Also with another constant for the 100, so that the third term falls below its cap after two visits, not 10^6."""
    problem, K = light(name, horizon=4), 8
    S, A = problem.model.n_cells, problem.model.n_actions
    most = 100.0
    if reach == "short":
        most = np.sqrt(2 / (4 * S**2 * A)) / np.log(5 * S * A * K * 4 / 0.05)
        init = ucbvi_bf.Agent.__init__

        def changed(agent, *given):
            init(agent, *given)
            agent.most = agent.most * (most / 100) ** 2

        monkeypatch.setattr(ucbvi_bf.Agent, "__init__", changed)
    agent, plans, history = played("ucbvi-bf", problem, track, episodes=K, scale=0.02, share=share)
    for i in range(2):
        Q = np.full((4, S, A), 4.0)
        for k in range(K):
            Q = printed(agent, history[:k], i, Q, K, most)
            assert_plan_is(agent, plans[k], Q, i, atol=1e-12)
        assert np.allclose(agent.Q[i], Q, rtol=0, atol=1e-12) and Q.min() < 4


def test_bonus_by_hand():
    """H = 2: in state 0 action 0 led three times to 0 and once to 1, action 1 once to 0; there are no other data."""
    problem, v = light("riverswim", horizon=2), 0.01
    agent = loop.make_agent(spec("ucbvi-bf", problem, "K", seeds=[0], episodes=10, scale=v))
    L = np.log(5 * 6 * 2 * 10 * 2 / 0.05)
    assert agent.facts()["L"] == pytest.approx([L])
    agent.counts.following[0, 0, 0, 0, :2], agent.counts.following[0, 0, 0, 1, 0] = (3, 1), 1
    agent.counts.visits[0, 0, 0] = 4, 1
    agent.plan(0)
    R = agent.R[0]
    last = [R[0] + v * (28 * L / 12 + np.sqrt(8)), R[1] + v * (28 * L / 3 + np.sqrt(32))]
    assert agent.Q[0, 1, 0] == pytest.approx(last, rel=1e-12)
    best = max(last)
    assert best < 2 and np.all(agent.Q[0, :, 1:] == 2)  # elsewhere the bound is H
    deviation = np.sqrt(3 / 16) * (2 - best)
    first = R[0] + (3 * best + 2) / 4 + v * (np.sqrt(8 * L / 4) * deviation + 28 * L / 12 + np.sqrt(8))
    assert agent.Q[0, 0, 0, 0] == pytest.approx(first, rel=1e-12)


@pytest.mark.parametrize("track", "UK")
def test_theoretical_bonus_is_optimistic_and_values_never_grow(track):
    """Since Q never grows, the last one is above Q* only if all were; by then it is below H in two of three steps."""
    problem = light("jao", arms=2, horizon=3)

    def played_to_the_end(**values):
        agent, plans, _ = played("ucbvi-bf", problem, track, seeds=range(3), episodes=3000, **values)
        assert np.all(np.diff([plan.values for plan in plans], axis=0) <= 0)
        return agent.Q

    Q, optimal = played_to_the_end(), problem.optimum[0]
    assert np.all(Q >= optimal) and np.all(Q[:, 1:] < 2.8)
    assert np.any(played_to_the_end(scale=0.001) < optimal - 0.05)
