"""Doubly dual embedding (Dai, Dai, Gretton, Song, Schuurmans, He, AISTATS 2019), in the finite-dimensional case.

With Z(f) = max_q E_q f - KL(q, p_0), p_0 the base law, and KL(q, p_0) = max_nu E_q nu - E_0 e^nu + 1, penalised maximum
likelihood for f = psi . U theta is a saddle point without Z:

    min_theta max_q min_nu  sum_sa N_sa { E_q[f - nu] + E_0 e^nu - 1 } - sum_sa U theta . S_sa + eta/2 |theta|_A^2.

With q_c ~ p_0 e^{c . psi} for each (anchor, action) the innermost minimum is nu = log q_c/p_0. Near the saddle point,
the estimate of `mle`, both errors shrink by sqrt(1 - RATE) in each round of

    theta <- theta - SLOWER H^-1 ( sum_sa U' (N_sa E_{q_c} psi - S_sa) + eta A theta ),   H the Hessian at q_c,
    c     <- c + RATE (U theta - c),   mirror ascent of E_q[f - nu] in q.

**Deviations.** The source has f and nu in a reproducing kernel space, a neural network that transforms noise for the
sampler, and stochastic gradients. Here the function classes are finite-dimensional, nu is exact given q, and the
expectations are those of the family, with which Z could be computed: this tests the saddle point, not the sampling.
"""

import numpy as np

from befrl.learning.estimators import base

RATE = 0.5
SLOWER = (2.0 - RATE - 2.0 * np.sqrt(1.0 - RATE)) / RATE  # the largest rate of theta without oscillations
ROUNDS = 10  # per episode: the optimisation's error shrinks by 0.71^10 = 0.03


class Estimator(base.Estimator):
    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        self.trust = base.TrustRegion(model)
        self.sampler = np.zeros((n, model.n_anchors, model.n_actions, model.family.p))

    def update(self, data, trajectory):
        for _ in range(ROUNDS):
            _, mean, cov = self.model.family.moments(self.sampler)
            self.theta = self.theta - self.trust.limit(SLOWER * self.newton_step(data, mean, cov, data.counts))
            self.sampler = self.sampler + RATE * (self.model.features.natural(self.theta) - self.sampler)
        return self.theta
