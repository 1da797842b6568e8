"""Statistics on anchors: plain sums where cells have one anchor, Lagrange weights elsewhere."""

import dataclasses

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
    counts, rewards = np.zeros_like(data.counts), np.zeros_like(data.sum_reward)
    psi = np.zeros_like(data.sum_psi)
    for i in range(len(SEEDS)):
        for s, a, r, after in zip(*samples(played, i), strict=True):
            x = int(problem.model.space.cell(np.array(s)))
            counts[i, x, a] += 1
            rewards[i, x, a] += r
            psi[i, x, a] += problem.model.family.statistic(np.array(after))
    assert np.array_equal(data.counts, counts)
    assert np.allclose(data.sum_reward, rewards, rtol=1e-13, atol=1e-13)
    assert np.allclose(data.sum_psi, psi, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", SMOOTH)
def test_visits_touch_the_anchors_of_their_cell_alone(name):
    problem = instance(name)
    data, played = gathered(problem)
    per_cell = problem.model.space.per_cell
    for i in range(len(SEEDS)):
        states, actions, rewards, next_states = samples(played, i)
        cells = problem.model.space.cell(states)
        visits = np.zeros((problem.model.n_cells, problem.model.n_actions))
        np.add.at(visits, (cells, actions), 1)
        near = data.counts[i].reshape(problem.model.n_cells, per_cell, -1)
        assert np.allclose(near.sum(1), visits, rtol=0, atol=1e-11)
        assert np.all(near[np.broadcast_to(visits[:, None], near.shape) == 0] == 0)
        assert data.sum_reward[i].sum() == pytest.approx(rewards.sum(), abs=1e-9)
        psi = problem.model.family.statistic(next_states)
        assert data.sum_psi[i].sum((0, 1)) == pytest.approx(psi.sum(0), abs=1e-9)


@pytest.mark.parametrize("name", SMOOTH)
def test_sums_of_polynomials_of_the_state_are_exact(name):
    """sum_x N(x, a) f(x) = sum over visits of f(s), and with rewards and psi: for f of less degree than the order."""
    problem = instance(name)
    space = problem.model.space
    assert space.dim == 1
    data, played = gathered(problem)
    half = space.high[0]  # powers of s/half stay within [-1, 1] but for the few states outside the box
    for i in range(len(SEEDS)):
        states, actions, rewards, next_states = samples(played, i)
        psi = problem.model.family.statistic(next_states)
        for degree in range(space.order):
            there, here = (space.nodes / half) ** degree, (states / half) ** degree
            for a in range(problem.model.n_actions):
                taken = actions == a
                assert there @ data.counts[i, :, a] == pytest.approx(here[taken].sum(), abs=1e-10)
                assert there @ data.sum_reward[i, :, a] == pytest.approx((here * rewards)[taken].sum(), abs=1e-10)
                assert there @ data.sum_psi[i, :, a] == pytest.approx(here[taken] @ psi[taken], abs=1e-10)


@pytest.mark.parametrize("name", INSTANCES)
def test_episodes_add_up_in_any_order_and_a_seed_counts_alone(name):
    problem = instance(name)
    data, played = gathered(problem)
    backwards, alone = Data(problem.model, len(SEEDS)), Data(problem.model, 1)
    for episode in played[::-1]:
        backwards.add(episode)
    for episode in played:
        one = {field.name: getattr(episode, field.name)[1:2] for field in dataclasses.fields(episode)}
        alone.add(type(episode)(**one))
    for key in ("counts", "sum_psi", "sum_reward"):
        assert np.allclose(getattr(data, key), getattr(backwards, key), rtol=1e-12, atol=1e-12)
        assert np.array_equal(getattr(data, key)[1], getattr(alone, key)[0])


@pytest.mark.parametrize("name", INSTANCES)
def test_totals_of_matrices_are_those_of_their_entries(name, rng):
    problem = instance(name)
    data, played = gathered(problem, episodes=1)
    visits = Visits(problem.model, played[0])
    values = rng.standard_normal((*played[0].actions.shape, 2, 3))
    whole = visits.total(values)
    assert whole.shape == (*data.counts.shape, 2, 3)
    for j, k in np.ndindex(2, 3):
        assert np.array_equal(whole[..., j, k], visits.total(values[..., j, k]))
    assert np.allclose(whole.sum((1, 2)), values.sum(1), rtol=0, atol=1e-11)
