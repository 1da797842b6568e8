"""Statistics on anchors: plain sums where cells have one anchor, Lagrange weights elsewhere."""

import numpy as np
import pytest

from befrl.learning.data import Data, Visits
from helpers import CONSTANT, INSTANCES, SMOOTH, instance, random_episodes, samples

SEEDS = (0, 1, 2)


def gathered(problem, seeds=SEEDS, episodes=5):
    data, played = Data(problem.model, len(seeds)), random_episodes(problem, seeds, episodes)
    for episode in played:
        data.add(episode)
    return data, played


@pytest.mark.parametrize("name", CONSTANT)
def test_sums_over_visits_by_loops(name):
    problem = instance(name)
    data, played = gathered(problem)
    counts, rewards, psi = (np.zeros_like(part) for part in (data.counts, data.sum_reward, data.sum_psi))
    for i in range(len(SEEDS)):
        for s, a, r, after in zip(*samples(played, i), strict=True):
            x = int(problem.model.space.cell(np.array(s)))
            counts[i, x, a] += 1
            rewards[i, x, a] += r
            psi[i, x, a] += problem.model.family.statistic(np.array(after))
    assert np.array_equal(data.counts, counts)
    for found, summed in ((data.sum_reward, rewards), (data.sum_psi, psi)):
        assert np.allclose(found, summed, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", SMOOTH)
def test_sums_of_polynomials_of_the_state_are_exact_in_each_cell(name):
    """sum_x N(x, a) f(x) = sum over visits of f(s), and with rewards and psi: for f of less degree than the order."""
    problem = instance(name)
    space, shape = problem.model.space, (problem.model.n_cells, problem.model.space.per_cell)
    data, played = gathered(problem)
    half = space.high[0]  # powers of s/half stay within [-1, 1] but for the few states outside the box
    for i in range(len(SEEDS)):
        states, actions, rewards, next_states = samples(played, i)
        cells, psi = space.cell(states), problem.model.family.statistic(next_states)
        for degree, a in np.ndindex(space.order, problem.model.n_actions):
            there, here, taken = (space.nodes / half) ** degree, (states / half) ** degree, actions == a
            for found, values in (
                (data.counts[i, :, a, None], here[:, None]),
                (data.sum_reward[i, :, a, None], (here * rewards)[:, None]),
                (data.sum_psi[i, :, a], here[:, None] * psi),
            ):
                expected = np.zeros((shape[0], values.shape[1]))
                np.add.at(expected, cells[taken], values[taken])
                assert (there[:, None] * found).reshape(*shape, -1).sum(1) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("name", INSTANCES)
def test_totals_of_matrices_are_those_of_their_entries(name, rng):
    problem = instance(name)
    data, played = gathered(problem, episodes=1)
    visits, values = Visits(problem.model, played[0]), rng.standard_normal((*played[0].actions.shape, 2, 3))
    whole = visits.total(values)
    assert whole.shape == (*data.counts.shape, 2, 3)
    for j, k in np.ndindex(2, 3):
        assert np.array_equal(whole[..., j, k], visits.total(values[..., j, k]))
    assert np.allclose(whole.sum((1, 2)), values.sum(1), rtol=0, atol=1e-11)
