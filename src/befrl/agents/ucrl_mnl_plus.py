"""UCRL-MNL+ (Cho, Hwang, Lee, Oh, NeurIPS 2024, Appendix E): ORRL-MNL with a bonus in place of the noise.

With f of `mnl.py`, fbar(s') = f(s') - E_theta f, and theta, B and beta of `mirror_descent.py` (eq. 5, 6 and 53),

    nu   = H beta sum_s' P_theta(s') |fbar(s,a,s')|_{B^-1} + 3 H beta^2 max_s' |f(s,a,s')|^2_{B^-1}
    Q_h  = r + P_theta V_{h+1} + nu,   V_h = min( max_a Q_h, H )                                           (eq. 104)

**Deviations.** Those of `mirror_descent.py` and `mnl.py`.
"""

import numpy as np

from befrl.agents.shared.mirror_descent import MirrorAgent, MirrorParameters
from befrl.agents.shared.mnl import total

Parameters = MirrorParameters


class Agent(MirrorAgent):
    def bonus(self, k, kernel):
        """nu, (n, N, A)."""
        H, beta = self.problem.horizon, self.radius(k)[:, None]
        P, centred, second = self.features(kernel)
        lengths = np.sqrt(total(np.square(centred)))
        nu = H * beta * total(np.moveaxis(P * lengths, -1, 0)) + 3 * H * beta**2 * second
        return nu.reshape(kernel.shape[:3])

    def plan(self, k):
        kernel = self.kernel()
        return self.plan_with(self.bonus(k, kernel), kernel, clip_values=True)
