"""Linear algebra on symmetric block-diagonal matrices, (n, blocks, m, m), and vectors (n, d) with d = blocks m.

Every operation treats each block by itself, so that a seed's bits do not depend on the seeds beside it. Blocks of size
one, as in one-hot families with p = 1, are treated as numbers: LAPACK would cost 50 times more.
"""

import numpy as np


def _cut(vectors, blocks):
    """(n, d) -> (n, blocks, m)."""
    return vectors.reshape(len(vectors), *blocks.shape[-3:-1])


def cholesky(blocks):
    """The lower triangular L with L L' = block."""
    if blocks.shape[-1] == 1:
        return np.sqrt(blocks)
    return np.linalg.cholesky(blocks)


def inverse(factors):
    """L^-1."""
    if factors.shape[-1] == 1:
        return 1.0 / factors
    return np.linalg.inv(factors)


def solve(blocks, vectors):
    """matrix^-1 v, (n, d)."""
    v = _cut(vectors, blocks)
    if blocks.shape[-1] == 1:
        return (v / blocks[..., 0]).reshape(vectors.shape)
    return np.linalg.solve(blocks, v[..., None]).reshape(vectors.shape)


def solve_transposed_factor(factors, vectors):
    """L^-T v, (n, d), which is N(0, (L L')^-1) for a standard normal v."""
    v = _cut(vectors, factors)
    if factors.shape[-1] == 1:
        return (v / factors[..., 0]).reshape(vectors.shape)
    return np.linalg.solve(np.swapaxes(factors, -1, -2), v[..., None]).reshape(vectors.shape)


def laplace_draw(mode, precision, v, normals):
    """A draw from N(mode, v^2 precision^-1), (n, d), for precision (n, blocks, m, m) and v (n,)."""
    return mode + v[:, None] * solve_transposed_factor(cholesky(precision), normals.take(mode.shape[1]))


def log_determinant(factors):
    """log det(L L') summed over the blocks of the last three axes: (n, blocks, m, m) -> (n,)."""
    diagonal = np.diagonal(factors, axis1=-2, axis2=-1)
    return 2.0 * np.log(diagonal).sum((-1, -2))


def product(blocks, vectors):
    """matrix v, (n, d)."""
    v = _cut(vectors, blocks)
    if blocks.shape[-1] == 1:
        return (blocks[..., 0] * v).reshape(vectors.shape)
    return (blocks @ v[..., None]).reshape(vectors.shape)


def quadratic(blocks, vectors):
    """v' matrix v, (n,)."""
    return (vectors * product(blocks, vectors)).sum(-1)


def positive(blocks):
    """Replace eigenvalues by their moduli where a matrix (n, blocks, m, m) is not positive definite."""
    try:
        np.linalg.cholesky(blocks)
        return blocks
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(blocks)
    sizes = np.maximum(np.abs(values), 1e-8 * np.abs(values).max(-1, keepdims=True))
    turned = (vectors * sizes[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    sound = (values[..., 0] > 0).all(-1)
    return np.where(sound[:, None, None, None], blocks, turned)
