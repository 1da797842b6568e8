"""LMC-LSVI (Ishfaq, Lan, Xu, Mahmood, Precup, Anandkumar, Azizzadenesheli, ICLR 2024): Langevin steps on the loss.

    L_h(w) = sum [ r + max_a Q_{h+1}(s', a) - x'w ]^2 + lambda |w|^2                               (Algorithm 1)
    w_j    = w_{j-1} - eta_k grad L_h(w_{j-1}) + sqrt(2 eta_k/beta_k) eps_j,   eps_j ~ N(0, I),   j = 1 .. J_k
    Q_h    = min( x' w_{J_k}, H-h+1 )^+,   and w_0 is the last w of the episode before, at first 0
    lambda = 1,   1/sqrt(beta_k) = H sqrt(d iota),   iota = log(2 d T/delta),   T = K H
    eta_k  = 1/(4 lambda_max(Lambda_h)),   J_k = 2 kappa_k log(4 H K d),   kappa_k = lambda_max/lambda_min(Lambda_h)

The loss is quadratic: with A = I - 2 eta_k Lambda_h and w^ = Lambda_h^-1 sum x [ r + max_a Q_{h+1}(s', a) ],

    w_{J_k} ~ N( w^ + A^{J_k} (w_0 - w^), Sigma ),   Sigma = (I - A^{2 J_k}) Lambda_h^-1 (I + A)^-1/beta_k

exactly. One draw w^ + A^{J_k} (w_0 - w^) + Sigma^{1/2} z, with the symmetric root, replaces the steps, whose number J_k
grows with k. Each h keeps its own w, also with `share: steps`. Shapes: w as in `regression.py`, d = D there.

**Deviations.** The source's constants are not known: its text was not at hand, and eta_k and J_k are from memory. The
order of 1/sqrt(beta_k) is H sqrt(d), here with the constant 1 and the logarithm of LSVI-UCB. |A^{J_k}| <= 1/(4 H K d)
leaves hardly anything of w_0, and Sigma is 1/2 to 2/3 of Lambda_h^-1/beta_k: RLSVI with a clip. With few `steps` w
follows the data slowly.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.shared.regression import LinearAgent, RegressionParameters
from befrl.common.parameters import given_or, number, optional, scale


@dataclass(frozen=True)
class Parameters(RegressionParameters):
    scale: float | str = scale("multiple of the theory's noise 1/sqrt(beta_k); theory means 1")
    steps: float | None = optional(1, 1e9, "number J_k of Langevin steps, rounded; the theory's if not given")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate in beta_k")


class Agent(LinearAgent):
    surrogate = "1/sqrt(beta) has the order H sqrt(d) with the logarithm of LSVI-UCB; J steps forget their start."

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        d, H, K = self.regression.D, problem.horizon, problem.episodes
        self.noise = parameters.scale * (H * np.sqrt(d * np.log(2 * d * K * H / parameters.delta)))
        self.J = np.round(parameters.steps)
        self.log = np.log(4 * H * K * d)
        self.w = [0.0] * H

    def law(self, Lambda):
        """A^J and the root of Sigma for the eigenvalues of all tables, in any shape (n, T, ., .)."""
        noise, J = (part[:, None, None, None] for part in (self.noise, self.J))
        least, most = (part((2, 3), keepdims=True) for part in (Lambda.min, Lambda.max))
        step = Lambda / (2 * most)  # I - A
        log_power = given_or(J, np.ceil(2 * most / least * self.log)) * np.log1p(-step)  # of A^J
        return np.exp(log_power), noise * np.sqrt(-np.expm1(2 * log_power) / (Lambda * (2 - step)))

    def plan(self, k):
        H, regression = self.problem.horizon, self.regression
        forget, spread = regression.functions(self.law)

        def Q(h, V):
            w = regression.weights(h, V)
            self.w[h] = w + forget(h, self.w[h] - w) + spread(h, regression.normals())
            return np.clip(regression.predict(self.w[h]), 0.0, H - h)

        return self.value_iteration(Q)

    def facts(self):
        return {"d": self.regression.D, "noise": self.noise, "J_first": given_or(self.J, np.ceil(2 * self.log))}
