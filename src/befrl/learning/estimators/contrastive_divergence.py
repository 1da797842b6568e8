"""Contrastive divergence CD-m (Hinton 2002; Carreira-Perpinan and Hinton 2005), with each transition used once.

From every next state of the episode K chains take m Metropolis steps of p_theta(. | s_t, a_t). The mean and covariance
of psi at their ends are the moments of `ParticleEstimator`. The chains leave p_theta invariant, so that in a
well-specified model, as here, CD-m is *consistent*, at rate 1/n in KL; the bias that the source reports is for data
outside the model. With r_m the correlation of psi over m steps, the step is 1/(1 + r_m) times Newton's for
geometrically ergodic chains; the rate needs over half of that. The variance is about 1 + 1/K times the likelihood's.

**Deviations.** The source takes plain gradient steps with many passes over a fixed sample.
"""

import numpy as np

from befrl.learning.metropolis import ParticleEstimator

# Eight chains add an eighth of the data's variance; after ten steps r_m is about 0.1 on `chain` and `literal`.
CHAINS = 8
STEPS = 10


class Estimator(ParticleEstimator):
    def chains(self, natural, s, place):
        """The states (n, H, K) after m steps from s (n, H) under the laws of `natural` (n, H, p)."""
        x = np.repeat(s[:, :, None], CHAINS, axis=2)
        level = self.walk.log_density(natural, x, place)
        u = self.take(STEPS, natural.shape[1], CHAINS, self.walk.uniforms)
        for i in range(STEPS):
            x, level = self.walk.step(natural, x, level, place, u[:, i])
        return x

    def moments(self, natural, trajectory):
        y = self.chains(natural, trajectory.next_states, (trajectory.cells, trajectory.actions))
        psi = self.model.family.statistic(y)
        mean = psi.mean(-2)
        centred = psi - mean[..., None, :]
        return mean, np.swapaxes(centred, -1, -2) @ centred / (CHAINS - 1)
