"""The interface of estimators of theta_p, and a limit on their steps."""

import math
from abc import ABC, abstractmethod

import numpy as np

from befrl.common.errors import NotConverged
from befrl.learning import likelihood
from befrl.numerics import linalg


def base_moments(family):
    """E psi (N, A, p) and Cov psi (N, A, p, p) at theta = 0; N = A = 1 if all (s,a) share one base measure."""
    _, mean, cov = family.moments(np.zeros((1, *family.log_base.shape[:2], family.p)))
    return mean[0], cov[0]


class Estimator(ABC):
    """An estimator for n rows in lock step, with penalty eta/2 |theta|_A^2; eta is one number or one per row."""

    hessian = None  # of the penalised likelihood at the estimate, if the estimator computes it

    def __init__(self, model, n, eta, uniforms):
        self.model, self.n, self.uniforms = model, n, uniforms
        self.eta = np.broadcast_to(np.asarray(eta, dtype=float), (n,))
        self.theta = np.zeros((n, model.d))

    @abstractmethod
    def update(self, data, trajectory):
        """The new theta (n, d), from the statistics `data` of all episodes and the `trajectory` of the last one."""

    def take(self, *shape):
        """Uniforms (n, *shape)."""
        return self.uniforms.take(math.prod(shape)).reshape(self.n, *shape)

    def newton_step(self, data, mean, cov, weights):
        """H^-1 g of the likelihood of all data with E psi and Cov psi (n, N, A, ...); `weights` of H (n, N, A)."""
        features = self.model.features
        pull = likelihood.penalty(features, self.eta, self.theta)[1]
        gradient = features.pull(data.counts[..., None] * mean - data.sum_psi) + pull
        hessian = features.sandwich(weights[..., None, None] * cov, diagonal=self.model.family.diagonal)
        return linalg.solve(features.plus_trace(hessian, self.eta), gradient)


def finite(vectors):
    """Return estimates or steps (n, d) unchanged; raise if one is not finite."""
    good = np.isfinite(vectors).all(-1)
    if not good.all():
        raise NotConverged(f"the estimates of rows {np.flatnonzero(~good).tolist()} of the group are not finite")
    return vectors


class TrustRegion:
    """A limit | sd_0 * U(s,a) step | <= 1, for all (s,a), on the steps of estimators that cannot do a line search.

    sd_0 is the standard deviation of psi under the base measure: log-density ratios of next states sd_0 apart change by
    at most one. Blocks of theta share no (s,a) and are limited separately. Settled estimates are not limited.
    """

    def __init__(self, model):
        self.features = model.features
        self.scale = np.sqrt(np.diagonal(base_moments(model.family)[1], axis1=-2, axis2=-1))
        block = getattr(self.features, "block", np.zeros((model.n_anchors, model.n_actions), dtype=int)).ravel()
        self._order = np.argsort(block, kind="stable")
        self._touched, self._starts = np.unique(block[self._order], return_index=True)
        self.n_blocks = getattr(self.features, "n_blocks", 1)

    def limit(self, step):
        """The step (n, d), with each block shortened to the limit."""
        natural = self.features.natural(finite(step)) * self.scale
        size = np.sqrt(np.square(natural).sum(-1)).reshape(len(step), -1)
        largest = np.ones((len(step), self.n_blocks))
        found = np.maximum.reduceat(size[:, self._order], self._starts, axis=1)
        largest[:, self._touched] = np.maximum(found, 1.0)
        return (step.reshape(len(step), self.n_blocks, -1) / largest[..., None]).reshape(step.shape)
