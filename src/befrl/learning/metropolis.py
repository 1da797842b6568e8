"""Metropolis steps that leave p_v(. | s, a) invariant without the partition function, and estimators that use them.

A move from x to y is accepted with probability min(1, exp( gamma [psi(y)' v + b(y) - psi(x)' v - b(x)] )); gamma < 1
flattens the law. In a box each coordinate moves by +-span 64^-u, u uniform, so that some steps suit any width of the
law, and is reflected at the walls or wraps around a circle. On finite spaces proposals are uniform on the support of
(s,a). Shapes: natural (..., p), x (..., M) or (..., M, dim), and `place`, cell and action, (...,) each.
"""

from abc import abstractmethod

import numpy as np

from befrl.learning.data import Visits
from befrl.learning.estimators import base
from befrl.numerics import linalg

RATIO = 64.0  # of the largest to the smallest move


def walk_for(family):
    return FiniteWalk(family) if family.space.discrete else BoxWalk(family)


class Walk:
    """A Markov chain of particles; a step takes `uniforms` uniform numbers for each."""

    def __init__(self, family):
        self.family = family
        self.uniforms = family.space.dim + 1

    def log_density(self, natural, x, place):
        """psi(x)' v + b(x), without Z: (..., M)."""
        psi, level = self.family.statistic(x), self.log_base(x, place)
        for i in range(self.family.p):
            level = level + psi[..., i] * natural[..., i, None]
        return level

    def step(self, natural, x, level, place, u, gamma=1.0):
        """Particles and their log-densities `level` after one step with uniforms u (..., M, uniforms)."""
        y = self.propose(x, place, u[..., :-1])
        new = self.log_density(natural, y, place)
        accept = u[..., -1] < np.exp(np.minimum(gamma * (new - level), 0.0))
        moved = accept if x.ndim == accept.ndim else accept[..., None]
        return np.where(moved, y, x), np.where(accept, new, level)


class FiniteWalk(Walk):
    def __init__(self, family):
        super().__init__(family)
        allowed = np.isfinite(family.log_base)
        self._count = allowed.sum(-1)
        self._states = np.argsort(~allowed, axis=-1, kind="stable")  # those of the support first

    def _entry(self, place):
        """The indices of (s,a) in the tables, (..., 1) each; a base measure shared by all (s,a) has one entry."""
        sizes = self.family.log_base.shape
        return tuple(np.minimum(i, size - 1)[..., None] for i, size in zip(place, sizes[:2], strict=True))

    def log_base(self, x, place):
        return self.family.log_base[*self._entry(place), x]

    def start(self, place, u):
        """Uniform states on the support, u (..., M, 1) -> (..., M)."""
        entry = self._entry(place)
        return self._states[*entry, (u[..., 0] * self._count[entry]).astype(np.int64)]

    def propose(self, x, place, u):
        return self.start(place, u)


class BoxWalk(Walk):
    def __init__(self, family):
        super().__init__(family)
        space = family.space
        self.low, self.span = (self._states(part) for part in (space.low, space.high - space.low))
        self.periodic = getattr(space, "periodic", False)

    def _states(self, u):
        return u if self.family.space.dim > 1 else u[..., 0]

    def log_base(self, x, place):
        return self.family.log_base_at(x)

    def start(self, place, u):
        return self.low + self.span * self._states(u)

    def propose(self, x, place, u):
        sign = self._states(u) - 0.5  # one uniform gives both the sign and the size
        size = np.exp(-2.0 * np.log(RATIO) * np.abs(sign))
        at = (x - self.low) / self.span + np.copysign(size, sign)
        at = at - np.floor(at) if self.periodic else 1.0 - np.abs(1.0 - np.abs(at))
        return self.low + self.span * at


class ParticleEstimator(base.Estimator):
    """One step per episode, with mean and covariance C of psi at each visit estimated by particles:

        theta <- theta + (eta A + sum over all visits so far of U' C U)^-1 sum_h U' (psi(s_{h+1}) - E psi).

    Old visits keep the C of the theta of their time, as in `online-newton`: an error of order 1/n^2 in KL.
    """

    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        self.walk, self.trust, self.curvature = walk_for(model.family), base.TrustRegion(model), 0.0

    @abstractmethod
    def moments(self, natural, trajectory):
        """E psi (n, H, p) and Cov psi (n, H, p, p) at the visits, for natural parameters (n, H, p)."""

    def update(self, data, trajectory):
        features, family, visits = self.model.features, self.model.family, Visits(self.model, trajectory)
        mean, cov = self.moments(visits.read(features.natural(self.theta)), trajectory)
        surprise = visits.total(family.statistic(trajectory.next_states) - mean)
        self.curvature = self.curvature + features.sandwich(visits.total(cov), diagonal=family.diagonal)
        B = features.plus_trace(self.curvature, self.eta)
        self.theta = self.theta + self.trust.limit(linalg.solve(B, features.pull(surprise)))
        return self.theta
