"""Features in blocks against the matrices A_i and sums over (cell, action)."""

import numpy as np
import pytest

from befrl.common.errors import InputError
from befrl.model.features import Features, SingularDesign, WrongShape
from befrl.model.kronecker_features import KroneckerFeatures
from befrl.numerics import linalg
from helpers import full, full_U

N, A, P, Q = 3, 2, 2, 4


def one_hot(rng):
    return Features.one_hot(N, A, P)


def dense(rng):
    return Features.dense(rng.standard_normal((N, A, Q)), rng.standard_normal((5, P, Q)))


def shared(rng):
    """Several (cell, action) per block, in no order: the blocks are 2, 0, 1, 0, 2, 0."""
    roots, block = rng.standard_normal((3, 4, 4)), np.array([[2, 0], [1, 0], [2, 0]])
    return Features(rng.standard_normal((N, A, P, 4)), block, roots @ np.swapaxes(roots, -1, -2))


def kronecker(rng):
    """phi (N, A, Q) and all P x Q unit matrices, by structure."""
    return KroneckerFeatures(rng.standard_normal((N, A, Q)), P)


def constant(rng):
    """The same U = I at every (anchor, action): one block that all of them touch."""
    return Features.dense(np.ones((N, A, 1)), unit_matrices(q=1))


def one_hot_numbers(rng):
    """p = 1, where blocks are numbers."""
    return Features.one_hot(N, A, 1)


def kronecker_rows(rng):
    """p = 1, where U is a row."""
    return KroneckerFeatures(rng.standard_normal((N, A, Q)), 1)


KINDS = [one_hot, dense, shared, kronecker, constant, one_hot_numbers, kronecker_rows]
each_kind = pytest.mark.parametrize("kind", KINDS)


def unit_matrices(p=P, q=Q):
    """e_r e_j' in the order of theta: the rows of M_theta one after the other."""
    return np.stack([np.outer(np.eye(p)[r], np.eye(q)[j]) for r in range(p) for j in range(q)])


def spd(rng, *shape):
    roots = rng.standard_normal((*shape, shape[-1]))
    return roots @ np.swapaxes(roots, -1, -2) + np.eye(shape[-1])


def all_U(features):
    """U of every (anchor, action), (N, A, p, d)."""
    return np.array([[full_U(features, x, a) for a in range(A)] for x in range(N)])


def test_dense_is_built_from_the_matrices(rng):
    phi, matrices = rng.standard_normal((N, A, Q)), rng.standard_normal((5, P, Q))
    features, theta = Features.dense(phi, matrices), rng.standard_normal((1, 5))
    M = sum(theta[0, i] * matrices[i] for i in range(5))
    for x, a in np.ndindex(N, A):
        assert features.natural(theta)[0, x, a] == pytest.approx(M @ phi[x, a])
        G = [[phi[x, a] @ matrices[i].T @ matrices[j] @ phi[x, a] for j in range(5)] for i in range(5)]
        assert np.allclose(features.gram[x, a], G, rtol=1e-12, atol=1e-12)
    traces = [[np.trace(matrices[i] @ matrices[j].T) for j in range(5)] for i in range(5)]
    assert np.allclose(features.trace[0], traces, rtol=1e-12, atol=1e-12)
    assert np.array_equal(Features.dense(phi.tolist(), matrices.tolist()).U, features.U)


@pytest.mark.parametrize("kind", [one_hot, kronecker])
def test_one_hot_and_kronecker_are_dense_constructions_of_the_same_features(kind, rng):
    fast, few, many = kind(rng), *((1e-14, 1e-14) if kind is one_hot else (1e-13, 1e-12))
    if kind is one_hot:
        matrices = np.zeros((fast.d, P, N * A))
        matrices[np.arange(fast.d), np.arange(fast.d) % P, np.arange(fast.d) // P] = 1.0
        slow = Features.dense(np.eye(N * A).reshape(N, A, N * A), matrices)
    else:
        slow = Features.dense(fast.phi, unit_matrices())
        assert np.array_equal(fast.U, slow.U)
        assert np.allclose(fast.matrix(np.arange(8.0)), slow.matrix(np.arange(8.0)), rtol=0, atol=1e-14)
    theta, vectors = rng.standard_normal((3, fast.d)), rng.standard_normal((3, N, A, P))
    C, counts = spd(rng, 3, N, A, P), rng.integers(0, 9, (3, N, A))
    assert (fast.d, fast.p, fast.n_anchors, fast.n_actions) == (slow.d, slow.p, slow.n_anchors, slow.n_actions)
    assert np.array_equal(full(fast.trace), slow.trace[0]) and np.array_equal(all_U(fast), all_U(slow))
    assert np.allclose(fast.natural(theta), slow.natural(theta), rtol=0, atol=few)
    assert np.allclose(fast.pull(vectors), slow.pull(vectors), rtol=0, atol=few)
    for i in range(3):
        assert np.allclose(full(fast.sandwich(C)[i]), slow.sandwich(C)[i, 0], rtol=0, atol=many)
        design = full(fast.design(counts)[i])
        assert np.allclose(design, slow.design(counts)[i, 0], rtol=0, atol=0 if kind is one_hot else many)
    assert fast.bound() == pytest.approx(slow.bound(), rel=1e-12)
    assert fast.log_det_trace() == pytest.approx(slow.log_det_trace(), abs=1e-12)
    assert fast.trace_norm(theta[0]) == pytest.approx(slow.trace_norm(theta[0]), rel=1e-13)
    assert np.allclose(fast.penalty_gradient(theta), slow.penalty_gradient(theta), rtol=0, atol=1e-13)


def test_diagonal_covariances_change_only_the_shape_of_the_blocks(rng):
    """(p, q, q) and (1, d, d) give the same matrices, solutions, norms and determinants."""
    features, C = kronecker(rng), spd(rng, 2, N, A, P) * np.eye(P)
    assert features.sandwich(C, diagonal=True).shape == (2, P, Q, Q)
    small = features.plus_trace(features.sandwich(C, diagonal=True), 0.5)
    large = features.plus_trace(features.sandwich(C), 0.5)
    theta = rng.standard_normal((2, features.d))
    for i in range(2):
        assert np.allclose(full(small[i]), large[i, 0], rtol=0, atol=1e-12)
    assert np.allclose(linalg.solve(small, theta), linalg.solve(large, theta), rtol=0, atol=1e-10)
    assert np.allclose(features.spread(small), features.spread(large), rtol=0, atol=1e-10)
    one, other = (linalg.log_determinant(linalg.cholesky(matrix)) for matrix in (small, large))
    assert one == pytest.approx(other, rel=1e-12)


@each_kind
def test_sums_over_anchors_and_actions_by_brute_force(kind, rng):
    features = kind(rng)
    p = features.p
    theta, vectors = rng.standard_normal((2, features.d)), rng.standard_normal((2, N, A, p))
    C, counts = rng.standard_normal((2, N, A, p, p)), rng.integers(0, 5, (2, N, A))
    C, U = C + np.swapaxes(C, -1, -2), all_U(features)
    assert np.allclose(features.natural(theta), np.einsum("xapd,nd->nxap", U, theta), rtol=0, atol=1e-12)
    assert np.allclose(features.pull(vectors), np.einsum("xapd,nxap->nd", U, vectors), rtol=0, atol=1e-12)
    sandwich, design = features.sandwich(C), features.design(counts)
    for i in range(2):
        assert np.allclose(full(sandwich[i]), np.einsum("xapi,xapq,xaqj->ij", U, C[i], U), rtol=0, atol=1e-11)
        assert np.allclose(full(design[i]), np.einsum("xa,xapi,xapj->ij", counts[i], U, U), rtol=0, atol=1e-11)


@each_kind
def test_spread_and_norms_by_brute_force(kind, rng):
    """U M^-1 U' and its trace, for any M and for designs, whose blocks may be smaller than those of bold A."""
    features = kind(rng)
    U, bold = all_U(features), full(features.trace)
    counts = rng.integers(0, 9, (2, N, A)).astype(float)
    design = features.plus_trace(features.design(counts), 0.7)
    for matrix, error in ((spd(rng, 2, *features.trace.shape[:2]), 1e-10), (design, 1e-9)):
        spread, norms = features.spread(matrix), features.norms(matrix)
        assert spread.shape == (2, N, A, features.p, features.p) and norms.shape == (2, N, A)
        for i in range(2):
            expected = U @ np.linalg.inv(full(matrix[i])) @ np.swapaxes(U, -1, -2)
            assert np.allclose(spread[i], expected, rtol=error, atol=error / 100)
            assert np.allclose(norms[i], np.trace(expected, axis1=-2, axis2=-1), rtol=error, atol=error / 100)
    for i in range(2):
        whole = 0.7 * bold + np.einsum("xa,xapi,xapj->ij", counts[i], U, U)
        assert np.allclose(full(design[i]), whole, rtol=1e-12, atol=1e-12)


@each_kind
def test_trace_penalty_and_bound_by_direct_formulas(kind, rng):
    features = kind(rng)
    bold, theta = full(features.trace), rng.standard_normal((3, features.d))
    assert np.allclose(features.penalty_gradient(theta), theta @ bold, rtol=1e-12, atol=1e-12)
    assert features.trace_norm(theta[0]) == pytest.approx(np.sqrt(theta[0] @ bold @ theta[0]), rel=1e-12)
    assert features.log_det_trace() == pytest.approx(np.linalg.slogdet(bold)[1], abs=1e-10)
    U = all_U(features).reshape(-1, features.p, features.d)
    bound = max(np.linalg.norm(np.linalg.inv(bold) @ u.T @ u, ord=2) for u in U)
    assert features.bound() == pytest.approx(bound, rel=1e-9)
    blocks = spd(rng, 2, *features.trace.shape[:2])
    for i in range(2):
        assert np.allclose(full(features.plus_trace(blocks, 0.3)[i]), full(blocks[i]) + 0.3 * bold, rtol=0, atol=1e-12)


def test_local_and_gather_with_several_cells_per_block(rng):
    """A block that no (anchor, action) touches gathers zero."""
    features = shared(rng)
    blocks, local = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, N, A, 4))
    sums = np.zeros((2, 3, 4))
    for x, a in np.ndindex(N, A):
        assert np.array_equal(features.local(blocks)[:, x, a], blocks[:, features.block[x, a]])
        sums[:, features.block[x, a]] += local[:, x, a]
    assert np.allclose(features.gather(local), sums, rtol=0, atol=1e-14)
    for untouched, others in enumerate(([1, 2], [0, 2], [0, 1])):
        block = np.array([others, others[::-1]])
        features = Features(rng.standard_normal((2, 2, 1, 1)), block, np.ones((3, 1, 1)))
        found = features.gather(np.ones((1, 2, 2, 1)))[0, :, 0]
        assert found.tolist() == [0.0 if i == untouched else 2.0 for i in range(3)]


@pytest.mark.parametrize("kind", [dense, kronecker])
def test_other_features_with_the_same_matrices(kind, rng):
    features = kind(rng)
    phi, theta = rng.standard_normal((5, A, Q)), rng.standard_normal(features.d)
    there = features.on(phi)
    assert there.natural(theta[None]).shape == (1, 5, A, P)
    assert np.allclose(there.natural(theta[None])[0], phi @ features.matrix(theta).T, rtol=0, atol=1e-12)
    assert np.array_equal(there.trace, features.trace)


def nested(*shapes):
    """phi as nested lists, one list of rows for each state."""
    return [[np.ones(q).tolist() for q in row] for row in shapes]


ONES = np.ones((2, 2, 3))
WRONG = [
    (nested((2, 2), (2, 3)), None, r"phi at \(s, a\) = \(1, 1\) has shape \(3,\), it must have \(2,\)"),
    (nested((2, 2), (2,)), None, "phi has 1 actions at s = 1, but 2 at s = 0"),
    (np.ones((3, 2)), None, r"phi has shape \(3, 2\), it must have \(states, actions, q\)"),
    (ONES, [np.ones((2, 3)), np.ones((2, 3)), np.ones((3, 2))], r"A_3 has shape \(3, 2\)"),
    (ONES, [np.ones((2, 3)), np.ones(3)], r"A_2 has shape \(3,\)"),
    (ONES, [np.ones((2, 4))], r"phi has 3 components at \(s, a\) = \(0, 0\), but A_1 has 4 columns"),
]


@pytest.mark.parametrize(("phi", "matrices", "words"), WRONG)
def test_wrong_shapes_are_rejected_by_state_and_action_or_number(phi, matrices, words):
    with pytest.raises(WrongShape, match=words):
        Features.dense(phi, np.ones((1, 2, 2)) if matrices is None else matrices)
    if matrices is None:
        with pytest.raises(WrongShape, match=words):
            KroneckerFeatures(phi, 2)


@pytest.mark.parametrize("dependent", [1, 2, 3, 4])
def test_a_linearly_dependent_matrix_is_named(dependent, rng):
    """Four matrices of which one is a combination of those before it, or the first is zero; across blocks too."""
    matrices, phi = rng.standard_normal((4, P, Q)), rng.standard_normal((N, A, Q))
    i = dependent - 1
    matrices[i] = sum(rng.uniform(1, 2) * matrices[j] for j in range(i)) if i else 0.0
    with pytest.raises(SingularDesign, match=rf"A_{dependent} is a combination of the others") as caught:
        Features.dense(phi, matrices).bound()
    assert isinstance(caught.value, InputError)
    assert Features.dense(phi, np.delete(matrices, i, axis=0)).bound() > 0
    trace = np.stack([np.eye(2), np.ones((2, 2))])
    with pytest.raises(SingularDesign, match="A_4 is a combination"):
        Features(rng.standard_normal((2, 1, 1, 2)), np.array([[0], [1]]), trace).bound()
