"""Epsilon-greedy: the mixture is what is played, and what regret is measured of."""

import numpy as np
import pytest

from helpers import LOG, light, play, trained, value_of
from transcription import played


@pytest.mark.parametrize("name", ["chain", "riverswim", "waves"])
def test_policies_mix_the_greedy_one_with_the_uniform_one(name):
    problem = light(name)
    plan, greedy = (trained(a, problem, **v).plan(5) for a, v in (("eps-greedy", {"epsilon": 0.2}), ("greedy", {})))
    A = problem.model.n_actions
    assert np.array_equal(plan.policy.argmax(-1), greedy.policy)
    assert np.allclose(plan.policy.max(-1), 0.8 + 0.2 / A)
    assert np.allclose(plan.policy.min(-1), 0.2 / A)
    assert np.allclose(plan.policy.sum(-1), 1.0)
    assert plan.values.tobytes() == greedy.values.tobytes()


CASES = [("chain", "U", "same"), ("riverswim", "K", "same"), ("waves", "U", "same"), ("riverswim", "K", "previous")]


@pytest.mark.parametrize(("name", "track", "backup"), CASES)
def test_plans_in_counts_by_loops(name, track, backup):
    """Ayoub et al.'s baseline, from the whole history; their code backs up the values of the previous plan."""
    problem, H, epsilon = light(name, horizon=4), 4, 0.1
    space, C, A = problem.model.space, problem.model.n_cells, problem.model.n_actions
    _, plans, history = played("eps-greedy", problem, track, episodes=8, epsilon=epsilon, model="counts", backup=backup)
    for i in range(2):
        visits, last = np.zeros((C, A, C)), np.zeros((H + 1, C))
        for plan, t in zip(plans, history, strict=True):
            R = space.cell_means(plan.rewards[i])
            assert track == "U" or np.allclose(R, problem.R)
            V = np.zeros((H + 1, C))
            for h in reversed(range(H)):
                ahead, Q = (V if backup == "same" else last)[h + 1], np.empty((C, A))
                for s, a in np.ndindex(C, A):
                    Q[s, a] = min(max(R[s, a] + visits[s, a] @ ahead / (visits[s, a].sum() + 1), 0), H)
                assert np.allclose(Q[np.arange(C), plan.policy[i, h].argmax(-1)], Q.max(1), rtol=0, atol=1e-10)
                # For two actions as in the authors' code: (1 - eps/2) max + eps/2 min.
                V[h] = (1 - epsilon / 2) * Q.max(1) + epsilon / 2 * Q.min(1)
            assert np.allclose(plan.values[i].reshape(C, -1), V[0][:, None], rtol=0, atol=1e-10)
            last = V
            np.add.at(visits, (t.cells[i], t.actions[i], space.cell(t.next_states[i])), 1)


def test_regret_is_that_of_the_mixture():
    problem = light("chain")
    _, plans, history = played("eps-greedy", problem, episodes=6, epsilon=0.3)
    regret = play("eps-greedy", problem, "U", (0, 1), 6, epsilon=0.3)["regret"]
    for k, (plan, t) in enumerate(zip(plans, history, strict=True)):
        for i in range(2):
            first = t.cells[i, 0]
            lost = problem.optimum[1][0][first] - value_of(plan.policy[i], problem.R, problem.P)[first]
            assert regret[i, k] == pytest.approx(lost, abs=1e-9)


def test_actions_have_the_mixture_s_frequencies():
    """First actions of 4000 seeds: a binomial count within 5 standard deviations."""
    _, plans, history = played("eps-greedy", light("chain", horizon=1), seeds=range(4000), episodes=1, epsilon=0.3)
    favourite = plans[0].policy[np.arange(4000), 0, history[0].cells[:, 0]].argmax(-1)
    assert abs((history[0].actions[:, 0] != favourite).sum() - 4000 * 0.15) < 5 * np.sqrt(4000 * 0.15 * 0.85)


@pytest.mark.parametrize("track", ["U", "K"])
def test_extreme_epsilons_are_greedy_and_random(track):
    problem = light("riverswim")
    for epsilon, same_as, keys in ((0, "greedy", LOG), (1, "random", ["regret"])):
        mixed = play("eps-greedy", problem, track, episodes=20, epsilon=epsilon)
        plain = play(same_as, problem, track, episodes=20)
        assert all(np.allclose(mixed[key], plain[key], rtol=0, atol=1e-12, equal_nan=True) for key in keys)
