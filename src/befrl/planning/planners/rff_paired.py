"""Random Fourier features in pairs: cos(w.x) and sin(w.x) of one frequency instead of a random phase.

D features are D/2 frequencies, one at least. k(x, y) = E[cos(w.x) cos(w.y) + sin(w.x) sin(w.y)] has variance
(1 - k^2)^2/D, which vanishes where psi is near v; with random phases it is (1 + k^4/2 - k^2)/D, nowhere below 1/(2 D).
"""

import numpy as np

from befrl.planning.planners import rff


class Planner(rff.Planner):
    def draw(self):
        p, pairs = self.model.family.p, max(1, self.features // 2)
        return (self.normals.take(p * pairs).reshape(self.n, p, pairs),)

    def basis(self, x, w):
        angle = x @ w
        return np.concatenate([np.cos(angle), np.sin(angle)], axis=-1) / np.sqrt(w.shape[-1])
