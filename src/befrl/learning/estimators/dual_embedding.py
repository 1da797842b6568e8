"""Doubly dual embedding (Dai, Dai, Gretton, Song, Schuurmans, He, AISTATS 2019), in the finite-dimensional case.

The log-partition function is a maximum over laws q, and their divergence from the base law p_0 one over functions nu,

    Z(f)      = max_q  E_q f - KL(q, p_0),        KL(q, p_0) = max_nu  E_q nu - E_0 e^nu + 1,

so that penalised maximum likelihood for f = psi . U theta is a saddle point without Z:

    min_theta max_q min_nu  sum_sa N_sa { E_q[f - nu] + E_0 e^nu - 1 } - sum_sa U theta . S_sa + eta/2 |theta|_A^2.

Here the sampler of each (anchor, action) is q_c ~ p_0 e^{c . psi} and nu = w_0 + w . psi, which hold the saddle point.
The innermost minimum is then nu = log q_c/p_0, w = c. A round is one step of each of the others,

    theta <- theta - SLOWER H^-1 ( sum_sa U' (N_sa E_{q_c} psi - S_sa) + eta A theta ),   H the Hessian at q_c,
    c     <- c + RATE (U theta - c),

the second being mirror ascent of E_q[f - nu] in q, in closed form on this class. Near the saddle point both errors
shrink by sqrt(1 - RATE) per round. An episode continues with ROUNDS rounds from where the last one stopped, at O(N A p
d^2 + d^3) each, whatever its number. The limit is the penalised maximum likelihood of `mle`, consistent at rate 1/n in
KL; the remaining optimisation error is below the statistical error after a few episodes.

**Deviations.** Far from the source, which has f and nu in a reproducing kernel space, a neural network that transforms
noise for the sampler, and stochastic gradients for all three, with e^nu averaged over draws from p_0. Here the function
classes are finite-dimensional, nu is exact given q, and the expectations are those of the family, by closed forms or
quadrature, with which Z itself could be computed. This tests the saddle point, not the sampling.
"""

import numpy as np

from befrl.learning import likelihood
from befrl.learning.estimators import base
from befrl.learning.trust import TrustRegion
from befrl.numerics import linalg

RATE = 0.5
# The largest rate of theta at which the two players do not oscillate around each other.
SLOWER = (2.0 - RATE - 2.0 * np.sqrt(1.0 - RATE)) / RATE
# An episode's rounds reduce the optimisation's error by 0.71^10 = 0.03.
ROUNDS = 10


class Estimator(base.Estimator):
    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        self.trust = TrustRegion(model)
        self.sampler = np.zeros((n, model.n_anchors, model.n_actions, model.family.p))

    def update(self, data, trajectory):
        features, family, counts = self.model.features, self.model.family, data.counts[..., None]
        for _ in range(ROUNDS):
            _, mean, cov = family.moments(self.sampler)
            pull = likelihood.penalty(features, self.eta, self.theta)[1]
            gradient = features.pull(counts * mean - data.sum_psi) + pull
            hessian = features.sandwich(counts[..., None] * cov, diagonal=family.diagonal)
            step = linalg.solve(features.plus_trace(hessian, self.eta), gradient)
            self.theta = self.theta - self.trust.limit(SLOWER * step)
            self.sampler = self.sampler + RATE * (features.natural(self.theta) - self.sampler)
        return self.theta
