"""The interface of estimators of theta_p, and the base class of those with moments from Metropolis particles."""

from abc import ABC, abstractmethod

import numpy as np

from befrl.learning import likelihood
from befrl.learning.data import Visits
from befrl.learning.metropolis import walk_for
from befrl.learning.trust import TrustRegion
from befrl.numerics import linalg


class Estimator(ABC):
    """An estimator with the penalty eta/2 |theta|_A^2, one eta or one for each row, for n rows in lock step.

    Random estimators draw from the stream `uniforms`. `hessian` is the Hessian of the penalised likelihood at the
    estimate, or None if the estimator does not compute it.
    """

    hessian = None

    def __init__(self, model, n, eta, uniforms):
        self.model, self.n, self.uniforms = model, n, uniforms
        self.eta = np.broadcast_to(np.asarray(eta, dtype=float), (n,))
        self.theta = np.zeros((n, model.d))

    @abstractmethod
    def update(self, data, trajectory):
        """The new theta (n, d), from the statistics `data` of all episodes and the `trajectory` of the last one."""

    def newton_step(self, data, mean, cov, weights):
        """H^-1 g of the likelihood of all data with E psi and Cov psi (n, N, A, ...); `weights` of H (n, N, A)."""
        features = self.model.features
        pull = likelihood.penalty(features, self.eta, self.theta)[1]
        gradient = features.pull(data.counts[..., None] * mean - data.sum_psi) + pull
        hessian = features.sandwich(weights[..., None, None] * cov, diagonal=self.model.family.diagonal)
        return linalg.solve(features.plus_trace(hessian, self.eta), gradient)


class ParticleEstimator(Estimator):
    """One step per episode, with mean and covariance C of psi at each visit estimated by particles:

        theta <- theta + (eta A + sum over all visits so far of U' C U)^-1 sum_h U' (psi(s_{h+1}) - E psi).

    As in `online-newton`, the penalty is the initial sum, and old visits keep the C of the theta of their time. Steps
    are limited in length (`trust.py`). Data seen before theta settles are partly lost, an error of order 1/n^2 in KL.
    """

    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        self.walk, self.trust, self.curvature = walk_for(model.family), TrustRegion(model), 0.0

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
