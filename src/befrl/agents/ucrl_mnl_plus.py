"""UCRL-MNL+ (Cho, Hwang, Lee, Oh, NeurIPS 2024, Appendix E): ORRL-MNL with a bonus in place of the noise.

With f(s,a,s') = U(s,a)'(psi(s') - psi(s'_0)) on the reachable states, fbar(s') = f(s') - E_theta f, and theta and B of
the online mirror descent in `mirror_descent.py` (eq. 5 and 6), one step for each transition,

    nu   = H beta sum_s' P_theta(s') |fbar(s,a,s')|_{B^-1} + 3 H beta^2 max_s' |f(s,a,s')|^2_{B^-1}
    Q_h  = r + P_theta V_{h+1} + nu,   V_h = min( max_a Q_h, H )                                           (eq. 104)

with the beta, lam and eta of ORRL-MNL (eq. 53 and Lemmas 13 to 15):

    beta_t^2 = alpha (Gamma^A + Gamma^B) + lam L_theta^2,   alpha = log U + 2 (1 + L_f L_theta)
    Gamma^A  = (3 log(U t) + L_f L_theta) (5/4 lam + 4 log(H sqrt(1 + 2t)/delta)) + 2
    Gamma^B  = sqrt 6 (2 alpha/3) d log(1 + 2 t L_f^2/(d lam))
    eta      = alpha/2,   lam = max(12 sqrt 2 L_f^3 alpha, 48 L_f^2 d alpha)

`scale` multiplies beta; the second-order bonus then scales with its square.

Shapes: theta (n, blocks, q), B (n, blocks, q, q) in the coordinates of `mnl.py`, |fbar| (n, N, A, R).

**Deviations.** The paper has a parameter for each stage h, each with one step per episode. Here one parameter serves
all stages, since transitions do not depend on h, and takes a step for each of the H transitions: t counts transitions.
The theory's lam and eta leave theta near 0 for long. The authors tuned theirs and do not print them; eta = 1 is the
gain of least squares. The H in Gamma^A is the paper's
union bound over its H parameters, kept for one. Eq. 53 ends in an unspecified constant; beta is the line before it.
|theta| is |theta|_A (`mnl.py`). In track U rewards are optimistic estimates
(`planned_rewards.py`). Rewards outside [0, 1] violate the paper's assumption; the clip is kept.
"""

import numpy as np

from befrl.agents.base import Plan
from befrl.agents.shared import mnl
from befrl.agents.shared.mirror_descent import MirrorAgent, MirrorParameters
from befrl.numerics import bellman

Parameters = MirrorParameters


class Agent(MirrorAgent):
    def bonus(self, k, P):
        """nu, (n, N, A), for P (n, N, A, R) on the reachable states."""
        r, H, beta = self.reachable, self.problem.horizon, self.radius(k)[:, None, None]
        turned = r.turned(self.estimator.B).reshape(-1, *P.shape)
        centred = turned - mnl.total(np.moveaxis(P * turned, -1, 0))[..., None]
        lengths = np.sqrt(mnl.total(np.square(centred)))
        second = mnl.total(np.square(turned)).max(-1)
        return H * beta * mnl.total(np.moveaxis(P * lengths, -1, 0)) + 3 * H * beta**2 * second

    def plan(self, k):
        H = self.problem.horizon
        kernel = self.kernel()
        nu = bellman.ordered(self.bonus(k, self.reachable.probabilities(kernel)))
        R = self.rewards.means()
        Q, V = mnl.plan(R, kernel, [nu] * H, low=-np.inf, clip_values=True)
        return Plan(self.cell_policy(Q), V, R)
