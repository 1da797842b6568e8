"""UCBVI-CH (Azar, Osband, Munos, ICML 2017): value iteration in the empirical model with a Chernoff-Hoeffding bonus.

    P^   = N_k(s,a,s')/N_k(s,a),   b = 7 H L/sqrt(N_k(s,a)),   L = ln(5 S A T/delta),   T = K H    (Algorithms 1 to 3)
    Q_kh = min( Q_{k-1,h}, H, R + P^ V_{k,h+1} + b )   where N_k(s,a) > 0,   H elsewhere,   V_kh = max_a Q_kh

Shapes: counts N_k (n, T, C, A, C), Q (n, H, C, A), on cells. **Deviations.** In track U the mean rewards, known in the
paper, are estimated with the same bonus (7 H L covers the error sqrt(L/(2N)) of N rewards in [0, 1]). The clip is the
paper's, H at all steps, and assumes rewards in [0, 1]. With `share: none` L stays, although the union bound would add
ln H. Since Q never grows, a bonus with a small `scale` that fails once fails for ever. All actions tie while all bounds
exceed H: for 49 L^2 visits to each (s,a) at the theory's bonus.
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
        self.bonus = parameters.scale * (7 * H * np.log(5 * C * A * problem.episodes * H / parameters.delta))
        self.Q = np.full((problem.n, H, C, A), float(H))

    def plan(self, k):
        counts, H = self.counts, self.problem.horizon
        N = np.maximum(counts.visits, 1.0)
        R = counts.rewards / N if self.R is None else self.R
        optimistic = np.where(counts.visits > 0, R + self.bonus[:, None, None, None] / np.sqrt(N), H)

        def step(h, V):
            t = counts.table(h)
            return np.minimum(self.Q[:, h], optimistic[:, t] + bellman.expectation(counts.following[:, t])(V) / N[:, t])

        self.Q, V = bellman.recursion(step, H, self.Q[:, 0].shape)
        return Plan(self.greedy(self.Q), self.problem.model.space.on_anchors(V[:, 0]))

    def facts(self):
        return {"bonus": self.bonus}
