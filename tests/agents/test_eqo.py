"""EQO against its paper, visiting the whole history."""

import numpy as np
import pytest
from scipy import stats

from befrl.experiment import loop
from helpers import light, play, spec
from pairs import cover
from transcription import assert_plan_is, played


def printed(problem, agent, history, i):
    """Algorithm 1 with lists of visits: Q (H, C, A)."""
    H, C, A = problem.horizon, problem.model.n_cells, problem.model.n_actions
    V, Q = np.zeros(C), np.full((H, C, A), float(H))
    for h in reversed(range(H)):
        steps = range(H) if agent.parameters.share == "steps" else [h]
        for s, a in np.ndindex(C, A):
            mine = [(t, g) for t in history for g in steps if (t.cells[i, g], t.actions[i, g]) == (s, a)]
            if N := len(mine):
                r = sum(t.rewards[i, g] for t, g in mine) / N if agent.R is None else agent.R[s, a]
                next_cells = [problem.model.space.cell(t.next_states[i, g : g + 1])[0] for t, g in mine]
                Q[h, s, a] = min(r + V[next_cells].sum() / N + agent.c[i] / N, H)
        V = Q[h].max(1)
    return Q


@pytest.mark.parametrize(("name", "track", "share"), cover(["chain", "riverswim", "waves"], "UK", ["steps", "none"]))
def test_every_plan_of_a_run_is_the_printed_one(name, track, share):
    problem = light(name, horizon=4)
    agent, plans, history = played("eqo", problem, track, episodes=8, scale=0.005, share=share)
    for i in range(2):
        for k in range(8):
            assert_plan_is(agent, plans[k], printed(problem, agent, history[:k], i), i)


def test_constant_by_hand():
    """24 H S A/delta = 24 * 4 * 16/0.05 = 30,720; for a million episodes the second term is the larger one."""
    few, many = (
        loop.make_agent(spec("eqo", light("chain", horizon=4), episodes=K, scale=0.5)).facts()["c"] for K in (10, 10**6)
    )
    assert few == pytest.approx([14 * np.log(30_720)] * 2)
    assert many == pytest.approx([2.8 * np.sqrt(1e6 * np.log(30_720) / (16 * np.log(250_001)))] * 2)


def test_values_are_quasi_optimistic_at_the_stated_rate():
    """Freedman's inequality as the paper has it: with c = ln(1/delta)/lambda and one step, V + (3/4) lambda Var >= V*
    in all episodes with probability 1 - delta. More failures than are allowed have probability 1e-6 at most; without a
    bonus there are more.
    """
    problem, delta, lam, seeds = light("jao", horizon=1), 0.1, 0.5, 200
    theory = loop.make_agent(spec("eqo", problem, episodes=150)).facts()["c"][0]
    margin = 0.75 * lam * problem.optimal_value * (1 - problem.optimal_value)

    def failures(scale):
        optimism = play("eqo", problem, "U", range(seeds), 150, scale=scale)["optimism"]
        return int(np.any(optimism + margin < 0, axis=1).sum())

    allowed = stats.binom(seeds, delta).isf(1e-6)
    bonus = np.log(1 / delta) / lam / theory
    assert failures(bonus) <= allowed < failures(0.0)
