"""Dynamic programming against loops, and its two halves against each other."""

from itertools import pairwise

import numpy as np
import pytest

from befrl.model.spaces import BinnedInterval, FiniteSpace, SmoothBox
from befrl.numerics import bellman
from helpers import INSTANCES, instance, optimal, value_of

SHAPES = [(1, 1, 1, 1), (2, 3, 2, 4), (3, 5, 3, 6), (2, 8, 2, 11)]


def models(rng, n, N, A):
    P = rng.dirichlet(np.full(N, 0.5), (n, N, A))
    return rng.uniform(-1, 2, (n, N, A)), P


@pytest.mark.parametrize(("n", "N", "A", "H"), SHAPES)
def test_backward_induction_by_loops(n, N, A, H, rng):
    R, P = models(rng, n, N, A)
    Q, V = bellman.backward_induction(R, P, H)
    for i in range(n):
        Q_loops, V_loops = optimal(R[i], P[i], H)
        assert np.allclose(Q[i], Q_loops, rtol=0, atol=1e-12)
        assert np.allclose(V[i], V_loops, rtol=0, atol=1e-12)
    assert np.all(V[:, H] == 0)


@pytest.mark.parametrize(("n", "N", "A", "H"), SHAPES)
def test_a_recursion_with_its_own_step_and_value_by_loops(n, N, A, H, rng):
    """Steps that depend on h, and a value that is a mixture of the best and the mean."""
    R, P = rng.normal(size=(H, n, N, A)), rng.normal(size=(n, N, A, N))
    expected = bellman.expectation(P)
    Q, V = bellman.recursion(
        lambda h, V: np.clip(R[h] + expected(V), -h, H),
        H,
        (n, N, A),
        lambda Q: 0.75 * bellman.largest(Q) + 0.25 * Q.mean(-1),
    )
    assert Q.shape == (n, H, N, A)
    assert V.shape == (n, H + 1, N)
    assert np.all(V[:, H] == 0)
    for i, h, s in np.ndindex(n, H, N):
        for a in range(A):
            future = sum(P[i, s, a, t] * V[i, h + 1, t] for t in range(N))
            assert Q[i, h, s, a] == pytest.approx(min(max(R[h, i, s, a] + future, -h), H), abs=1e-12)
        assert V[i, h, s] == pytest.approx(0.75 * max(Q[i, h, s]) + 0.25 * sum(Q[i, h, s]) / A, abs=1e-12)


@pytest.mark.parametrize(("n", "N", "A", "H"), SHAPES)
def test_evaluation_by_loops(n, N, A, H, rng):
    R, P = (part[0] for part in models(rng, 1, N, A))
    actions = rng.integers(0, A, (n, 4, H, N))
    probabilities = rng.dirichlet(np.ones(A), (n, 4, H, N))
    V, W = bellman.evaluate(actions, R, P), bellman.evaluate(probabilities, R, P)
    for i in range(n):
        for c in range(4):
            assert np.allclose(V[i, c], value_of(actions[i, c], R, P), rtol=0, atol=1e-12)
            assert np.allclose(W[i, c], value_of(probabilities[i, c], R, P), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("n", "N", "A", "H"), SHAPES)
def test_sure_probabilities_are_actions(n, N, A, H, rng):
    R, P = (part[0] for part in models(rng, 1, N, A))
    actions = rng.integers(0, A, (n, 2, H, N))
    sure = bellman.evaluate(np.eye(A)[actions], R, P)
    assert np.allclose(bellman.evaluate(actions, R, P), sure, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", INSTANCES)
def test_the_optimal_policy_has_the_optimal_value(name):
    """But for what a policy loses that is constant on cells, where features are not."""
    problem = instance(name)
    V = bellman.evaluate(problem.optimal_policy[None, None], problem.R, problem.P)[0, 0]
    lost = problem.optimum[1][0] - V
    assert lost.min() > -1e-12
    assert problem.start_masses @ lost == pytest.approx(problem.cell_loss, abs=1e-12)
    if not problem.model.smooth:
        assert lost.max() < 1e-12


def test_a_mixture_of_actions_averages_one_step(rng):
    R, P = (part[0] for part in models(rng, 1, 3, 2))
    probabilities = rng.dirichlet(np.ones(2), (1, 1, 1, 3))
    assert bellman.evaluate(probabilities, R, P)[0, 0] == pytest.approx((probabilities[0, 0, 0] * R).sum(-1))


@pytest.mark.parametrize("probabilities", [False, True])
def test_a_cell_acts_alike_on_all_its_anchors(probabilities, rng):
    """Three anchors a cell: the table of the cell is that of each of its anchors."""
    R, P = (part[0] for part in models(rng, 1, 12, 2))
    shape = (2, 3, 5, 4)
    table = rng.dirichlet(np.ones(2), shape) if probabilities else rng.integers(0, 2, shape)
    V = bellman.evaluate(table, R, P)
    spread = np.stack([table[:, :, :, x // 3] for x in range(12)], axis=3)
    assert np.array_equal(V, bellman.evaluate(spread, R, P))
    for i in range(2):
        for c in range(3):
            assert np.allclose(V[i, c], value_of(spread[i, c], R, P), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dim", [1, 2])
def test_the_policy_of_a_cell_is_greedy_for_the_mean_over_the_cell(dim, rng):
    """The mean is the integral over the cell, by hand for Q that are polynomials of the state."""
    edges = [np.array([0.0, 0.3, 1.0, 1.2])] * dim
    space = SmoothBox(edges, order=3)
    powers, coefficients = range(3), rng.standard_normal((5, 2) + (3,) * dim)
    s = space.nodes.reshape(space.n_anchors, dim)
    Q = np.zeros((2, space.n_anchors, 5))
    means = np.zeros((2, space.n_cells, 5))
    moments = [[(b ** (k + 1) - a ** (k + 1)) / (k + 1) / (b - a) for k in powers] for a, b in pairwise(edges[0])]
    for h in range(2):
        for a in range(5):
            if dim == 1:
                Q[h, :, a] = sum(coefficients[a, h, k] * s[:, 0] ** k for k in powers)
                means[h, :, a] = [sum(coefficients[a, h, k] * m[k] for k in powers) for m in moments]
                continue
            pairs = [(j, k) for j in powers for k in powers]
            Q[h, :, a] = sum(coefficients[a, h, j, k] * s[:, 0] ** j * s[:, 1] ** k for j, k in pairs)
            cells = [(m, n) for m in moments for n in moments]
            means[h, :, a] = [sum(coefficients[a, h, j, k] * m[j] * n[k] for j, k in pairs) for m, n in cells]
    policy = bellman.cell_policy(Q, space)
    assert np.array_equal(policy, means.argmax(-1))
    assert len(np.unique(policy)) > 1
    assert not np.array_equal(policy, Q[:, :: space.per_cell].argmax(-1))  # the first anchor alone would not do


def test_anchors_count_by_their_weights():
    """Weights 5/18, 8/18, 5/18: an advantage at the middle anchor alone is worth 8/18, not a third."""
    space = SmoothBox([np.array([0.0, 1.0, 3.0])], order=3)
    Q = np.zeros((6, 2))
    Q[:, 1] = [0.40, 0.40, 0.40, 0.45, 0.45, 0.45]
    Q[[1, 4], 0] = 1.0
    assert bellman.cell_policy(Q, space).tolist() == [0, 1]


def test_where_a_cell_has_one_anchor_its_policy_is_greedy(rng):
    Q = rng.integers(0, 3, (4, 6, 3)).astype(float)
    for space in (FiniteSpace(6), BinnedInterval(6)):
        assert np.array_equal(bellman.cell_policy(Q, space), Q.argmax(-1))


def test_greedy_takes_the_smallest_of_the_best():
    Q = np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 2.0], [3.0, 1.0, 3.0], [0.0, 1.0, 2.0], [-1.0, -2.0, -1.0]])
    assert bellman.greedy(Q).tolist() == [0, 1, 0, 2, 0]
    assert bellman.largest(Q).tolist() == [1.0, 2.0, 3.0, 2.0, -1.0]


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_rounding_breaks_no_tie(size, rng):
    Q = size * rng.integers(-3, 4, (50, 40, 3)).astype(float)
    noise = 4 * np.finfo(float).eps * np.maximum(np.abs(Q), 1.0) * rng.uniform(-1, 1, Q.shape)
    assert (Q + noise != Q).any()
    assert np.array_equal(bellman.greedy(Q + noise), Q.argmax(-1))


def test_greedy_and_largest_are_argmax_and_max(rng):
    Q = rng.integers(0, 4, (5, 7, 3, 4)).astype(float)
    assert np.array_equal(bellman.greedy(Q), Q.argmax(-1))
    assert np.array_equal(bellman.largest(Q), Q.max(-1))


def test_a_seed_has_the_same_bits_alone(rng):
    R, P = models(rng, 5, 9, 3)
    for whole, alone in zip(
        bellman.backward_induction(R, P, 7), bellman.backward_induction(R[3:4], P[3:4], 7), strict=True
    ):
        assert np.array_equal(whole[3], alone[0])
    policies = rng.integers(0, 3, (5, 6, 7, 9))
    whole, alone = bellman.evaluate(policies, R[0], P[0]), bellman.evaluate(policies[3:4], R[0], P[0])
    assert np.array_equal(whole[3], alone[0])


@pytest.mark.parametrize("S", [5, bellman.FEW + 1])
def test_the_backup_of_the_last_plan_is_that_of_each_step_with_the_same_bits(S):
    rng = np.random.default_rng(3)
    n, A, H = 4, 2, 6
    P, last = rng.dirichlet(np.ones(S), (n, S, A)), rng.random((H + 1, n, S))
    Q, V = bellman.previous_backup(P, last, lambda means: 0.5 + means)
    expected = bellman.expectation(P)
    for h in range(H):
        assert np.array_equal(Q[:, h], 0.5 + expected(last[h + 1]))
        assert np.array_equal(V[:, h], Q[:, h].max(-1))
    assert not V[:, H].any()


@pytest.mark.parametrize("random", [False, True])
def test_the_values_of_policies_do_not_depend_on_the_groups(random, monkeypatch):
    rng = np.random.default_rng(4)
    n, C, H, N, A = 7, 3, 5, 4, 3
    R, P = rng.random((N, A)), rng.dirichlet(np.ones(N), (N, A))
    policies = rng.dirichlet(np.ones(A), (n, C, H, N)) if random else rng.integers(0, A, (n, C, H, N))
    whole = bellman.evaluate(policies, R, P)
    monkeypatch.setattr(bellman, "GROUP", 2 * A * N * C)
    assert np.array_equal(bellman.evaluate(policies, R, P), whole)
