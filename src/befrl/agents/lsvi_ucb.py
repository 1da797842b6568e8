"""LSVI-UCB (Jin, Yang, Wang, Jordan, COLT 2020): least-squares value iteration with an upper confidence bound.

    Lambda_h = lambda I + sum x x',   w_h = Lambda_h^-1 sum x [ r + max_a Q_{h+1}(s', a) ]         (Algorithm 1)
    Q_h(.,.) = min( w_h' x + beta sqrt(x' Lambda_h^-1 x), H )
    lambda = 1,   beta = c d H sqrt(iota),   iota = log(2 d T/delta),   T = K H                    (Theorem 3.1)

Shapes: Q_h (n, S, A), d = D of `regression.py`. **Deviations.** c, unspecified in the paper, is 1. The clip is the
paper's, at H for all steps and none from below. All actions tie while all bounds exceed H: at the theory's beta for
about beta^2/H^2 = d^2 iota visits to each direction and step.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.shared.regression import LinearAgent, RegressionParameters
from befrl.common.parameters import number, scale


@dataclass(frozen=True)
class Parameters(RegressionParameters):
    scale: float | str = scale("multiple of the theory's beta; theory means 1")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate in beta")


class Agent(LinearAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        d, H = self.regression.D, problem.horizon
        self.beta = parameters.scale * (d * H * np.sqrt(np.log(2 * d * problem.episodes * H / parameters.delta)))

    def plan(self, k):
        H, regression = self.problem.horizon, self.regression

        def Q(h, V):
            return np.minimum(regression.mean(h, V) + self.beta[:, None, None] * regression.width(h), H)

        return self.value_iteration(Q)

    def facts(self):
        return {"d": self.regression.D, "beta": self.beta}
