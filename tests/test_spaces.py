"""State spaces: quadrature, cells, edges."""

import numpy as np
import pytest

from befrl.spaces import BinnedInterval, FiniteSpace


@pytest.mark.parametrize("bins", [1, 2, 7, 8, 40])
def test_quadrature_is_exact_for_polynomials_in_every_bin(bins):
    space = BinnedInterval(bins, nodes_per_cell=5)
    weights = np.exp(space.log_weights)
    for degree in range(10):  # 5 Gauss-Legendre nodes: exact up to degree 9
        pieces = np.bincount(space.node_cell, weights * space.nodes**degree)
        assert pieces == pytest.approx(np.diff(space.edges ** (degree + 1)) / (degree + 1), rel=1e-12)


def test_quadrature_is_not_exact_beyond_its_degree():
    space = BinnedInterval(1, nodes_per_cell=5)
    assert abs(np.exp(space.log_weights) @ space.nodes**10 - 1 / 11) > 1e-8


@pytest.mark.parametrize("bins", [1, 2, 7, 8, 40])
def test_cell_is_the_bin_that_holds_the_point(bins, rng):
    space = BinnedInterval(bins)
    s = rng.random(10_000)
    assert np.array_equal(space.cell(s), np.searchsorted(space.edges, s, side="right") - 1)
    assert np.array_equal(space.cell(space.nodes), space.node_cell)
    assert space.cell(np.array([0.0, 1.0])).tolist() == [0, bins - 1]


def test_a_finite_state_is_its_own_node_and_cell():
    space = FiniteSpace(4)
    states = np.arange(4)
    assert np.array_equal(space.nodes, states)
    assert np.array_equal(space.cell(states), states)
    assert np.array_equal(space.node_cell, states)
    assert np.array_equal(np.exp(space.log_weights), np.ones(4))
