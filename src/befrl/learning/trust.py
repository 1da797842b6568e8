"""A limit on steps of theta, for estimators that cannot afford a line search because they never know the likelihood.

With sd_0 the standard deviations of the components of psi under the base measure,

    | sd_0 * U(s,a) step | <= 1   for every (s,a):

between two next states one sd apart the log-density changes by no more than one. The limit holds for each block of
theta by itself, since blocks share no (s,a); once the estimates have settled it never binds.
"""

import numpy as np

from befrl.common.errors import NotConverged


def base_moments(family):
    """E psi (N, A, p) and Cov psi (N, A, p, p) at theta = 0; N = A = 1 where all (s,a) have one base measure."""
    _, mean, cov = family.moments(np.zeros((1, *family.log_base.shape[:2], family.p)))
    return mean[0], cov[0]


def finite(vectors):
    """Estimates or steps (n, d) as they are; numbers that are none come from data that are none, and end here."""
    good = np.isfinite(vectors).all(-1)
    if not good.all():
        raise NotConverged(f"the estimates of rows {np.flatnonzero(~good).tolist()} of the block are not finite")
    return vectors


class TrustRegion:
    def __init__(self, model):
        self.features = model.features
        self.scale = np.sqrt(np.diagonal(base_moments(model.family)[1], axis1=-2, axis2=-1))
        block = getattr(self.features, "block", np.zeros((model.n_anchors, model.n_actions), dtype=int)).ravel()
        self._order = np.argsort(block, kind="stable")
        self._touched, self._starts = np.unique(block[self._order], return_index=True)
        self.n_blocks = getattr(self.features, "n_blocks", 1)

    def limit(self, step):
        """The step (n, d), block by block no longer than allowed."""
        natural = self.features.natural(finite(step)) * self.scale
        size = np.sqrt(np.square(natural).sum(-1)).reshape(len(step), -1)
        largest = np.ones((len(step), self.n_blocks))
        found = np.maximum.reduceat(size[:, self._order], self._starts, axis=1)
        largest[:, self._touched] = np.maximum(found, 1.0)
        return (step.reshape(len(step), self.n_blocks, -1) / largest[..., None]).reshape(step.shape)
