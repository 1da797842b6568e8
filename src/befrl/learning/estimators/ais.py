"""Annealed importance sampling (Neal 2001): the likelihood's gradient with E_theta psi from weighted particles.

At each visit (s,a) of the episode M particles start uniform on the support and pass J + 1 temperatures
0 = gamma_0 < ... < gamma_J = 1, gamma_j = (j/J)^2, with one Metropolis step of the law exp(gamma_j (c . psi + b)),
c = U theta, at each of them:

    log w += (gamma_{j+1} - gamma_j) (c . psi(x_j) + b(x_j)),     E psi = sum_m w_m psi(x_m) / sum_m w_m.

The mean of w is an unbiased estimate of e^Z over the support's volume. With means and covariances C of the particles

    theta <- theta + (eta A + sum over all visits so far of U' C U)^-1 sum_h U' (psi(s_{h+1}) - E psi),

O(H M J p) an episode and a solve, whatever its number; the penalty is where the sum of Hessians starts, as in
`online-newton`, whose estimates these are up to the particles' error. Its random part, 3/M of the data's variance where
laws are sharp, averages out like the data's. Its bias, of order 1/M in E psi, stays: KL has a floor of order 1/M^2, on
`literal` 5e-4 on the average over (s,a). A step's length is limited (`trust.py`), since the objective itself is not at
hand; what is learned while theta is on its way is lost, an error that fades like 1/n^2 in KL.

**Deviations.** Neal's annealing is of Z; here it serves the score. It starts at the uniform law rather than at the base
measure, which need not be easy to draw from. Old visits keep the moments of the theta of their time.
"""

from itertools import pairwise

import numpy as np

from befrl.learning.data import Visits
from befrl.learning.estimators import base
from befrl.learning.metropolis import walk_for
from befrl.learning.trust import TrustRegion
from befrl.numerics import linalg

# 32 x 10 steps for each visit: an episode of 40 steps and 30 seeds takes some 20 ms, and the bias is below the error of
# 10^4 transitions.
PARTICLES = 32
TEMPERATURES = 10


class Estimator(base.Estimator):
    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        self.walk, self.trust = walk_for(model.family), TrustRegion(model)
        self.curvature = 0.0

    def take(self, natural, count):
        """Uniforms for the particles of each visit, (n, H, M, count)."""
        shape = (*natural.shape[:-1], PARTICLES, count)
        return self.uniforms.take(int(np.prod(shape[1:]))).reshape(shape)

    def anneal(self, natural, place):
        """Particles (n, H, M) of the laws natural (n, H, p) and the logarithms of their weights."""
        walk = self.walk
        gammas = (np.arange(TEMPERATURES + 1) / TEMPERATURES) ** 2
        x = walk.start(place, self.take(natural, walk.uniforms - 1))
        level = walk.log_density(natural, x, place)
        log_weights = gammas[1] * level
        for gamma, after in pairwise(gammas[1:]):
            x, level = walk.step(natural, x, level, place, self.take(natural, walk.uniforms), gamma)
            log_weights += (after - gamma) * level
        return x, log_weights

    def update(self, data, trajectory):
        features, family, visits = self.model.features, self.model.family, Visits(self.model, trajectory)
        place = (trajectory.cells, trajectory.actions)
        x, log_weights = self.anneal(visits.read(features.natural(self.theta)), place)
        weights = np.exp(log_weights - log_weights.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mean, cov = weighted_moments(weights, family.statistic(x))
        information = visits.total(cov)
        surprise = visits.total(family.statistic(trajectory.next_states) - mean)
        self.curvature = self.curvature + features.sandwich(information, diagonal=family.diagonal)
        B = features.plus_trace(self.curvature, self.eta)
        self.theta = self.theta + self.trust.limit(linalg.solve(B, features.pull(surprise)))
        return self.theta


def weighted_moments(weights, psi):
    """Mean (..., p) and covariance (..., p, p) of psi (..., M, p) under weights (..., M) that sum to one."""
    mean = (weights[..., None] * psi).sum(-2)
    centred = psi - mean[..., None, :]
    return mean, np.swapaxes(centred, -1, -2) @ (weights[..., None] * centred)
