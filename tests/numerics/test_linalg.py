"""Block linear algebra against numpy on full matrices."""

import numpy as np
import pytest

from befrl.numerics import linalg
from helpers import full

SIZES = [1, 2, 3, 5, 7]


def stack(rng, m, n=3, blocks=4):
    """Symmetric positive definite blocks (n, blocks, m, m) and vectors (n, d), d = blocks m."""
    roots = rng.standard_normal((n, blocks, m, m))
    return roots @ np.swapaxes(roots, -1, -2) + np.eye(m), rng.standard_normal((n, blocks * m))


@pytest.mark.parametrize("m", SIZES)
def test_block_operations_are_those_of_the_full_matrix(m, rng):
    blocks, vectors = stack(rng, m)
    L = linalg.cholesky(blocks)
    assert np.allclose(L @ np.swapaxes(L, -1, -2), blocks, rtol=1e-13, atol=1e-13)
    assert np.array_equal(L, np.tril(L))
    for i in range(len(blocks)):
        matrix, factor, v = full(blocks[i]), full(L[i]), vectors[i]
        assert linalg.solve(blocks, vectors)[i] == pytest.approx(np.linalg.solve(matrix, v))
        assert linalg.solve_transposed_factor(L, vectors)[i] == pytest.approx(np.linalg.solve(factor.T, v))
        assert np.allclose(full(linalg.inverse(L)[i]), np.linalg.inv(factor), rtol=1e-11, atol=1e-12)
        assert linalg.product(blocks, vectors)[i] == pytest.approx(matrix @ v)
        assert linalg.log_determinant(L)[i] == pytest.approx(np.linalg.slogdet(matrix)[1])
        assert linalg.quadratic(blocks, vectors)[i] == pytest.approx(v @ matrix @ v)


@pytest.mark.parametrize("condition", [1e2, 1e12])
@pytest.mark.parametrize("m", range(2, linalg.SMALL + 1))
def test_small_blocks_are_as_accurate_as_lapack(m, condition, rng):
    """Residuals are of the order of rounding and errors of its order times the condition number, as with LAPACK."""
    rounding, n, blocks = 20 * np.finfo(float).eps, 50, 4
    rotation = np.linalg.qr(rng.standard_normal((n, blocks, m, m)))[0]
    matrix = (rotation * np.geomspace(1.0, 1.0 / condition, m)) @ np.swapaxes(rotation, -1, -2)
    matrix = (matrix + np.swapaxes(matrix, -1, -2)) / 2
    v = rng.standard_normal((n, blocks * m))
    x, x_lapack = linalg.solve(matrix, v), np.linalg.solve(matrix, v.reshape(n, blocks, m, 1))[..., 0]
    size = np.linalg.norm(x_lapack, axis=-1)
    assert np.all(np.linalg.norm(linalg.product(matrix, x) - v, axis=-1) <= rounding * size.sum(-1))
    assert np.all(np.linalg.norm(x.reshape(n, blocks, m) - x_lapack, axis=-1) <= rounding * condition * size)
    L, L_lapack = linalg.cholesky(matrix), np.linalg.cholesky(matrix)
    assert np.abs(L @ np.swapaxes(L, -1, -2) - matrix).max() <= rounding
    assert np.abs(L - L_lapack).max() <= rounding * np.sqrt(condition) * 10
    unit = linalg.inverse(L) @ L
    assert np.abs(unit - np.eye(m)).max() <= rounding * np.sqrt(condition)


@pytest.mark.parametrize("m", SIZES)
def test_positive_replaces_negative_eigenvalues_by_their_moduli(m, rng):
    """And leaves definite matrices as they are; others have no Cholesky factor."""
    blocks, vectors = stack(rng, m)
    if m > 1:
        with pytest.raises(np.linalg.LinAlgError):
            linalg.cholesky(blocks - 100 * np.eye(m) * (np.arange(3) == 1)[:, None, None, None])
    assert linalg.positive(blocks) is blocks
    spectrum = rng.uniform(0.5, 2.0, (4, m)) * rng.choice([-1, 1], (4, m))
    spectrum[0, 0] = -1.0
    rotation = np.linalg.qr(rng.standard_normal((4, m, m)))[0]
    blocks[1] = (rotation * spectrum[:, None]) @ np.swapaxes(rotation, -1, -2)
    found = linalg.positive(blocks)
    assert np.array_equal(found[[0, 2]], blocks[[0, 2]])
    wanted = (rotation * np.abs(spectrum)[:, None]) @ np.swapaxes(rotation, -1, -2)
    assert np.allclose(found[1], wanted, rtol=0, atol=1e-12)
    # A Newton step along it goes downhill, which along the matrix itself it need not.
    assert np.all((vectors * linalg.solve(found, vectors)).sum(-1) > 0)


@pytest.mark.parametrize("m", SIZES)
def test_a_seed_has_the_same_bits_alone(m, rng):
    blocks, vectors = stack(rng, m, n=5)
    alone, v = blocks[3:4], vectors[3:4]
    L = linalg.cholesky(blocks)
    assert np.array_equal(linalg.cholesky(alone)[0], L[3])
    assert np.array_equal(linalg.solve(alone, v)[0], linalg.solve(blocks, vectors)[3])
    assert np.array_equal(linalg.solve_transposed_factor(L[3:4], v)[0], linalg.solve_transposed_factor(L, vectors)[3])
    assert np.array_equal(linalg.inverse(L[3:4])[0], linalg.inverse(L)[3])
    assert np.array_equal(linalg.product(alone, v)[0], linalg.product(blocks, vectors)[3])
    assert linalg.log_determinant(L[3:4])[0] == linalg.log_determinant(L)[3]
    assert linalg.quadratic(alone, v)[0] == linalg.quadratic(blocks, vectors)[3]
    # A round of Newton's method in which no row takes its step has nothing to solve.
    assert linalg.solve(blocks[:0], vectors[:0]).shape == (0, vectors.shape[1])
