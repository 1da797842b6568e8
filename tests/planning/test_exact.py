"""Dynamic programming against loops, and its two halves against each other."""

import numpy as np
import pytest

from befrl import planning
from helpers import INSTANCES, instance, optimal, value_of

SHAPES = [(1, 1, 1, 1), (2, 3, 2, 4), (3, 5, 3, 6), (2, 8, 2, 11)]


def models(rng, n, N, A):
    P = rng.dirichlet(np.full(N, 0.5), (n, N, A))
    return rng.uniform(-1, 2, (n, N, A)), P


@pytest.mark.parametrize(("n", "N", "A", "H"), SHAPES)
def test_backward_induction_by_loops(n, N, A, H, rng):
    R, P = models(rng, n, N, A)
    Q, V = planning.backward_induction(R, P, H)
    for i in range(n):
        Q_loops, V_loops = optimal(R[i], P[i], H)
        assert np.allclose(Q[i], Q_loops, rtol=0, atol=1e-12)
        assert np.allclose(V[i], V_loops, rtol=0, atol=1e-12)
    assert np.all(V[:, H] == 0)


@pytest.mark.parametrize(("n", "N", "A", "H"), SHAPES)
def test_evaluation_by_loops(n, N, A, H, rng):
    R, P = (part[0] for part in models(rng, 1, N, A))
    actions = rng.integers(0, A, (n, 4, H, N))
    probabilities = rng.dirichlet(np.ones(A), (n, 4, H, N))
    V, W = planning.evaluate(actions, R, P), planning.evaluate(probabilities, R, P)
    for i in range(n):
        for c in range(4):
            assert np.allclose(V[i, c], value_of(actions[i, c], R, P), rtol=0, atol=1e-12)
            assert np.allclose(W[i, c], value_of(probabilities[i, c], R, P), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("n", "N", "A", "H"), SHAPES)
def test_sure_probabilities_are_actions(n, N, A, H, rng):
    R, P = (part[0] for part in models(rng, 1, N, A))
    actions = rng.integers(0, A, (n, 2, H, N))
    sure = planning.evaluate(np.eye(A)[actions], R, P)
    assert np.allclose(planning.evaluate(actions, R, P), sure, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", INSTANCES)
def test_the_optimal_policy_has_the_optimal_value(name):
    problem = instance(name)
    V = planning.evaluate(problem.optimal_policy[None, None], problem.R, problem.P)[0, 0]
    assert np.allclose(V, problem.optimum[1][0], rtol=0, atol=1e-12)


def test_a_mixture_of_actions_averages_one_step(rng):
    R, P = (part[0] for part in models(rng, 1, 3, 2))
    probabilities = rng.dirichlet(np.ones(2), (1, 1, 1, 3))
    assert planning.evaluate(probabilities, R, P)[0, 0] == pytest.approx((probabilities[0, 0, 0] * R).sum(-1))


def test_greedy_takes_the_smallest_of_the_best():
    Q = np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 2.0], [3.0, 1.0, 3.0], [0.0, 1.0, 2.0], [-1.0, -2.0, -1.0]])
    assert planning.greedy(Q).tolist() == [0, 1, 0, 2, 0]
    assert planning.largest(Q).tolist() == [1.0, 2.0, 3.0, 2.0, -1.0]


def test_greedy_and_largest_are_argmax_and_max(rng):
    Q = rng.integers(0, 4, (5, 7, 3, 4)).astype(float)
    assert np.array_equal(planning.greedy(Q), Q.argmax(-1))
    assert np.array_equal(planning.largest(Q), Q.max(-1))


def test_a_seed_has_the_same_bits_alone(rng):
    R, P = models(rng, 5, 9, 3)
    for whole, alone in zip(
        planning.backward_induction(R, P, 7), planning.backward_induction(R[3:4], P[3:4], 7), strict=True
    ):
        assert np.array_equal(whole[3], alone[0])
    policies = rng.integers(0, 3, (5, 6, 7, 9))
    whole, alone = planning.evaluate(policies, R[0], P[0]), planning.evaluate(policies[3:4], R[0], P[0])
    assert np.array_equal(whole[3], alone[0])
