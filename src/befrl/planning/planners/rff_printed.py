"""Random Fourier features as the paper's appendix prints them, errors included: P(s'|s,a) = E[f(psi(s')) f(v)].

With the f of `rff` that mean is exp(-|psi - v|^2/2): the factor e^(|psi|^2/2 + |v|^2/2 - Z) is missing, so that rows do
not sum to one, however many features there are. (The main text has the factor, and a (2 pi)^(-p/2) too many: all rows
sum to that.) sigma is the main text's 1; the base measure multiplies ds'.
"""

import numpy as np

from befrl.planning.planners import rff


class Planner(rff.Planner):
    def node_scale(self, psi):
        return np.zeros(len(psi))

    def row_scale(self, v):
        return np.zeros(v.shape[:-1])
