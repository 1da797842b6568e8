"""Linear algebra on symmetric block-diagonal matrices, (n, blocks, m, m), and vectors (n, d) with d = blocks m.

Each block is treated by itself, so that a seed's bits do not depend on other seeds. Small blocks are computed entry by
entry, for all blocks at once, (m, m, n, blocks) in memory, since LAPACK takes half a microsecond per block.
"""

import numpy as np

# Up to this size entry by entry is faster than LAPACK. The number of seeds must not decide: the bits of both differ.
SMALL = 5


def _cut(vectors, blocks):
    return vectors.reshape(len(vectors), *blocks.shape[-3:-1])


def entries(blocks):
    """The entries of blocks in contiguous memory, (n, blocks, m, m) -> (m, m, n, blocks)."""
    return np.ascontiguousarray(blocks.transpose(-2, -1, *range(blocks.ndim - 2)))


def _blocks(entries):
    """The inverse of `entries`, without a copy."""
    return entries.transpose(*range(2, entries.ndim), 0, 1)


def _lower(blocks):
    """The entries of the unit lower triangular l and the pivots D (m, n, blocks) with l D l' = block."""
    a = entries(blocks)
    l, pivots = np.zeros_like(a), np.empty_like(a[0])
    for j in range(len(a)):
        scaled = []  # D_k l_jk, which the elimination computes before it divides
        for k in range(j):
            scaled.append(_minus(a[j, k], l[k, :k], scaled))
            np.divide(scaled[k], pivots[k], out=l[j, k])
        pivots[j] = _minus(a[j, j], l[j, :j], scaled)
    return l, pivots


def _minus(start, left, right):
    for x, y in zip(left, right, strict=True):
        start = start - x * y
    return start


def cholesky(blocks):
    """The lower triangular L with L L' = block."""
    if blocks.shape[-1] == 1:
        return np.sqrt(blocks)
    if blocks.shape[-1] > SMALL:
        return np.linalg.cholesky(blocks)
    L, pivots = _lower(blocks)
    if not (pivots > 0).all():
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    for j, root in enumerate(np.sqrt(pivots)):
        L[j, j] = root
        L[j + 1 :, j] *= root
    return _blocks(L)


def inverse(factors):
    """L^-1."""
    if factors.shape[-1] == 1:
        return 1.0 / factors
    if factors.shape[-1] > SMALL:
        return np.linalg.inv(factors)
    L = entries(factors)
    found = np.zeros_like(L)
    for j in range(len(L)):
        found[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, len(L)):
            found[i, j] = _minus(0.0, L[i, j:i], found[j:i, j]) / L[i, i]
    return _blocks(found)


def solve(blocks, vectors):
    """matrix^-1 v, (n, d), for definite blocks."""
    v = _cut(vectors, blocks)
    if blocks.shape[-1] == 1:
        return (v / blocks[..., 0]).reshape(vectors.shape)
    if blocks.shape[-1] > SMALL:
        return np.linalg.solve(blocks, v[..., None]).reshape(vectors.shape)
    l, pivots = _lower(blocks)
    x = v.transpose(2, 0, 1).copy()
    for i in range(1, len(x)):
        x[i] = _minus(x[i], l[i, :i], x[:i])
    x /= pivots
    for i in reversed(range(len(x) - 1)):
        x[i] = _minus(x[i], l[i + 1 :, i], x[i + 1 :])
    return x.transpose(1, 2, 0).reshape(vectors.shape)


def solve_transposed_factor(factors, vectors):
    """L^-T v, (n, d), which is N(0, (L L')^-1) for a standard normal v."""
    v = _cut(vectors, factors)
    if factors.shape[-1] == 1:
        return (v / factors[..., 0]).reshape(vectors.shape)
    if factors.shape[-1] > SMALL:
        return np.linalg.solve(np.swapaxes(factors, -1, -2), v[..., None]).reshape(vectors.shape)
    L, x = entries(factors), v.transpose(2, 0, 1).copy()
    for i in reversed(range(len(x))):
        x[i] = _minus(x[i], L[i + 1 :, i], x[i + 1 :]) / L[i, i]
    return x.transpose(1, 2, 0).reshape(vectors.shape)


def laplace_draw(mode, precision, v, normals):
    """A draw from N(mode, v^2 precision^-1), (n, d), for precision (n, blocks, m, m) and v (n,)."""
    return mode + v[:, None] * solve_transposed_factor(cholesky(precision), normals.take(mode.shape[1]))


def log_determinant(factors):
    """log det(L L') summed over the blocks of the last three axes: (n, blocks, m, m) -> (n,)."""
    diagonal = np.diagonal(factors, axis1=-2, axis2=-1)
    # In contiguous memory the order of a sum does not depend on the number of seeds.
    return 2.0 * np.ascontiguousarray(np.log(diagonal)).sum((-1, -2))


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
