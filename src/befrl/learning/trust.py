"""A limit on the steps of theta, for estimators without a line search because they do not compute the likelihood.

    | sd_0 * U(s,a) step | <= 1   for every (s,a),   sd_0 the standard deviations of psi under the base measure:

the log-density ratio of two next states one standard deviation apart changes by at most one. The limit holds for each
block of theta separately, since blocks share no (s,a). It does not bind once the estimates have settled.
"""

import numpy as np

from befrl.common.errors import NotConverged


def base_moments(family):
    """E psi (N, A, p) and Cov psi (N, A, p, p) at theta = 0; N = A = 1 if all (s,a) share one base measure."""
    _, mean, cov = family.moments(np.zeros((1, *family.log_base.shape[:2], family.p)))
    return mean[0], cov[0]


def finite(vectors):
    """Return estimates or steps (n, d) unchanged; raise if one is not finite."""
    good = np.isfinite(vectors).all(-1)
    if not good.all():
        raise NotConverged(f"the estimates of rows {np.flatnonzero(~good).tolist()} of the group are not finite")
    return vectors


class TrustRegion:
    """The limit for a model's features and family."""

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
