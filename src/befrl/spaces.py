"""State spaces: cells, quadrature nodes and weights.

Functions of the present state, features, values and policies, live on *cells*, where they are constant. Integrals
over the next state are sums over *nodes* with weights: weight 1 in a finite space, Gauss-Legendre within each cell
of an interval, so that a jump of the value at a cell's edge costs no accuracy.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class FiniteSpace:
    """States 0, ..., n_cells - 1; a state is its own cell and its own node."""

    n_cells: int
    discrete = True

    @cached_property
    def nodes(self):
        return np.arange(self.n_cells)

    @cached_property
    def log_weights(self):
        return np.zeros(self.n_cells)

    @cached_property
    def node_cell(self):
        return np.arange(self.n_cells)

    def cell(self, s):
        return s


@dataclass(frozen=True)
class BinnedInterval:
    """[0, 1] cut into n_cells equal bins, with Gauss-Legendre nodes in each."""

    n_cells: int
    nodes_per_cell: int = 16
    discrete = False

    @cached_property
    def edges(self):
        return np.linspace(0.0, 1.0, self.n_cells + 1)

    @cached_property
    def _rule(self):
        x, w = np.polynomial.legendre.leggauss(self.nodes_per_cell)
        width = 1.0 / self.n_cells
        nodes = (self.edges[:-1, None] + width * (x + 1.0) / 2.0).ravel()
        return nodes, np.tile(w * width / 2.0, self.n_cells)

    @property
    def nodes(self):
        return self._rule[0]

    @cached_property
    def log_weights(self):
        return np.log(self._rule[1])

    @cached_property
    def node_cell(self):
        return np.repeat(np.arange(self.n_cells), self.nodes_per_cell)

    def cell(self, s):
        """The bin of s; the right end belongs to the last bin."""
        return np.minimum((s * self.n_cells).astype(np.int64), self.n_cells - 1)
