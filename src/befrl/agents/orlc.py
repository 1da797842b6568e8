"""ORLC (Dann, Li, Wei, Brunskill, ICML 2019): optimism with a certificate, a bound on V* - V^pi before each episode.

    psi~ = w + sqrt(2 L/N) sigma(V~) + P^(V~ - V_)/H + (H^2/2 + 3 H) L/N,   w = sqrt(L/(2N))
    psi_ = w + sqrt(2 L/N) sigma(V_) + P^(V~ - V_)/H + (S + 1) (H^2 + 3 H) L/N
    Q~_h = clip( R^ + P^ V~ + psi~, 0, H - h + 1 ),   Q_h = clip( R^ + P^ V_ - psi_, 0, H - h + 1 )
    pi_h = argmax_a Q~_h,   V~_h = Q~_h(., pi_h),   V_h = Q_h(., pi_h),   certificate = V~_1 - V_1

with upper estimates V~ and lower ones V_, those of step h + 1 on the right; N are the visits to (s,a), and sigma is the
standard deviation under P^. Where N = 0, Q~_h = H - h + 1 and Q_h = 0. Shapes: counts (n, T, C, A, C), Q~ (n, H, C, A),
on cells; the plan's certificate (n, anchors) is that of every first state.

**Deviations.** The source's constants are not known. It has the same terms; from memory, with sqrt(12) sigma, with
45 S H^2 and 31 S H^2 as last factors, and with an iterated logarithm. Here L = ln(3 S A T (S + H + 1)/delta), T = K H.
Then, with probability 1 - delta, for all (s,a), h, y and N at once,

    |R^ - R| <= w,   |(P^ - P) V*| <= sqrt(2 L/N) sigma(V*) + 3 H L/N,   |P^ - P|(y) <= sqrt(2 L P^(y)/N) + 3 L/N

(Hoeffding; Audibert, Munos, Szepesvari 2009), and V_ <= V^pi <= V* <= V~ by induction: With x = P^(V~ - V_), sigma(V*)
is at most sigma(V) + sqrt(H x) for V = V~ and V = V_. The error of V* - V^pi is at most sqrt(2 L S H x/N) + 3 S H L/N.
And sqrt(2 L a H x/N) is at most x/H + a H^2 L/(2N), and at most x/(2H) + a H^2 L/N. This holds with `share: none`, too.

Mean rewards must be in [0, 1], and rewards 1/2-sub-Gaussian, as all in [0, 1] are. In track K means are known, and w is
0. If actions tie, V_ is the smallest Q_h among them, as ties are broken after the recursion. `scale` multiplies psi~
and psi_; below 1 the certificate is not guaranteed.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import Plan
from befrl.agents.shared import cells
from befrl.common.parameters import number, scale
from befrl.numerics import bellman


@dataclass(frozen=True)
class Parameters:
    scale: float | str = scale("multiple of the widths psi; theory means 1")
    share: str = cells.share("steps")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the certificates")


class Agent(cells.TabularAgent):
    certifies = True
    surrogate = "psi is derived here from empirical Bernstein bounds; the terms are the paper's, the constants are not."

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        C, A, H = problem.model.n_cells, problem.model.n_actions, problem.horizon
        self.L = np.log(3 * C * A * problem.episodes * H * (C + H + 1) / parameters.delta)

    def plan(self, k):
        counts, H, v = self.counts, self.problem.horizon, self.parameters.scale[:, None, None]
        n, _, C, A = counts.visits.shape
        N = np.maximum(counts.visits, 1.0)
        ratio = self.L[:, None, None, None] / N
        R = counts.rewards / N if self.R is None else np.broadcast_to(self.R, N.shape)
        w = np.sqrt(ratio / 2) if self.R is None else np.zeros_like(N)
        lower = np.zeros((n, C))

        def step(h, V):
            nonlocal lower
            t, top = counts.table(h), float(H - h)
            P, seen = counts.following[:, t], counts.visits[:, t] > 0
            expectation, variance = bellman.expectation(P), bellman.variance(P)
            above, below = expectation(V) / N[:, t], expectation(lower) / N[:, t]
            shared, root = w[:, t] + (above - below) / H, np.sqrt(2 * ratio[:, t] / N[:, t])
            up = shared + root * np.sqrt(variance(V, above)) + (H**2 / 2 + 3 * H) * ratio[:, t]
            down = shared + root * np.sqrt(variance(lower, below)) + (C + 1) * (H**2 + 3 * H) * ratio[:, t]
            Q = np.where(seen, np.clip(R[:, t] + above + v * up, 0.0, top), top)
            pessimistic = np.where(seen, np.clip(R[:, t] + below - v * down, 0.0, top), 0.0)
            best = bellman.largest(Q)
            tied = Q >= (best - bellman.TIE * (1.0 + np.abs(best)))[..., None]
            lower = -bellman.largest(np.where(tied, -pessimistic, -np.inf))
            return Q

        Q, V = bellman.recursion(step, H, (n, C, A))
        space = self.problem.model.space
        return Plan(self.greedy(Q), space.on_anchors(V[:, 0]), certificate=space.on_anchors(V[:, 0] - lower))

    def facts(self):
        promised = np.where(self.parameters.scale >= 1, self.parameters.delta, 1.0)  # smaller widths promise nothing
        return {"L": self.L, "certificate_delta": promised}
