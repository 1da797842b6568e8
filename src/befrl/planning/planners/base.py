"""The interface of planners, and the base class of those that factorise the kernel into (s,a) and s'."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import choice, integer
from befrl.common.streams import PLANNER
from befrl.numerics import bellman
from befrl.planning import planners

LIMIT = 1e100  # values are clipped, since approximate kernels may have huge entries and products would overflow
SPEEDUP = 8  # about how much faster an operation is in a matrix-matrix than in a matrix-vector product


@dataclass(frozen=True)
class PlannerParameters:
    """The parameters of agents that plan in a model."""

    planner: str = choice("exact", planners.registry, "how the expected next value is computed")
    features: int = integer(200, 1, 100000, "number of features, for planners that use features")


class Planner(ABC):
    """A planner for n seeds, with `features` features if it uses them, drawn from the stream `normals` if random."""

    def __init__(self, model, n, features, normals):
        self.model, self.n, self.features, self.normals = model, n, features, normals

    @abstractmethod
    def plan(self, R, theta_p, horizon):
        """Q (n, H, N, A) and V (n, H + 1, N) for mean rewards R (n, N, A) and the kernel of theta_p (n, d)."""


def planner_for(problem, parameters):
    """The planner of an agent's parameters."""
    cls = planners.registry.module(parameters.planner).Planner
    return cls(problem.model, problem.n, parameters.features, problem.stream(PLANNER))


class LowRank(Planner):
    """Planners that separate (s,a) from s' by D factors of v = U theta. A plan costs O(H N A D).

        P V(s,a) = int exp(psi(s').v + b(s') - Z(v)) V(s') ds' ~ e^l(v) sum_i left_i(v) int right_i(s') V(s') ds'

    Scales are logarithms, since either side may be e^100 where the product is moderate. A base measure that depends on
    (s,a) cannot be separated: then the factors are summed for every (s,a) and node, and multiplied by e^b.
    """

    def __init__(self, model, n, features, normals):
        super().__init__(model, n, features, normals)
        self.shared_base = model.family.log_base.shape[:2] == (1, 1)

    @abstractmethod
    def factors(self, v):
        """left (n, N, A, D), right (n, N, D), l (n, N, A) for v (n, N, A, p); right as made by `integrate`."""

    def integrate(self, values, log_scale):
        """Integrals (N, D) by anchor of values (G, D) e^log_scale, and their log scale; (G, D) if b is not shared."""
        family, space = self.model.family, self.model.space
        r = log_scale + space.log_weights
        if self.shared_base:
            r = r + family.log_base[0, 0]
        top = r.max()
        values = values * np.exp(r - top)[:, None]
        if self.shared_base:
            values = values.reshape(space.n_anchors, -1, values.shape[1]).sum(1)
        return values, top

    def expectation(self, theta_p, horizon):
        """The linear map V (n, N) -> P V (n, N, A), for `horizon` uses."""
        left, right, l = self.factors(self.model.features.natural(theta_p))
        n, N, A, D = left.shape
        left = (left * np.exp(np.minimum(l, np.log(LIMIT)))[..., None]).reshape(n, N * A, D)
        right = right.swapaxes(1, 2)
        if self.shared_base and horizon * D < horizon * N + N * D / SPEEDUP:
            return lambda V: (left @ (right @ V[..., None])).reshape(n, N, A)
        P = left @ right  # with few anchors it is cheaper to sum over the factors once
        if not self.shared_base:
            P = (P.reshape(n, N, A, -1) * np.exp(self.model.family.log_base)).reshape(n, N * A, N, -1).sum(-1)
        return bellman.expectation(P.reshape(n, N, A, N))

    def plan(self, R, theta_p, horizon):
        expected = self.expectation(theta_p, horizon)

        def largest(Q):
            return np.clip(bellman.largest(Q), -LIMIT, LIMIT)

        return bellman.recursion(lambda h, V: R + expected(V), horizon, R.shape, largest)
