"""Linear algebra on stacks of small symmetric blocks, shape (..., m, m).

Every operation treats each block by itself, so a seed's bits do not depend on which seeds share its stack.
Blocks of size one, the one-hot families with p = 1, are plain numbers: LAPACK would cost 50 times more.
"""

import numpy as np


def cholesky(blocks):
    """Lower triangular L with L L' = block."""
    if blocks.shape[-1] == 1:
        return np.sqrt(blocks)
    return np.linalg.cholesky(blocks)


def solve(blocks, vectors):
    """block^-1 v for vectors of shape (..., m)."""
    if blocks.shape[-1] == 1:
        return vectors / blocks[..., 0]
    return np.linalg.solve(blocks, vectors[..., None])[..., 0]


def solve_transposed_factor(factors, vectors):
    """L^-T v: turns a standard normal v into N(0, (L L')^-1)."""
    if factors.shape[-1] == 1:
        return vectors / factors[..., 0]
    return np.linalg.solve(np.swapaxes(factors, -1, -2), vectors[..., None])[..., 0]


def solve_factor(factors, matrices):
    """L^-1 X for X of shape (..., m, c)."""
    if factors.shape[-1] == 1:
        return matrices / factors
    return np.linalg.solve(factors, matrices)


def log_determinant(factors):
    """log det(L L') summed over the blocks of the last three axes: (n, blocks, m, m) -> (n,)."""
    diagonal = np.diagonal(factors, axis1=-2, axis2=-1)
    return 2.0 * np.log(diagonal).sum((-1, -2))


def quadratic(blocks, vectors):
    """sum over blocks of v' block v: (n, blocks, m, m) and (n, blocks, m) -> (n,)."""
    if blocks.shape[-1] == 1:
        return (vectors * blocks[..., 0] * vectors).sum((-1, -2))
    return (vectors * (blocks @ vectors[..., None])[..., 0]).sum((-1, -2))
