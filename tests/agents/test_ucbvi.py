"""UCBVI against its paper, visiting the whole history."""

import numpy as np
import pytest

from helpers import light, play, trained
from pairs import cover
from transcription import played


def printed(problem, agent, history, i, Q):
    """Algorithms 2 and 3 with dictionaries of counts; `Q` (H, C, A) is that of the episode before."""
    H, C, A = Q.shape
    shared = agent.parameters.share == "steps"
    V, new = np.zeros(C), Q.copy()
    for h in reversed(range(H)):
        samples = [(t, g) for t in history for g in (range(H) if shared else [h])]
        for s in range(C):
            for a in range(A):
                mine = [(t, g) for t, g in samples if (t.cells[i, g], t.actions[i, g]) == (s, a)]
                if not mine:
                    continue
                N = len(mine)
                R = sum(t.rewards[i, g] for t, g in mine) / N if agent.R is None else agent.R[s, a]
                next_cells = [problem.model.space.cell(t.next_states[i, g : g + 1])[0] for t, g in mine]
                PV = sum(V[c] for c in next_cells) / N
                new[h, s, a] = min(Q[h, s, a], H, R + PV + agent.bonus[i] / np.sqrt(N))
        V = new[h].max(1)
    return new


@pytest.mark.parametrize(
    ("name", "track", "share"), cover(["chain", "riverswim", "waves"], ["U", "K"], ["steps", "none"])
)
def test_every_plan_of_a_run_is_the_printed_one(name, track, share):
    problem = light(name, horizon=4)
    agent, plans, history = played("ucbvi", problem, track, episodes=8, scale=0.002, share=share)
    for i in range(2):
        Q = np.full((4, problem.model.n_cells, problem.model.n_actions), 4.0)
        for k in range(8):
            Q = printed(problem, agent, history[:k], i, Q)
            per_cell = problem.model.space.per_cell
            assert np.allclose(plans[k].values[i], np.repeat(Q[0].max(1), per_cell), rtol=0, atol=1e-9)
            chosen = np.take_along_axis(Q, plans[k].policy[i][..., None].astype(int), axis=-1)[..., 0]
            assert np.allclose(chosen, Q.max(-1), rtol=0, atol=1e-9)


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
