"""UCBVI against its paper, visiting the whole history."""

import numpy as np
import pytest

from helpers import light, play, trained
from pairs import cover
from transcription import assert_plan_is, played


def printed(problem, agent, history, i, Q):
    """Algorithms 2 and 3 with dictionaries of counts; `Q` (H, C, A) is that of the episode before."""
    H, C, A = Q.shape
    V, new = np.zeros(C), Q.copy()
    for h in reversed(range(H)):
        steps = range(H) if agent.parameters.share == "steps" else [h]
        for s, a in np.ndindex(C, A):
            mine = [(t, g) for t in history for g in steps if (t.cells[i, g], t.actions[i, g]) == (s, a)]
            if N := len(mine):
                R = sum(t.rewards[i, g] for t, g in mine) / N if agent.R is None else agent.R[s, a]
                next_cells = [problem.model.space.cell(t.next_states[i, g : g + 1])[0] for t, g in mine]
                new[h, s, a] = min(Q[h, s, a], H, R + V[next_cells].sum() / N + agent.bonus[i] / np.sqrt(N))
        V = new[h].max(1)
    return new


@pytest.mark.parametrize(("name", "track", "share"), cover(["chain", "riverswim", "waves"], "UK", ["steps", "none"]))
def test_every_plan_of_a_run_is_the_printed_one(name, track, share):
    problem = light(name, horizon=4)
    agent, plans, history = played("ucbvi", problem, track, episodes=8, scale=0.002, share=share)
    for i in range(2):
        Q = np.full((4, problem.model.n_cells, problem.model.n_actions), 4.0)
        for k in range(8):
            Q = printed(problem, agent, history[:k], i, Q)
            assert_plan_is(agent, plans[k], Q, i)


def test_bonus_by_hand():
    # 7 H ln(5 S A T/delta) = 7 * 4 * ln(5 * 8 * 2 * 4 * 10/0.05)
    bonus = trained("ucbvi", light("chain", horizon=4), episodes=10, scale=0.5).facts()["bonus"]
    assert bonus == pytest.approx([14 * np.log(64_000)] * 2)


def test_values_never_grow_and_are_optimistic():
    problem = light("jao", arms=4, rate=0.1, eps=0.1, leave=0.1, background=0.1, bonus=0.0)
    _, plans, _ = played("ucbvi", problem, seeds=range(5), episodes=60, scale=0.002)
    values = np.array([plan.values for plan in plans])
    assert np.all(np.diff(values, axis=0) <= 0)
    assert np.all(values[-1].min(-1) < values[0].min(-1))
    assert np.all(play("ucbvi", problem, "U", range(5), 60, scale=0.002)["optimism"] >= 0)
