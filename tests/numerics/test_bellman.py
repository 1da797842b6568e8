"""Dynamic programming against loops."""

import numpy as np
import pytest

from befrl.model.spaces import BinnedInterval, FiniteSpace, SmoothBox
from befrl.numerics import bellman
from helpers import optimal, value_of

SHAPES = [(1, 1, 1, 1), (2, 3, 2, 4), (2, 8, 3, 6), (2, bellman.FEW + 1, 2, 5)]


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
    value = lambda Q: 0.75 * bellman.largest(Q) + 0.25 * Q.mean(-1)  # noqa: E731
    Q, V = bellman.recursion(lambda h, V: np.clip(R[h] + expected(V), -h, H), H, (n, N, A), value)
    assert Q.shape == (n, H, N, A) and V.shape == (n, H + 1, N)
    assert np.all(V[:, H] == 0)
    for i, h, s in np.ndindex(n, H, N):
        for a in range(A):
            future = sum(P[i, s, a, t] * V[i, h + 1, t] for t in range(N))
            assert Q[i, h, s, a] == pytest.approx(min(max(R[h, i, s, a] + future, -h), H), abs=1e-12)
        assert V[i, h, s] == pytest.approx(0.75 * max(Q[i, h, s]) + 0.25 * sum(Q[i, h, s]) / A, abs=1e-12)


@pytest.mark.parametrize(("n", "N", "A", "H"), SHAPES)
def test_variance_by_loops_and_zero_where_the_next_state_is_certain(n, N, A, H, rng):
    P, V = models(rng, n, N, A)[1], rng.uniform(-1, 2, (n, N))
    P[:, 0, 0] = np.eye(N)[-1]
    mean = bellman.expectation(P)(V)
    found = bellman.variance(P)(V, mean)
    for i, s, a in np.ndindex(n, N, A):
        loops = sum(P[i, s, a, t] * (V[i, t] - mean[i, s, a]) ** 2 for t in range(N))
        assert found[i, s, a] == pytest.approx(loops, abs=1e-14)
    assert np.all(found[:, 0, 0] == 0)


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


def test_all_anchors_of_a_cell_have_its_policy(rng):
    """Three anchors a cell: the table of the cell is that of each of its anchors."""
    R, P = (part[0] for part in models(rng, 1, 12, 2))
    shape = (2, 3, 5, 4)
    for table in (rng.dirichlet(np.ones(2), shape), rng.integers(0, 2, shape)):
        spread = np.stack([table[:, :, :, x // 3] for x in range(12)], axis=3)
        assert np.array_equal(bellman.evaluate(table, R, P), bellman.evaluate(spread, R, P))


@pytest.mark.parametrize("dim", [1, 2])
def test_the_policy_of_a_cell_is_greedy_for_the_mean_over_the_cell(dim, rng):
    """The mean is the integral over the cell, by hand for Q that are polynomials of the state."""
    edges = [np.array([0.0, 0.3, 1.0, 1.2])] * dim
    space = SmoothBox(edges, order=3)
    coefficients = rng.standard_normal((2, 5, 3, 3 if dim == 2 else 1))
    low, high, k = edges[0][:-1, None], edges[0][1:, None], np.arange(1, 4)
    moments = (high**k - low**k) / k / (high - low)
    s = space.nodes.reshape(space.n_anchors, dim)[..., None] ** np.arange(3)
    other, beside = (s[:, 1], moments) if dim == 2 else (np.ones((space.n_anchors, 1)), np.ones((1, 1)))
    Q = np.einsum("hajk,xj,xk->hxa", coefficients, s[:, 0], other)
    means = np.einsum("hajk,mj,nk->hmna", coefficients, moments, beside).reshape(2, space.n_cells, 5)
    policy = bellman.cell_policy(Q, space)
    assert np.array_equal(policy, means.argmax(-1))
    assert len(np.unique(policy)) > 1
    assert not np.array_equal(policy, Q[:, :: space.per_cell].argmax(-1))  # the first anchor alone would not do
    levels = rng.integers(0, 3, (4, 6, 3)).astype(float)
    for constant in (FiniteSpace(6), BinnedInterval(6)):
        assert np.array_equal(bellman.cell_policy(levels, constant), levels.argmax(-1))


def test_greedy_and_largest_are_argmax_and_max_up_to_rounding(rng):
    """The smallest of the best; differences of rounding do not count."""
    for size in (1e-3, 1.0, 1e4):
        Q = size * rng.integers(-3, 4, (5, 20, 4, 3)).astype(float)
        noise = 4 * np.finfo(float).eps * np.maximum(np.abs(Q), 1.0) * rng.uniform(-1, 1, Q.shape)
        assert (Q + noise != Q).any()
        assert np.array_equal(bellman.greedy(Q + noise), Q.argmax(-1))
        assert np.array_equal(bellman.greedy(Q), Q.argmax(-1)) and np.array_equal(bellman.largest(Q), Q.max(-1))


def test_a_seed_has_the_same_bits_alone(rng):
    R, P = models(rng, 5, 9, 3)
    together, alone = bellman.backward_induction(R, P, 7), bellman.backward_induction(R[3:4], P[3:4], 7)
    assert all(np.array_equal(whole[3], one[0]) for whole, one in zip(together, alone, strict=True))
    policies = rng.integers(0, 3, (5, 6, 7, 9))
    whole, alone = bellman.evaluate(policies, R[0], P[0]), bellman.evaluate(policies[3:4], R[0], P[0])
    assert np.array_equal(whole[3], alone[0])


@pytest.mark.parametrize("S", [5, bellman.FEW + 1])
def test_the_backup_of_the_last_plan_is_that_of_each_step_with_the_same_bits(S, rng):
    n, A, H = 4, 2, 6
    P, last = rng.dirichlet(np.ones(S), (n, S, A)), rng.random((H + 1, n, S))
    Q, V = bellman.previous_backup(P, last, lambda means: 0.5 + means)
    expected = bellman.expectation(P)
    for h in range(H):
        assert np.array_equal(Q[:, h], 0.5 + expected(last[h + 1]))
        assert np.array_equal(V[:, h], Q[:, h].max(-1))
    assert not V[:, H].any()


def test_the_values_of_policies_do_not_depend_on_the_groups(rng, monkeypatch):
    n, C, H, N, A = 7, 3, 5, 4, 3
    R, P = rng.random((N, A)), rng.dirichlet(np.ones(N), (N, A))
    policies = rng.integers(0, A, (n, C, H, N)), rng.dirichlet(np.ones(A), (n, C, H, N))
    whole = [bellman.evaluate(each, R, P) for each in policies]
    monkeypatch.setattr(bellman, "GROUP", 2 * A * N * C)
    assert all(np.array_equal(bellman.evaluate(*parts, R, P), V) for *parts, V in zip(policies, whole, strict=True))
