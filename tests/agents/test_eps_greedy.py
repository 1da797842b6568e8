"""Epsilon-greedy: the mixture is what is played, and what regret is measured of."""

import numpy as np
import pytest

from befrl import agents
from befrl.agents.eps_greedy import mixture
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import LOG, ROOT, light, play, trained, value_of
from transcription import played


def test_mixture_by_hand():
    policy = mixture(np.array([[[2, 0]], [[1, 1]]]), np.array([0.3, 0.6]), 3)
    assert np.allclose(policy, [[[[0.1, 0.1, 0.8], [0.8, 0.1, 0.1]]], [[[0.2, 0.6, 0.2], [0.2, 0.6, 0.2]]]])


@pytest.mark.parametrize("name", ["chain", "riverswim", "waves"])
def test_policies_mix_the_greedy_one_with_the_uniform_one(name):
    problem = light(name)
    plan, greedy = (trained(a, problem, **v).plan(5) for a, v in (("eps-greedy", {"epsilon": 0.2}), ("greedy", {})))
    A = problem.model.n_actions
    assert np.array_equal(plan.policy.argmax(-1), greedy.policy)
    assert np.allclose(plan.policy.max(-1), 0.8 + 0.2 / A)
    assert np.allclose(plan.policy.min(-1), 0.2 / A)
    assert plan.values.tobytes() == greedy.values.tobytes()


@pytest.mark.parametrize("name", ["chain", "riverswim", "waves"])
@pytest.mark.parametrize("track", ["U", "K"])
def test_plan_in_counts_by_loops(name, track):
    """Ayoub et al.'s baseline, from the whole history."""
    problem = light(name, horizon=4)
    space, H, epsilon = problem.model.space, 4, 0.1
    parameters = agents.parameters("eps-greedy", {"epsilon": epsilon, "model": "counts"})
    agent = loop.make_agent(RunSpec(problem, "test", "eps-greedy", parameters, 5, [0, 1], track, ROOT))
    plans, history = played(agent, problem, [0, 1], 5)
    for i in range(2):
        visits = np.zeros((space.n_cells, problem.model.n_actions, space.n_cells))
        for t in history[:4]:
            following = space.cell(t.next_states[i])
            for h in range(H):
                visits[t.cells[i, h], t.actions[i, h], following[h]] += 1
        R = plans[4].rewards[i].reshape(space.n_cells, space.per_cell, -1)
        R = np.einsum("cja,j->ca", R, space.cell_shares)
        V = np.zeros(space.n_cells)
        for h in reversed(range(H)):
            Q = np.empty_like(R)
            for s, a in np.ndindex(Q.shape):
                Q[s, a] = min(max(R[s, a] + visits[s, a] @ V / (visits[s, a].sum() + 1), 0), H)
            best = Q.max(1)
            played_here = plans[4].policy[i, h].argmax(-1)
            assert np.allclose(Q[np.arange(len(Q)), played_here], best, rtol=0, atol=1e-10)
            # For two actions as in the authors' code: (1 - eps/2) max + eps/2 min.
            V = (1 - epsilon / 2) * best + epsilon / 2 * Q.min(1)
        assert np.allclose(plans[4].values[i].reshape(space.n_cells, -1), V[:, None], rtol=0, atol=1e-10)


def test_the_code_of_ayoub_et_al_backs_up_the_values_of_the_previous_plan():
    problem = light("riverswim", horizon=4)
    H, (S, A), epsilon, seeds = 4, problem.R.shape, 0.1, (0, 1)
    parameters = agents.parameters("eps-greedy", {"epsilon": epsilon, "model": "counts", "backup": "previous"})
    agent = loop.make_agent(RunSpec(problem, "test", "eps-greedy", parameters, 12, seeds, "K", ROOT))
    plans, history = played(agent, problem, seeds, 12)
    for i in range(len(seeds)):
        visits, last = np.zeros((S, A, S)), np.zeros((H + 1, S))
        for plan, episode in zip(plans, history, strict=True):
            V = np.zeros((H + 1, S))
            for h in range(H):
                Q = np.clip(problem.R + visits @ last[h + 1] / (visits.sum(-1) + 1), 0, H)
                V[h] = (1 - epsilon / 2) * Q.max(1) + epsilon / 2 * Q.min(1)
                assert np.allclose(Q[np.arange(S), plan.policy[i, h].argmax(-1)], Q.max(1), rtol=0, atol=1e-10)
            assert np.allclose(plan.values[i], V[0], rtol=0, atol=1e-10)
            last = V
            np.add.at(visits, (episode.cells[i], episode.actions[i], episode.next_states[i]), 1)


def test_regret_is_that_of_the_mixture():
    problem = light("chain")
    agent = loop.make_agent(
        RunSpec(problem, "test", "eps-greedy", agents.parameters("eps-greedy", {"epsilon": 0.3}), 6, [0, 1], "U", ROOT)
    )
    plans, history = played(agent, problem, [0, 1], 6)
    regret = play("eps-greedy", problem, "U", (0, 1), 6, epsilon=0.3)["regret"]
    for k, (plan, t) in enumerate(zip(plans, history, strict=True)):
        for i in range(2):
            first = t.cells[i, 0]
            lost = problem.optimum[1][0][first] - value_of(plan.policy[i], problem.R, problem.P)[first]
            assert regret[i, k] == pytest.approx(lost, abs=1e-9)


def test_actions_have_the_mixture_s_frequencies():
    """First actions of 4000 seeds: a binomial count within 5 standard deviations."""
    problem = light("chain", horizon=1)
    agent = loop.make_agent(
        RunSpec(
            problem, "test", "eps-greedy", agents.parameters("eps-greedy", {"epsilon": 0.3}), 1, range(4000), "U", ROOT
        )
    )
    plans, history = played(agent, problem, range(4000), 1)
    favourite = plans[0].policy[np.arange(4000), 0, history[0].cells[:, 0]].argmax(-1)
    other = (history[0].actions[:, 0] != favourite).sum()
    assert abs(other - 4000 * 0.15) < 5 * np.sqrt(4000 * 0.15 * 0.85)


@pytest.mark.parametrize("track", ["U", "K"])
def test_the_ends_are_greedy_and_random(track):
    problem = light("riverswim")
    greedy = play("greedy", problem, track, episodes=20)
    never = play("eps-greedy", problem, track, episodes=20, epsilon=0)
    assert all(np.allclose(greedy[key], never[key], rtol=0, atol=1e-12, equal_nan=True) for key in LOG)
    always = play("eps-greedy", problem, track, episodes=20, epsilon=1)
    assert np.allclose(always["regret"], play("random", problem, track, episodes=20)["regret"], rtol=0, atol=1e-12)
