"""Random Fourier features as the paper's appendix prints them, errors included: P(s'|s,a) = E[f(psi(s')) f(v)].

    f(x) = sqrt(2) cos(w.x + beta),   w ~ N(0, I), beta uniform on [0, 2 pi]

That mean is k(psi, v) = exp(-|psi - v|^2/2). The factor e^(|psi|^2/2 + |v|^2/2 - Z) is missing, so that rows do not sum
to one and the error stays however many features there are. (The main text has the factor, and a (2 pi)^(-p/2) too many:
all rows sum to that.) sigma is the main text's 1; the base measure multiplies ds'.
"""

import numpy as np

from befrl.planning.planners import rff


class Planner(rff.Planner):
    def node_scale(self, psi):
        return np.zeros(len(psi))

    def row_scale(self, v):
        return np.zeros(v.shape[:-1])
