"""Ties: one of the best actions is chosen, each equally often; key, plan and place decide, and nothing else."""

import itertools

import numpy as np
import pytest
from scipy import stats

from befrl.experiment.spec import RunSpec
from befrl.numerics import bellman
from befrl.numerics.ties import FirstTies, RandomTies, hashed
from helpers import ROOT, instance

KEYS = np.random.default_rng(3).integers(0, 2**64, 200, dtype=np.uint64)


def coarse(rng, shape, levels=3):
    """Values on a few levels, so that many are equal, with differences of rounding between equal ones."""
    Q = rng.integers(-levels, levels, shape) * 7.3
    return Q * (1.0 + 1e-15 * rng.integers(-2, 3, shape))


def best(Q):
    """Which actions are best up to rounding, by loops."""
    return np.array([[q >= max(row) - 1e-12 * (1 + abs(max(row))) for q in row] for row in Q.reshape(-1, Q.shape[-1])])


@pytest.mark.parametrize("breaker", [lambda n: RandomTies(KEYS[:n]), FirstTies], ids=["random", "first"])
@pytest.mark.parametrize("actions", [1, 2, 3, 7])
def test_the_chosen_action_is_one_of_the_best(breaker, actions, rng):
    Q = coarse(rng, (5, 4, 6, actions))
    ties = breaker(5)
    good = best(Q).reshape(Q.shape)
    for _ in range(3):
        action = ties.greedy(Q)
        assert action.shape == Q.shape[:-1]
        assert np.all(np.take_along_axis(good, action[..., None].astype(int), axis=-1))
        assert ties.share == pytest.approx((good.sum(-1) > 1).mean((1, 2)), abs=1e-15)
    assert actions == 1 or np.any(good.sum(-1) > 1)


def test_differences_beyond_rounding_break_ties():
    """The tolerance is 1e-12 (1 + |best|), at both signs."""
    for at in (-1e3, -1.0, 0.0, 1.0, 1e3):
        step = 1e-12 * (1 + abs(at))
        Q = np.tile([at, at - 2 * step, at - step / 2], (200, 1))
        ties = RandomTies(KEYS)
        assert set(ties.greedy(Q)) == {0, 2}
        assert np.all(ties.share == 1.0)
        Q[:, 2] = at - 2 * step
        assert np.all(ties.greedy(Q) == 0)
        assert np.all(ties.share == 0.0)


def test_first_ties_and_untied_values_are_argmax(rng):
    Q = rng.integers(0, 3, (6, 5, 4)).astype(float)
    rounded = Q + 1e-14 * rng.standard_normal(Q.shape)
    for found in (FirstTies(6).greedy(Q), FirstTies(6).greedy(rounded), bellman.greedy(Q)):
        assert np.array_equal(found, Q.argmax(-1))
    untied, ties = rng.standard_normal((200, 5, 3)), RandomTies(KEYS)
    assert np.array_equal(ties.greedy(untied), untied.argmax(-1))
    assert np.all(ties.share == 0.0)


@pytest.mark.parametrize("equal", [(0, 1), (1, 2), (0, 2, 3), (0, 1, 2, 3, 4)])
def test_equal_actions_are_equally_frequent(equal):
    """Chi-square with m - 1 degrees of freedom, over 2,000 choices that differ in places, plans or keys alone.

    12 tests at the level 1e-4 each: 1.2e-3 of all keys would fail; the keys are fixed.
    """
    values, count, ties = np.isin(np.arange(5), equal).astype(float), 2_000, RandomTies(KEYS[:1])
    neighbours = RandomTies(np.arange(count, dtype=np.uint64))
    for drawn in (
        RandomTies(KEYS[:1]).greedy(np.tile(values, (1, count, 1))),
        neighbours.greedy(np.tile(values, (count, 1, 1))),
        np.array([ties.greedy(values[None, None]) for _ in range(count)]),
    ):
        frequency = np.bincount(drawn.ravel(), minlength=5)
        assert frequency.sum() == frequency[list(equal)].sum() == count
        assert stats.chisquare(frequency[list(equal)]).pvalue > 1e-4


def test_choices_are_independent_over_keys_plans_and_places():
    """Signs of two equal actions, for 8 neighbouring keys, 8 plans and 20,000 places of each.

    Correlations between any two of the 64 (key, plan), and of each with all, its own included, up to 20 places later:
    84,000 numbers, each within 6 standard errors, false alarms 1.7e-4.
    """
    count, ties = 20_000, RandomTies(np.arange(8, dtype=np.uint64))
    signs = np.concatenate([2.0 * ties.greedy(np.zeros((8, count, 2))) - 1.0 for _ in range(8)])
    for later in range(21):
        products = signs[:, later:] @ signs[:, : count - later].T / (count - later)
        if later == 0:
            products -= np.eye(64)
        assert np.abs(products).max() < 6 / np.sqrt(count - later)


def test_hashed_numbers_are_uniform_and_those_of_splitmix():
    """Kolmogorov-Smirnov at 1e-4; and the first outputs of SplitMix64 for the seed 1234567, which are published."""
    u = hashed(KEYS[:1], np.arange(20_000, dtype=np.uint64))
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    u = hashed(np.uint64(1234567), np.arange(1, 4, dtype=np.uint64))
    assert list(u) == [(word >> 11) / 2**53 for word in published]


def test_a_row_does_not_depend_on_the_rows_beside_it(rng):
    """Not on their keys, nor on where they tie."""
    Q = coarse(rng, (3, 6, 4, 10, 3))
    together, alone = RandomTies(KEYS[:6]), [RandomTies(KEYS[i : i + 1]) for i in range(6)]
    for k in range(3):
        expected = np.concatenate([ties.greedy(Q[k, i : i + 1]) for i, ties in enumerate(alone)])
        assert np.array_equal(together.greedy(Q[k]), expected)
        assert np.array_equal(together.share, np.concatenate([ties.share for ties in alone]))


def test_a_plan_without_ties_counts_as_a_plan(rng):
    """Otherwise a row's choices would depend on whether another row tied before."""
    ties, other = RandomTies(KEYS), RandomTies(KEYS)
    tied = np.zeros((200, 4, 2))
    ties.greedy(tied)
    other.greedy(rng.standard_normal((200, 4, 2)))
    assert np.array_equal(ties.greedy(tied), other.greedy(tied))


@pytest.mark.parametrize("breaker", [lambda n: RandomTies(KEYS[:n]), FirstTies], ids=["random", "first"])
def test_the_order_in_memory_does_not_matter(breaker, rng):
    Q = coarse(rng, (4, 3, 5, 3))
    expected = breaker(4).greedy(Q)
    for order in itertools.permutations(range(4)):
        moved = np.ascontiguousarray(Q.transpose(order)).transpose(np.argsort(order))
        action = breaker(4).greedy(moved)
        assert np.array_equal(action, expected)
        assert action.flags.c_contiguous


def test_keys_are_those_of_the_seeds():
    """The same for all settings of a seed, another one for each seed, instance and root."""
    problem = instance("chain", bins=3, horizon=4)

    def choices(seeds, settings=({},), name="test", root=ROOT):
        spec = RunSpec.of(problem, name, "greedy", list(settings), 5, seeds, root_seed=root)
        return [row.tobytes() for row in spec.tie_breaker().greedy(np.zeros((spec.rows, 4, 30, 2)))]

    base = choices([3, 4])
    assert choices([4, 3], [{}, {"eta": 2.0}]) == [base[1], base[0]] * 2
    others = [*base, *choices([3], name="other"), *choices([3], root=ROOT + 1)]
    assert len(set(others)) == 4
