"""ORRL-MNL (Cho, Hwang, Lee, Oh, NeurIPS 2024): noise on values along centred features, and a second-order bonus.

With f(s,a,s') = U(s,a)'(psi(s') - psi(s'_0)) on the reachable states, fbar(s') = f(s') - E_theta f, and theta and B of
the online mirror descent in `mirror_descent.py` (eq. 5 and 6), one step for each transition,

    xi_h^(m) ~ N(0, sigma^2 B^-1),   m <= M, for each h;   xi^s' = the xi^(m) with the largest fbar(s,a,s')' xi^(m)
    nu_h     = sum_s' P_theta(s') fbar(s,a,s')' xi_h^s' + 3 H beta^2 max_s' |f(s,a,s')|^2_{B^-1}
    Q_h      = min( r + P_theta V_{h+1} + nu_h, H ),   V_h = max_a Q_h                                      (eq. 7)
    sigma    = H beta,   M = ceil(1 - log(H U)/log Phi(1))                                            (Theorem 2)
    beta_t^2 = alpha (Gamma^A + Gamma^B) + lam L_theta^2,   alpha = log U + 2 (1 + L_f L_theta)               (eq. 53)
    Gamma^A  = (3 log(U t) + L_f L_theta) (5/4 lam + 4 log(H sqrt(1 + 2t)/delta)) + 2                         (Lemma 14)
    Gamma^B  = sqrt 6 (2 alpha/3) d log(1 + 2 t L_f^2/(d lam))                                               (Lemma 15)
    eta      = alpha/2,   lam = max(12 sqrt 2 L_f^3 alpha, 48 L_f^2 d alpha)

`scale` multiplies beta; the second-order bonus then scales with its square.

Shapes: theta (n, blocks, q), B (n, blocks, q, q) in the coordinates of `mnl.py`, nu (n, H, N A).

**Deviations.** The paper has a parameter for each stage h, each with one step per episode. Here one parameter serves
all stages, since transitions do not depend on h, and takes a step for each of the H transitions: t counts transitions.
The theory's lam and eta leave theta near 0 for long. The authors tuned theirs and do not print them; eta = 1 is the
gain of least squares. The H in Gamma^A is the paper's
union bound over its H parameters, kept for one. Eq. 53 ends in an unspecified constant; beta is the line before it.
|theta| is |theta|_A (`mnl.py`). In track U rewards are optimistic estimates
(`planned_rewards.py`), the only part that is not random. Rewards outside [0, 1] violate the paper's assumption; the
clip is kept.
"""

import numpy as np
from scipy.special import log_ndtr

from befrl.agents.base import Plan
from befrl.agents.shared import mnl
from befrl.agents.shared.mirror_descent import MirrorAgent, MirrorParameters
from befrl.numerics.largest_normal import range_of_normals

Parameters = MirrorParameters


class Agent(MirrorAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        tries = problem.horizon * self.reachable.U
        self.samples = int(np.ceil(1 - np.log(tries) / log_ndtr(1.0)))

    def noise(self, vectors):
        """sum_s' P(s') max_m fbar(s')' xi_h^(m)/sigma, (n, H, N A), for P(s') L^-1 fbar(s') (q, n, N A, R)."""
        problem, r, H = self.problem, self.reachable, self.problem.horizon
        if not r.own_blocks:
            return r.largest(np.moveaxis(vectors, -1, 0), problem.normals, self.samples, H, r.random)
        # With two reachable states P fbar' xi are opposite numbers: their maxima add up to the range of M normals.
        states = r.real.sum(-1).ravel()
        two, others = np.flatnonzero(states == 2), np.flatnonzero(states > 2)
        found = r.largest(np.moveaxis(vectors, -1, 0), problem.normals, self.samples, H, others)
        u = problem.uniforms.take(2 * H * len(two)).reshape(problem.n, 2, H, len(two))
        lengths = np.sqrt(mnl.total(np.square(vectors[..., two, 1])))[:, None]
        found[..., two] = lengths * range_of_normals(u[:, 0], u[:, 1], self.samples)
        return found

    def plan(self, k):
        r, H, beta = self.reachable, self.problem.horizon, self.radius(k)[:, None, None]
        kernel = self.kernel()
        turned = r.turned(self.estimator.B)
        P = r.probabilities(kernel).reshape(turned.shape[1:])
        centred = turned - mnl.total(np.moveaxis(P * turned, -1, 0))[..., None]
        first = self.noise(P * centred)
        second = mnl.total(np.square(turned)).max(-1)
        nu = H * beta * first + (3 * H * beta**2) * second[:, None]
        R = self.rewards.means()
        Q, V = mnl.plan(R, kernel, nu.swapaxes(0, 1).reshape(H, *R.shape), low=-np.inf)
        return Plan(self.cell_policy(Q), V, R)

    def facts(self):
        return super().facts() | {"samples": self.samples}
