"""State spaces: quadrature, cells, edges, anchors and interpolation between them."""

import numpy as np
import pytest

from befrl.common.errors import InputError
from befrl.model.spaces import BinnedInterval, FiniteSpace, SmoothBox


def test_bins_have_an_exact_rule_and_hold_their_points(rng):
    """Five Gauss-Legendre nodes are exact up to degree 9, and not beyond."""
    for bins in (1, 2, 7, 40):
        space = BinnedInterval(bins, nodes_per_cell=5)
        weights = np.exp(space.log_weights)
        for degree in range(10):
            pieces = np.bincount(space.node_anchor, weights * space.nodes**degree)
            assert pieces == pytest.approx(integral(space.edges, degree), rel=1e-12)
        assert bins > 1 or abs(weights @ space.nodes**10 - 1 / 11) > 1e-8
        s = rng.random(10_000)
        assert np.array_equal(space.cell(s), np.searchsorted(space.edges, s, side="right") - 1)
        assert np.array_equal(space.cell(space.nodes), space.node_anchor)
        assert space.cell(np.array([0.0, 1.0])).tolist() == [0, bins - 1]


def test_a_finite_state_is_its_own_node_and_cell():
    space, states = FiniteSpace(4), np.arange(4)
    for found in (space.nodes, space.cell(states), space.node_anchor):
        assert np.array_equal(found, states)
    assert np.array_equal(np.exp(space.log_weights), np.ones(4))


def test_first_states_of_constant_cells(rng):
    """A fixed state, or uniform on a bin."""
    u = rng.random(50)
    fixed, bin = FiniteSpace(4).first(2), BinnedInterval(5).first(3)
    assert fixed["start"](u).tolist() == [2] * 50 and fixed["start_masses"].tolist() == [0, 0, 1, 0]
    assert bin["start"](u) == pytest.approx(0.6 + u / 5) and bin["start_masses"].tolist() == [0, 0, 0, 1, 0]


# Smooth boxes: cells of different widths, one and two dimensions.
EDGES = np.array([-1.0, -0.4, 0.1, 0.2, 2.0])
OTHER = np.array([0.0, 0.5, 3.0])
ORDERS = [1, 2, 3, 5, 9]


def line(order=4, **kind):
    return SmoothBox([EDGES], order, **kind)


def plane(order=3):
    return SmoothBox([EDGES, OTHER], order)


def points(space, rng, count=200):
    """States in the box, (count,) or (count, 2), and its outermost corners."""
    inside = np.concatenate([rng.uniform(space.low, space.high, (count, space.dim)), [space.low, space.high]])
    return inside[:, 0] if space.dim == 1 else inside


def integral(edges, degree):
    """Of s^degree over each panel."""
    return np.diff(edges ** (degree + 1)) / (degree + 1)


def test_the_rule_of_a_smooth_box_is_exact_to_degree_2_order_minus_1_in_every_cell():
    """The order of the cells and of their nodes is that of the outer products: the last dimension runs fastest."""
    for order in ORDERS:
        space = line(order)
        weights = np.exp(space.log_weights).reshape(space.n_cells, order)
        for degree in range(2 * order):
            cells = (weights * space.nodes.reshape(weights.shape) ** degree).sum(1)
            assert cells == pytest.approx(integral(EDGES, degree), rel=1e-12, abs=1e-14)
        beyond = (weights * space.nodes.reshape(weights.shape) ** (2 * order)).sum(1)
        assert not np.allclose(beyond, integral(EDGES, 2 * order), rtol=1e-12, atol=1e-14)
    for order in (1, 2, 4):
        space = plane(order)
        weights = np.exp(space.log_weights).reshape(space.n_cells, -1)
        x, y = np.moveaxis(space.nodes.reshape(*weights.shape, 2), -1, 0)
        for j, k in np.ndindex(2 * order, 2 * order):
            exact = np.multiply.outer(integral(EDGES, j), integral(OTHER, k)).ravel()
            assert (weights * x**j * y**k).sum(1) == pytest.approx(exact, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("make", [line, plane])
def test_anchors_are_the_nodes_cell_by_cell_and_interpolate_themselves(make):
    space = make()
    assert (space.n_cells, space.per_cell) == ((4, 4) if make is line else (8, 9))
    assert space.n_anchors == len(space.nodes) == space.n_cells * space.per_cell
    assert np.array_equal(space.node_anchor, np.arange(space.n_anchors))
    assert np.array_equal(space.cell(space.nodes), np.repeat(np.arange(space.n_cells), space.per_cell))
    unit = np.eye(space.per_cell)[np.arange(space.n_anchors) % space.per_cell]
    assert np.allclose(space.interpolation(space.nodes), unit, rtol=0, atol=1e-13)
    weights = np.exp(space.log_weights).reshape(space.n_cells, -1)
    assert np.allclose(weights / weights.sum(1, keepdims=True), space.cell_shares, rtol=0, atol=1e-14)


def test_interpolation_reproduces_polynomials_below_its_order_and_no_others(rng):
    for order in ORDERS:
        space = line(order)
        s = points(space, rng)
        weights, near = space.interpolation(s), space.nodes.reshape(space.n_cells, order)[space.cell(s)]
        assert weights.shape == (len(s), order) and np.allclose(weights.sum(-1), 1.0, rtol=0, atol=1e-12)
        for degree in range(order):
            assert np.allclose((weights * near**degree).sum(-1), s**degree, rtol=0, atol=1e-11)
        assert np.abs((weights * near**order).sum(-1) - s**order).max() > 1e-6
    for order in (1, 2, 4):
        space = plane(order)
        s = points(space, rng)
        weights, near = space.interpolation(s), space.nodes.reshape(space.n_cells, order**2, 2)[space.cell(s)]
        assert np.allclose(weights.sum(-1), 1.0, rtol=0, atol=1e-12)
        for j, k in np.ndindex(order, order):
            values = (weights * near[..., 0] ** j * near[..., 1] ** k).sum(-1)
            assert np.allclose(values, s[:, 0] ** j * s[:, 1] ** k, rtol=0, atol=1e-10)


@pytest.mark.parametrize("make", [line, plane])
def test_a_state_has_the_same_weights_alone(make, rng):
    space = make()
    s = points(space, rng, 30)
    together, table = space.interpolation(s), space.interpolation(s.reshape(4, 8, *s.shape[1:]))
    assert np.array_equal(together.reshape(4, 8, -1), table)
    assert all(np.array_equal(space.interpolation(s[i : i + 1])[0], together[i]) for i in range(len(s)))
    assert np.array_equal(space.cell(s).reshape(4, 8), space.cell(s.reshape(4, 8, *s.shape[1:])))


def test_cells_of_the_line_and_of_the_plane_by_search(rng):
    for space in (line(), plane()):
        s = points(space, rng).reshape(-1, space.dim)
        panels = [np.searchsorted(e, s[:, i], side="right") - 1 for i, e in enumerate(space.edges)]
        panels = [np.minimum(panel, len(e) - 2) for panel, e in zip(panels, space.edges, strict=True)]
        expected = panels[0] if space.dim == 1 else panels[0] * 2 + panels[1]
        assert np.array_equal(space.cell(s if space.dim > 1 else s[:, 0]), expected)


def test_states_outside_the_box_count_as_on_its_edge():
    space = line(unbounded=True)
    assert space.cell(np.array([-7.0, -1.0, 2.0, 99.0])).tolist() == [0, 0, 3, 3]
    far, edge = (space.interpolation(np.array(ends)) for ends in ([-7.0, 99.0], [-1.0, 2.0]))
    assert np.array_equal(far, edge)
    assert plane().cell(np.array([[-7.0, 9.0], [1.0, -2.0]])).tolist() == [1, 6]


def test_corners_and_outermost_anchors():
    assert np.array_equal(line().corners, EDGES)
    assert plane().corners.tolist() == [[x, y] for x in EDGES for y in OTHER]
    assert plane().low.tolist() == [-1.0, 0.0] and plane().high.tolist() == [2.0, 3.0]
    assert np.array_equal(line().outermost, np.repeat([True, False, False, True], 4))
    grid = np.ones((4, 3), dtype=bool)
    grid[1:3, 1] = False
    assert np.array_equal(SmoothBox([EDGES, np.arange(4.0)], 2).outermost, np.repeat(grid.ravel(), 4))


def test_a_uniform_first_state_integrates_polynomials_and_ends_at_cell_edges(rng):
    space, u = line(), rng.random(100)
    uniform = space.uniform(-0.4, 0.2)
    assert np.allclose(uniform["start"](u), -0.4 + 0.6 * u, rtol=0, atol=1e-15)
    for degree in range(8):
        exact = integral(np.array([-0.4, 0.2]), degree)[0] / 0.6
        assert uniform["start_masses"] @ space.nodes**degree == pytest.approx(exact, abs=1e-14)
    with pytest.raises(InputError, match=r"0\.3 is not a cell edge"):
        space.uniform(-0.4, 0.3)


def test_cell_means_are_integrals_over_cells_and_undo_the_spread_to_anchors(rng):
    for space in (FiniteSpace(4), BinnedInterval(3), SmoothBox([np.array([0.0, 0.5, 2.0])], 4)):
        values = rng.normal(size=(2, space.n_cells, 3))
        spread = np.moveaxis(space.on_anchors(np.moveaxis(values, 1, -1)), -1, 1)
        assert spread.shape == (2, space.n_anchors, 3)
        assert np.allclose(space.cell_means(spread), values, rtol=0, atol=1e-13)
    for dim in (1, 2):
        space = SmoothBox([np.array([-1.0, 0.0, 2.0])] * dim, 3)
        means = space.cell_means((space.nodes.reshape(-1, dim) ** 2).sum(-1)[:, None])[:, 0]
        along = np.diff(space.edges[0] ** 3) / 3 / np.diff(space.edges[0])
        assert np.allclose(means, along if dim == 1 else np.add.outer(along, along).ravel(), rtol=1e-13)
