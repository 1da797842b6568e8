"""Features in blocks against the matrices A_i and sums over (cell, action)."""

import numpy as np
import pytest

from befrl.common.errors import InputError
from befrl.model.features import Features, SingularDesign, WrongShape
from befrl.model.kronecker_features import KroneckerFeatures
from befrl.numerics import linalg
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
    assert np.allclose(hot.pull(vectors), same.pull(vectors), rtol=0, atol=1e-14)
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
    back = (theta * features.pull(vectors)).sum(1)
    assert there == pytest.approx(back, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_cells_and_actions_by_loops(kind, rng):
    features = kind(rng)
    theta, vectors = rng.standard_normal((2, features.d)), rng.standard_normal((2, N, A, P))
    C = rng.standard_normal((2, N, A, P, P))
    pull, sandwich = np.zeros((2, features.d)), np.zeros((2, features.d, features.d))
    for x in range(N):
        for a in range(A):
            U = full_U(features, x, a)
            for i in range(2):
                assert features.natural(theta)[i, x, a] == pytest.approx(U @ theta[i], abs=1e-13)
                pull[i] += U.T @ vectors[i, x, a]
                sandwich[i] += U.T @ C[i, x, a] @ U
    assert np.allclose(features.pull(vectors), pull, rtol=0, atol=1e-13)
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


def kronecker(rng):
    """phi (N, A, Q) and all P x Q unit matrices, by structure."""
    return KroneckerFeatures(rng.standard_normal((N, A, Q)), P)


def unit_matrices(p=P, q=Q):
    """e_r e_j' in the order of theta: the rows of M_theta one after the other."""
    return np.stack([np.outer(np.eye(p)[r], np.eye(q)[j]) for r in range(p) for j in range(q)])


def constant(rng):
    """The same U = I at every (anchor, action): one block that all of them touch."""
    return Features.dense(np.ones((N, A, 1)), unit_matrices(q=1))


ALL = [*KINDS, kronecker, constant]


def spd(rng, *shape):
    roots = rng.standard_normal((*shape, shape[-1]))
    return roots @ np.swapaxes(roots, -1, -2) + np.eye(shape[-1])


def test_kronecker_is_the_dense_construction_with_the_unit_matrices(rng):
    fast = kronecker(rng)
    slow = Features.dense(fast.phi, unit_matrices())
    theta, vectors = rng.standard_normal((3, fast.d)), rng.standard_normal((3, N, A, P))
    C, counts = spd(rng, 3, N, A, P), rng.integers(0, 9, (3, N, A))
    assert (fast.d, fast.p, fast.n_anchors, fast.n_actions) == (slow.d, slow.p, slow.n_anchors, slow.n_actions)
    assert np.allclose(fast.U, slow.U, rtol=0, atol=0)
    assert np.allclose(fast.natural(theta), slow.natural(theta), rtol=0, atol=1e-13)
    assert np.allclose(fast.pull(vectors), slow.pull(vectors), rtol=0, atol=1e-13)
    assert np.allclose(fast.matrix(theta[0]), slow.matrix(theta[0]), rtol=0, atol=1e-14)
    assert np.allclose(full(fast.trace), slow.trace[0], rtol=0, atol=0)
    diagonal = C * np.eye(P)
    for i in range(3):
        assert np.allclose(full(fast.sandwich(C)[i]), slow.sandwich(C)[i, 0], rtol=0, atol=1e-12)
        assert np.allclose(full(fast.design(counts)[i]), slow.design(counts)[i, 0], rtol=0, atol=1e-12)
        expected = slow.sandwich(diagonal)[i, 0]
        assert np.allclose(full(fast.sandwich(diagonal, diagonal=True)[i]), expected, rtol=0, atol=1e-12)
        assert np.allclose(full(fast.sandwich(diagonal)[i]), expected, rtol=0, atol=1e-12)
    assert fast.sandwich(diagonal, diagonal=True).shape == (3, P, Q, Q)
    assert fast.bound() == pytest.approx(slow.bound(), rel=1e-12)
    assert fast.log_det_trace() == pytest.approx(slow.log_det_trace(), abs=1e-12)
    assert fast.trace_norm(theta[0]) == pytest.approx(slow.trace_norm(theta[0]), rel=1e-13)
    assert np.allclose(fast.penalty_gradient(theta), slow.penalty_gradient(theta), rtol=0, atol=1e-13)


def test_diagonal_covariances_change_nothing_but_the_shape_of_the_blocks(rng):
    """What a sampler or a norm is made of is the same from (p, q, q) and from (1, d, d)."""
    features = kronecker(rng)
    C = spd(rng, 2, N, A, P) * np.eye(P)
    small = features.plus_trace(features.sandwich(C, diagonal=True), 0.5)
    large = features.plus_trace(features.sandwich(C), 0.5)
    theta = rng.standard_normal((2, features.d))
    assert np.allclose(linalg.solve(small, theta), linalg.solve(large, theta), rtol=0, atol=1e-10)
    assert np.allclose(features.spread(small), features.spread(large), rtol=0, atol=1e-10)
    determinants = (linalg.log_determinant(linalg.cholesky(matrix)) for matrix in (small, large))
    assert next(determinants) == pytest.approx(next(determinants), rel=1e-12)


@pytest.mark.parametrize("kind", ALL)
def test_spread_and_norms_by_brute_force(kind, rng):
    """U M^-1 U' with the whole d x d matrix, and its trace."""
    features = kind(rng)
    whole = features.trace.shape
    matrix = spd(rng, 2, *whole[:2])
    spread, norms = features.spread(matrix), features.norms(matrix)
    assert spread.shape == (2, N, A, P, P) and norms.shape == (2, N, A)
    for i in range(2):
        inverse = np.linalg.inv(full(matrix[i]))
        for x in range(N):
            for a in range(A):
                U = full_U(features, x, a)
                assert np.allclose(spread[i, x, a], U @ inverse @ U.T, rtol=1e-10, atol=1e-12)
                assert norms[i, x, a] == pytest.approx(np.trace(U @ inverse @ U.T), rel=1e-10)


@pytest.mark.parametrize("kind", ALL)
def test_spread_and_norms_of_a_design_by_brute_force(kind, rng):
    """Of the matrices that agents have, whose blocks may be smaller than those of bold A."""
    features = kind(rng)
    counts = rng.integers(0, 9, (2, N, A)).astype(float)
    matrix = features.plus_trace(features.design(counts), 0.7)
    for i in range(2):
        U = np.array([[full_U(features, x, a) for a in range(A)] for x in range(N)])
        whole = 0.7 * full(features.trace) + np.einsum("xa,xapi,xapj->ij", counts[i], U, U)
        assert np.allclose(full(matrix[i]), whole, rtol=1e-12, atol=1e-12)
        spread = U @ np.linalg.inv(whole) @ np.swapaxes(U, -1, -2)
        assert np.allclose(features.spread(matrix)[i], spread, rtol=1e-9, atol=1e-11)
        assert np.allclose(features.norms(matrix)[i], np.trace(spread, axis1=-2, axis2=-1), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", [one_hot, kronecker])
def test_spread_with_one_component(kind, rng):
    """p = 1, where blocks are numbers or U is a row."""
    features = Features.one_hot(N, A, 1) if kind is one_hot else KroneckerFeatures(rng.standard_normal((N, A, Q)), 1)
    matrix = spd(rng, 2, *features.trace.shape[:2])
    for i in range(2):
        inverse = np.linalg.inv(full(matrix[i]))
        for x, a in np.ndindex(N, A):
            U = full_U(features, x, a)
            assert features.spread(matrix)[i, x, a] == pytest.approx(U @ inverse @ U.T, rel=1e-10)
            assert features.norms(matrix)[i, x, a] == pytest.approx(np.trace(U @ inverse @ U.T), rel=1e-10)


@pytest.mark.parametrize("kind", ALL)
def test_trace_penalty_and_bound_by_direct_formulas(kind, rng):
    features = kind(rng)
    bold, theta = full(features.trace), rng.standard_normal((3, features.d))
    assert np.allclose(features.penalty_gradient(theta), theta @ bold, rtol=1e-12, atol=1e-12)
    assert features.trace_norm(theta[0]) == pytest.approx(np.sqrt(theta[0] @ bold @ theta[0]), rel=1e-12)
    assert features.log_det_trace() == pytest.approx(np.linalg.slogdet(bold)[1], abs=1e-10)
    U = [full_U(features, x, a) for x in range(N) for a in range(A)]
    bound = max(np.linalg.norm(np.linalg.inv(bold) @ u.T @ u, ord=2) for u in U)
    assert features.bound() == pytest.approx(bound, rel=1e-9)
    blocks = spd(rng, 2, *features.trace.shape[:2])
    for i in range(2):
        assert np.allclose(full(features.plus_trace(blocks, 0.3)[i]), full(blocks[i]) + 0.3 * bold, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ALL)
def test_all_kinds_pull_what_natural_pushes_and_sum_over_anchors(kind, rng):
    features = kind(rng)
    theta, vectors = rng.standard_normal((2, features.d)), rng.standard_normal((2, N, A, P))
    C, counts = rng.standard_normal((2, N, A, P, P)), rng.integers(0, 5, (2, N, A))
    C = C + np.swapaxes(C, -1, -2)
    U = np.array([[full_U(features, x, a) for a in range(A)] for x in range(N)])
    assert np.allclose(features.natural(theta), np.einsum("xapd,nd->nxap", U, theta), rtol=0, atol=1e-12)
    assert np.allclose(features.pull(vectors), np.einsum("xapd,nxap->nd", U, vectors), rtol=0, atol=1e-12)
    sandwich, design = features.sandwich(C), features.design(counts)
    for i in range(2):
        expected = np.einsum("xapi,xapq,xaqj->ij", U, C[i], U)
        assert np.allclose(full(sandwich[i]), expected, rtol=0, atol=1e-11)
        assert np.allclose(full(design[i]), np.einsum("xa,xapi,xapj->ij", counts[i], U, U), rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", [any_dense, kronecker])
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


@pytest.mark.parametrize(
    ("phi", "words"),
    [
        (nested((2, 2), (2, 3)), r"phi at \(s, a\) = \(1, 1\) has shape \(3,\), it must have \(2,\)"),
        (nested((2, 2), (2,)), "phi has 1 actions at s = 1, but 2 at s = 0"),
        (np.ones((3, 2)), r"phi has shape \(3, 2\), it must have \(states, actions, q\)"),
    ],
)
def test_features_of_the_wrong_shape_are_named_by_state_and_action(phi, words):
    for make in (lambda: Features.dense(phi, np.ones((1, 2, 2))), lambda: KroneckerFeatures(phi, 2)):
        with pytest.raises(WrongShape, match=words):
            make()


@pytest.mark.parametrize(
    ("matrices", "words"),
    [
        ([np.ones((2, 3)), np.ones((2, 3)), np.ones((3, 2))], r"A_3 has shape \(3, 2\)"),
        ([np.ones((2, 3)), np.ones(3)], r"A_2 has shape \(3,\)"),
        ([np.ones((2, 4))], r"phi has 3 components at \(s, a\) = \(0, 0\), but A_1 has 4 columns"),
    ],
)
def test_matrices_of_the_wrong_shape_are_named_by_number(matrices, words):
    with pytest.raises(WrongShape, match=words):
        Features.dense(np.ones((2, 2, 3)), matrices)


def test_nested_lists_are_taken_like_arrays(rng):
    phi, matrices = rng.standard_normal((N, A, Q)), rng.standard_normal((5, P, Q))
    listed = Features.dense(phi.tolist(), matrices.tolist())
    assert np.array_equal(listed.U, Features.dense(phi, matrices).U)


@pytest.mark.parametrize("superfluous", [1, 2, 3, 4])
def test_a_matrix_that_the_others_make_superfluous_is_named(superfluous, rng):
    """Four matrices of which one is a combination of those before it, or the first is nothing at all."""
    matrices = rng.standard_normal((4, P, Q))
    i = superfluous - 1
    matrices[i] = sum(rng.uniform(1, 2) * matrices[j] for j in range(i)) if i else 0.0
    with pytest.raises(SingularDesign, match=rf"A_{superfluous} is a combination of the others") as caught:
        Features.dense(rng.standard_normal((N, A, Q)), matrices).bound()
    assert isinstance(caught.value, InputError)
    rest = np.delete(matrices, i, axis=0)
    assert Features.dense(rng.standard_normal((N, A, Q)), rest).bound() > 0  # without it all is well


def test_a_superfluous_parameter_is_named_across_blocks(rng):
    trace = np.stack([np.eye(2), np.ones((2, 2))])
    features = Features(rng.standard_normal((2, 1, 1, 2)), np.array([[0], [1]]), trace)
    with pytest.raises(SingularDesign, match="A_4 is a combination"):
        features.bound()
