"""UCBVI-BF (Azar, Osband, Munos, ICML 2017): UCBVI with a bonus from the empirical variance of the next value.

    b    = sqrt( 8 L Var_{P^}(V_{k,h+1})/N ) + 14 H L/(3 N) + sqrt( 8 P^ c_{h+1}/N )     N = N_k(s,a)    (Algorithm 4)
    c_h  = min( 100^2 H^3 S^2 A L^2/N'_{k,h}, H^2 ),   L = ln(5 S A T/delta),   T = K H
    Q_kh = min( Q_{k-1,h}, H, R + P^ V_{k,h+1} + b )   where N > 0,   H elsewhere,   V_kh = max_a Q_kh    (Algorithm 2)

N'_{k,h}(y) counts visits to y at step h, and for h = H + 1 those after the last step. The third term covers the error
of V_{k,h+1} in the variance, and has no L. Shapes: counts N_k (n, T, C, A, C), N' (n, H, C), Q (n, H, C, A), on cells.

**Deviations.** Mean rewards are known in the paper. In track U they are estimated, and sqrt(L/(2N)) is added to b
(Hoeffding, rewards in [0, 1]). The clip is the paper's, H at all steps. With `share: none` L stays, although the union
bound would add ln H. Since Q never grows, a bonus with a small `scale` that fails once fails for ever. `scale`
multiplies b as a whole. c_h is H^2 for the first 10^4 H S^2 A L^2 visits to a state; in shorter runs the third term is
sqrt(8) H/sqrt(N). The paper was not at hand: the formulas are from memory, and agree with a public formalisation in
Lean of Algorithms 2 and 4. Some public code omits the third term at h = H; the formalisation and this agent do not.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import Plan
from befrl.agents.shared import cells
from befrl.common.parameters import number, scale
from befrl.numerics import bellman


@dataclass(frozen=True)
class Parameters:
    scale: float | str = scale("multiple of the theory's bonus; theory means 1")
    share: str = cells.share("steps")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate in the bonus")


class Agent(cells.TabularAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        C, A, H = problem.model.n_cells, problem.model.n_actions, problem.horizon
        self.L = np.log(5 * C * A * problem.episodes * H / parameters.delta)
        self.most = (100 * C * self.L) ** 2 * H**3 * A
        self.reached = np.zeros((problem.n, H, C))  # N'_{k,h+1}
        self.Q = np.full((problem.n, H, C, A), float(H))

    def plan(self, k):
        counts, H = self.counts, self.problem.horizon
        v, L = (part[:, None, None, None] for part in (self.parameters.scale, self.L))
        N = np.maximum(counts.visits, 1.0)
        R = counts.rewards / N + v * np.sqrt(L / (2 * N)) if self.R is None else self.R
        optimistic = np.where(counts.visits > 0, R + v * (14 / 3 * H * L) / N, H)
        root = v * np.sqrt(8 / N)
        # The quotient is above H^2 for N' = 1, as L > 1; so it may stand in for the infinite one of N' = 0.
        c = np.minimum(self.most[:, None, None] / np.maximum(self.reached, 1.0), H**2)

        def step(h, V):
            t = counts.table(h)
            P, n = counts.following[:, t], N[:, t]
            expectation = bellman.expectation(P)
            mean = expectation(V) / n
            spread = np.sqrt(L[:, 0] * bellman.variance(P)(V, mean) / n) + np.sqrt(expectation(c[:, h]) / n)
            return np.minimum(self.Q[:, h], optimistic[:, t] + mean + root[:, t] * spread)

        self.Q, V = bellman.recursion(step, H, self.Q[:, 0].shape)
        return Plan(self.greedy(self.Q), self.problem.model.space.on_anchors(V[:, 0]))

    def update(self, trajectory):
        super().update(trajectory)
        n, H = trajectory.cells.shape
        self.reached[np.arange(n)[:, None], np.arange(H), self.counts.space.cell(trajectory.next_states)] += 1.0

    def facts(self):
        return {"L": self.L}
