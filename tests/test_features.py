"""Features in blocks against the matrices A_i and sums over (cell, action)."""

import numpy as np
import pytest

from befrl.features import Features
from helpers import full, full_U

N, A, P, Q = 3, 2, 2, 4


def dense(rng, d=5):
    phi, matrices = rng.standard_normal((N, A, Q)), rng.standard_normal((d, P, Q))
    return Features.dense(phi, matrices), phi, matrices


def shared(rng, blocks=3):
    """Several (cell, action) per block, in no order: the blocks are 2, 0, 1, 0, 2, 0."""
    block = np.array([[2, 0], [1, 0], [2, 0]])
    roots = rng.standard_normal((blocks, 4, 4))
    return Features(rng.standard_normal((N, A, P, 4)), block, roots @ np.swapaxes(roots, -1, -2))


def one_hot(rng):
    return Features.one_hot(N, A, P)


def any_dense(rng):
    return dense(rng)[0]


KINDS = [one_hot, any_dense, shared]


def test_dense_is_built_from_the_matrices(rng):
    features, phi, matrices = dense(rng)
    theta = rng.standard_normal((1, 5))
    M = sum(theta[0, i] * matrices[i] for i in range(5))
    for x in range(N):
        for a in range(A):
            assert features.natural(theta)[0, x, a] == pytest.approx(M @ phi[x, a])
            G = [[phi[x, a] @ matrices[i].T @ matrices[j] @ phi[x, a] for j in range(5)] for i in range(5)]
            assert np.allclose(features.gram[x, a], G, rtol=1e-12, atol=1e-12)
    traces = [[np.trace(matrices[i] @ matrices[j].T) for j in range(5)] for i in range(5)]
    assert np.allclose(features.trace[0], traces, rtol=1e-12, atol=1e-12)


def test_one_hot_is_the_dense_construction_of_the_same_features(rng):
    phi = np.eye(N * A).reshape(N, A, N * A)
    matrices = np.zeros((N * A * P, P, N * A))
    for i in range(N * A * P):
        matrices[i, i % P, i // P] = 1.0
    hot, same = Features.one_hot(N, A, P), Features.dense(phi, matrices)
    theta, vectors = rng.standard_normal((4, hot.d)), rng.standard_normal((4, N, A, P))
    C, counts, B = rng.standard_normal((4, N, A, P, P)), rng.integers(0, 9, (4, N, A)), rng.standard_normal(P)
    assert hot.d == same.d
    assert np.array_equal(full(hot.trace), same.trace[0])
    assert np.allclose(hot.natural(theta), same.natural(theta), rtol=0, atol=1e-14)
    assert np.allclose(hot.pull(vectors).reshape(4, -1), same.pull(vectors)[:, 0], rtol=0, atol=1e-14)
    for i in range(4):
        assert np.allclose(full(hot.sandwich(C)[i]), same.sandwich(C)[i, 0], rtol=0, atol=1e-14)
        assert np.array_equal(full(hot.design(counts)[i]), same.design(counts)[i, 0])
    for x in range(N):
        for a in range(A):
            assert np.array_equal(full_U(hot, x, a).T @ B, full_U(same, x, a).T @ B)


@pytest.mark.parametrize("kind", KINDS)
def test_pull_is_the_adjoint_of_natural(kind, rng):
    features = kind(rng)
    theta, vectors = rng.standard_normal((4, features.d)), rng.standard_normal((4, N, A, P))
    there = (features.natural(theta) * vectors).sum((1, 2, 3))
    back = (features.split(theta) * features.pull(vectors)).sum((1, 2))
    assert there == pytest.approx(back, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_cells_and_actions_by_loops(kind, rng):
    features = kind(rng)
    theta, vectors = rng.standard_normal((2, features.d)), rng.standard_normal((2, N, A, P))
    C, B = rng.standard_normal((2, N, A, P, P)), rng.standard_normal(P)
    pull, sandwich = np.zeros((2, features.d)), np.zeros((2, features.d, features.d))
    for x in range(N):
        for a in range(A):
            U = full_U(features, x, a)
            reward_vector = np.zeros((features.n_blocks, features.m))
            reward_vector[features.block[x, a]] = features.reward_vectors(B)[x, a]
            assert reward_vector.ravel() == pytest.approx(U.T @ B, abs=1e-14)
            for i in range(2):
                assert features.natural(theta)[i, x, a] == pytest.approx(U @ theta[i], abs=1e-13)
                pull[i] += U.T @ vectors[i, x, a]
                sandwich[i] += U.T @ C[i, x, a] @ U
    assert np.allclose(features.pull(vectors).reshape(2, -1), pull, rtol=0, atol=1e-13)
    for i in range(2):
        assert np.allclose(full(features.sandwich(C)[i]), sandwich[i], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_design_is_the_sum_over_visits(kind, rng):
    features = kind(rng)
    visits = [(rng.integers(N), rng.integers(A)) for _ in range(40)]
    counts, design = np.zeros((1, N, A)), np.zeros((features.d, features.d))
    for x, a in visits:
        counts[0, x, a] += 1
        design += full_U(features, x, a).T @ full_U(features, x, a)
    assert np.allclose(full(features.design(counts)[0]), design, rtol=1e-12, atol=1e-12)


def test_local_and_gather_with_several_cells_per_block(rng):
    features = shared(rng)
    blocks, local = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, N, A, 4))
    sums = np.zeros((2, 3, 4))
    for x in range(N):
        for a in range(A):
            assert np.array_equal(features.local(blocks)[:, x, a], blocks[:, features.block[x, a]])
            sums[:, features.block[x, a]] += local[:, x, a]
    assert np.allclose(features.gather(local), sums, rtol=0, atol=1e-14)


@pytest.mark.parametrize("untouched", [0, 1, 2])
def test_a_block_that_nothing_touches_gathers_zero(untouched, rng):
    block = np.array([[0, 1], [1, 0]]) + (np.array([[0, 1], [1, 0]]) >= untouched)
    features = Features(rng.standard_normal((2, 2, 1, 1)), block, np.ones((3, 1, 1)))
    sums = features.gather(np.ones((1, 2, 2, 1)))[0, :, 0]
    assert sums.tolist() == [0.0 if i == untouched else 2.0 for i in range(3)]
