"""Block linear algebra against numpy on full matrices."""

import numpy as np
import pytest

from befrl import linalg
from helpers import full

SIZES = [1, 2, 5]


def stack(rng, m, n=3, blocks=4):
    """Symmetric positive definite blocks (n, blocks, m, m) and vectors (n, blocks, m)."""
    roots = rng.standard_normal((n, blocks, m, m))
    return roots @ np.swapaxes(roots, -1, -2) + np.eye(m), rng.standard_normal((n, blocks, m))


@pytest.mark.parametrize("m", SIZES)
def test_cholesky_is_the_lower_factor(m, rng):
    blocks, _ = stack(rng, m)
    L = linalg.cholesky(blocks)
    assert np.allclose(L @ np.swapaxes(L, -1, -2), blocks, rtol=1e-13, atol=1e-13)
    assert np.array_equal(L, np.tril(L))


@pytest.mark.parametrize("m", SIZES)
def test_block_operations_are_those_of_the_full_matrix(m, rng):
    blocks, vectors = stack(rng, m)
    L = linalg.cholesky(blocks)
    X = rng.standard_normal((*vectors.shape, 3))
    for i in range(len(blocks)):
        matrix, factor, v = full(blocks[i]), full(L[i]), vectors[i].ravel()
        assert linalg.solve(blocks, vectors)[i].ravel() == pytest.approx(np.linalg.solve(matrix, v))
        white = linalg.solve_transposed_factor(L, vectors)[i].ravel()
        assert white == pytest.approx(np.linalg.solve(factor.T, v))
        solved = np.linalg.solve(factor, X[i].reshape(-1, 3))
        assert np.allclose(linalg.solve_factor(L, X)[i].reshape(-1, 3), solved, rtol=1e-11, atol=1e-12)
        assert linalg.log_determinant(L)[i] == pytest.approx(np.linalg.slogdet(matrix)[1])
        assert linalg.quadratic(blocks, vectors)[i] == pytest.approx(v @ matrix @ v)


@pytest.mark.parametrize("m", SIZES)
def test_a_seed_has_the_same_bits_alone(m, rng):
    blocks, vectors = stack(rng, m, n=5)
    alone, v = blocks[3:4], vectors[3:4]
    L = linalg.cholesky(blocks)
    assert np.array_equal(linalg.cholesky(alone)[0], L[3])
    assert np.array_equal(linalg.solve(alone, v)[0], linalg.solve(blocks, vectors)[3])
    assert np.array_equal(linalg.solve_transposed_factor(L[3:4], v)[0], linalg.solve_transposed_factor(L, vectors)[3])
    assert np.array_equal(linalg.solve_factor(L[3:4], alone)[0], linalg.solve_factor(L, blocks)[3])
    assert linalg.log_determinant(L[3:4])[0] == linalg.log_determinant(L)[3]
    assert linalg.quadratic(alone, v)[0] == linalg.quadratic(blocks, vectors)[3]
