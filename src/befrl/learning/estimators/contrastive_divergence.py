"""Contrastive divergence CD-m (Hinton 2002; Carreira-Perpinan and Hinton 2005), each transition used once.

From every next state s'_t of the episode K chains take m Metropolis steps of p_theta(. | s_t, a_t), to y_t1, ..., y_tK:

    g     = sum_t U_t' ( psi(s'_t) - mean_k psi(y_tk) )
    theta <- theta + (eta A + sum over all transitions so far of U' C U)^-1 g,   C the covariance of psi(y_t1..K).

O(H K m p) an episode and a solve, whatever its number. The chains leave p_theta invariant, so that E g = 0 at theta*
for every m >= 1: where the model is right, as here, CD-m is *consistent*, at rate 1/n in KL. The bias of the source is
that of the root of g against the likelihood's for data outside the model. What a small m costs here is variance and
time: with r_j the correlation of psi over j steps, E g has the slope -Cov(psi) (1 - r_m) at theta* while C is Cov(psi)
(1 - r_2m), so that the gain is 1/(1 + r_m) of Newton's for chains that forget geometrically, above the half at which
the rate would be lost; and the variance is about 1 + 1/K times the likelihood's if r_m is small. The penalty is where
the sum of C starts, as in `online-newton`. A step's length is limited (`trust.py`); what is learned while theta is on
its way is lost, an error that fades like 1/n^2 in KL.

**Deviations.** The source takes plain gradient steps with many passes over a fixed sample.
"""

import numpy as np

from befrl.learning.data import Visits
from befrl.learning.estimators import base
from befrl.learning.metropolis import walk_for
from befrl.learning.trust import TrustRegion
from befrl.numerics import linalg

# Eight chains leave an eighth of the data's variance as noise; after ten steps, half of them of a fitting size, r_m is
# about 0.1 for the laws of `chain` and `literal`.
CHAINS = 8
STEPS = 10


class Estimator(base.Estimator):
    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        self.walk, self.trust = walk_for(model.family), TrustRegion(model)
        self.curvature = 0.0

    def chains(self, natural, s, place):
        """The states (n, H, K) after m steps of the laws natural (n, H, p) from s (n, H)."""
        n, H = natural.shape[:2]
        x = np.repeat(s[:, :, None], CHAINS, axis=2)
        level = self.walk.log_density(natural, x, place)
        u = self.uniforms.take(STEPS * H * CHAINS * self.walk.uniforms).reshape(n, STEPS, H, CHAINS, -1)
        for i in range(STEPS):
            x, level = self.walk.step(natural, x, level, place, u[:, i])
        return x

    def update(self, data, trajectory):
        features, family, visits = self.model.features, self.model.family, Visits(self.model, trajectory)
        place = (trajectory.cells, trajectory.actions)
        y = self.chains(visits.read(features.natural(self.theta)), trajectory.next_states, place)
        psi = family.statistic(y)
        mean = psi.mean(-2)
        centred = psi - mean[..., None, :]
        cov = np.swapaxes(centred, -1, -2) @ centred / (CHAINS - 1)
        surprise = visits.total(family.statistic(trajectory.next_states) - mean)
        self.curvature = self.curvature + features.sandwich(visits.total(cov), diagonal=family.diagonal)
        B = features.plus_trace(self.curvature, self.eta)
        self.theta = self.theta + self.trust.limit(linalg.solve(B, features.pull(surprise)))
        return self.theta
