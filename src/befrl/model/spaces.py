"""State spaces: anchors, cells, quadrature nodes and weights.

Functions of the present state live on *anchors*; a policy is constant on *cells*; integrals over the next state are
weighted sums over *nodes*. The anchors of cell c are c * per_cell, ..., (c + 1) * per_cell - 1, and `node_anchor` gives
the anchor whose value holds at a node. In a finite space each state is a cell, an anchor and a node with weight 1. A
bin on which features are constant has one anchor. In a smooth box all nodes are anchors, with Lagrange interpolation
within cells. Values of policies jump at edges only, so that quadrature and interpolation are spectrally accurate.
"""

from functools import cache, cached_property, reduce

import numpy as np

from befrl.common.errors import InputError


def check_whole(name, value):
    """Raise unless a value is a whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} = {value!r} is not allowed: it must be a whole number from 1")


class ConstantCells:
    """Spaces whose features are constant on cells: one anchor serves a cell."""

    per_cell = 1
    cell_shares = np.ones(1)
    dim = 1
    unbounded = False

    @property
    def n_anchors(self):
        return self.n_cells

    def cell_means(self, values):
        return values

    def on_anchors(self, values):
        return values


class FiniteSpace(ConstantCells):
    """States 0, ..., n_cells - 1."""

    discrete = True

    def __init__(self, n_cells):
        check_whole("FiniteSpace: the number of states", n_cells)
        self.n_cells = n_cells
        self.nodes = self.node_anchor = np.arange(n_cells)
        self.log_weights = np.zeros(n_cells)

    def cell(self, s):
        return s

    def first(self, state):
        """`start` and `start_masses` of a fixed first state."""
        return {"start": lambda u: np.full(len(u), state), "start_masses": np.eye(self.n_cells)[state]}


class BinnedInterval(ConstantCells):
    """[0, 1] cut into n_cells equal bins, with Gauss-Legendre nodes in each."""

    discrete = False
    low, high = np.zeros(1), np.ones(1)

    def __init__(self, n_cells, nodes_per_cell=16):
        check_whole("BinnedInterval: the number of bins", n_cells)
        check_whole("BinnedInterval: nodes_per_cell", nodes_per_cell)
        self.n_cells, self.nodes_per_cell = n_cells, nodes_per_cell
        self.edges = np.linspace(0.0, 1.0, n_cells + 1)
        nodes, weights = legendre_rule(self.edges, nodes_per_cell)
        self.nodes, self.log_weights = nodes.ravel(), np.log(weights.ravel())
        self.node_anchor = np.repeat(np.arange(n_cells), nodes_per_cell)

    def cell(self, s):
        """The bin of s; the right end belongs to the last bin."""
        return np.minimum((s * self.n_cells).astype(np.int64), self.n_cells - 1)

    def first(self, bin):
        """`start` and `start_masses` of a first state that is uniform on a bin."""
        return {"start": lambda u: (bin + u) / self.n_cells, "start_masses": np.eye(self.n_cells)[bin]}


def legendre_rule(edges, count):
    """Gauss-Legendre nodes and weights on the panels between `edges`, (panels, count) each."""
    x, w = np.polynomial.legendre.leggauss(count)
    width = np.diff(edges)[:, None]
    return edges[:-1, None] + width * (x + 1.0) / 2.0, w * width / 2.0


class SmoothBox:
    """A box cut into cells by `edges`, one increasing array per dimension, with `order` nodes per cell and dimension.

    States are numbers, or vectors (..., dim) if dim > 1. An `unbounded` box stands for R^dim and must be so large that
    the mass outside is negligible; the two ends of a `periodic` one are the same point.
    """

    discrete = False

    def __init__(self, edges, order, unbounded=False, periodic=False):
        self.edges = tuple(np.asarray(e, dtype=float) for e in edges)
        check_whole("SmoothBox: order", order)
        for e in self.edges:
            if e.ndim != 1 or len(e) < 2 or not np.all(np.isfinite(e)) or not np.all(np.diff(e) > 0):
                raise InputError("SmoothBox: edges must be a list of increasing arrays, one for each dimension")
        self.order, self.unbounded, self.periodic = order, unbounded, periodic
        self.dim = len(self.edges)
        self.per_cell = order**self.dim
        self.shape = tuple(len(e) - 1 for e in self.edges)
        self.n_cells = int(np.prod(self.shape))
        self.n_anchors = self.n_cells * self.per_cell
        self.low, self.high = (np.array([e[i] for e in self.edges]) for i in (0, -1))
        # The nodes come cell by cell; the last dimension runs fastest among the cells and within one.
        points, weights = [], []
        for axis, e in enumerate(self.edges):
            shape = [1] * (2 * self.dim)
            shape[axis], shape[self.dim + axis] = len(e) - 1, order
            for parts, values in zip((points, weights), legendre_rule(e, order), strict=True):
                parts.append(np.broadcast_to(values.reshape(shape), self.shape + (order,) * self.dim).reshape(-1))
        points = np.stack(points, axis=-1)
        self.nodes = points[:, 0] if self.dim == 1 else points
        self.log_weights = np.log(reduce(np.multiply, weights))
        self.node_anchor = np.arange(self.n_anchors)

    @cached_property
    def cell_shares(self):
        """The weight of each anchor within its cell, (per_cell,), the same in every cell."""
        share = np.polynomial.legendre.leggauss(self.order)[1] / 2.0
        return reduce(np.multiply.outer, [share] * self.dim).ravel()

    def cell_means(self, values):
        """Averages over the anchors of each cell, (..., N, A) -> (..., cells, A)."""
        cut = values.reshape(*values.shape[:-2], self.n_cells, self.per_cell, -1)
        return np.einsum("...cja,j->...ca", cut, self.cell_shares)

    def on_anchors(self, values):
        """Values of cells on their anchors, (..., cells) -> (..., N)."""
        return np.repeat(values, self.per_cell, axis=-1)

    @cached_property
    def corners(self):
        """The corners of all cells, as states."""
        points = np.stack([g.ravel() for g in np.meshgrid(*self.edges, indexing="ij")], axis=-1)
        return points[:, 0] if self.dim == 1 else points

    @cached_property
    def outermost(self):
        """Whether an anchor lies in a cell at a face of the box, (anchors,)."""
        cells = np.indices(self.shape).reshape(self.dim, -1)
        last = np.array(self.shape)[:, None] - 1
        return np.repeat(((cells == 0) | (cells == last)).any(0), self.per_cell)

    def merged(self, table):
        """The box with cells merged where a table (N, ...) is constant, and the anchor there of each anchor, (N,)."""
        grid = table.reshape(self.shape + (self.order,) * self.dim + (-1,))
        edges, panels = [], []
        for axis, cuts in enumerate(self.edges):
            lines = np.moveaxis(grid, (axis, self.dim + axis), (0, 1)).reshape(self.shape[axis], self.order, -1)
            flat = (lines == lines[:, :1]).all((1, 2))
            apart = ~(flat[:-1] & flat[1:] & (lines[:-1, 0] == lines[1:, 0]).all(-1))
            edges.append(cuts[np.concatenate([[True], apart, [True]])])
            panels.append(np.concatenate([[0], np.cumsum(apart)]))
        box = SmoothBox(edges, self.order, self.unbounded, self.periodic)
        cells = np.ravel_multi_index(np.ix_(*panels), box.shape).ravel()
        return box, (cells[:, None] * self.per_cell + np.arange(self.per_cell)).ravel()

    def uniform(self, low, high):
        """`start` and `start_masses` of a first state that is uniform on [low, high], two cell edges, if dim = 1."""
        for end in (low, high):
            if not np.isclose(self.edges[0], end, rtol=0, atol=1e-12).any():
                raise InputError(f"a uniform first state must start and end at cell edges: {end} is not a cell edge")
        inside = (self.nodes > low) & (self.nodes < high)
        masses = np.where(inside, np.exp(self.log_weights) / (high - low), 0.0)
        return {"start": lambda u: low + (high - low) * u, "start_masses": masses}

    def cell(self, s):
        """The cell of s; states outside the box belong to a cell at its face."""
        if self.dim == 1:
            return np.searchsorted(self.edges[0][1:-1], s, side="right")
        panels = (np.searchsorted(e[1:-1], s[..., axis], side="right") for axis, e in enumerate(self.edges))
        return np.ravel_multi_index(tuple(panels), self.shape)

    def interpolation(self, s):
        """The Lagrange weights (..., per_cell) of s on the anchors of its cell; states outside count as on the edge."""
        s = np.asarray(s, dtype=float)
        s = s[..., None] if self.dim == 1 else s
        weights = []
        for axis, edges in enumerate(self.edges):
            x = np.clip(s[..., axis], edges[0], edges[-1])
            panel = np.minimum(np.searchsorted(edges, x, side="right") - 1, len(edges) - 2)
            t = 2.0 * (x - edges[panel]) / (edges[panel + 1] - edges[panel]) - 1.0
            weights.append(lagrange(t, self.order))
        product = reduce(lambda a, b: (a[..., :, None] * b[..., None, :]).reshape(*a.shape[:-1], -1), weights)
        return product.reshape(*s.shape[:-1], -1)  # numpy gives a single point an axis of its own


@cache
def lagrange_coefficients(order):
    """The Lagrange polynomials l_j = w_j sum_k (k + 1/2) P_k(x_j) P_k as Legendre coefficients, (nodes, degrees)."""
    x, w = np.polynomial.legendre.leggauss(order)
    return w[:, None] * np.polynomial.legendre.legvander(x, order - 1) * (np.arange(order) + 0.5)


def lagrange(t, order):
    """The Lagrange polynomials at t, (..., order); in a matrix product bits would depend on the number of points."""
    basis = np.polynomial.legendre.legvander(t, order - 1)
    return (basis[..., None, :] * lagrange_coefficients(order)).sum(-1)
