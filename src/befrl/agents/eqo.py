"""EQO (Lee, Oh, ICLR 2025): value iteration in the empirical model with a bonus c/N, exploration via quasi-optimism.

    Q_h = min( r^ + P^ V_{h+1} + c/N(s,a), H )   where N(s,a) > 0,   H elsewhere,   V_h = max_a Q_h     (Algorithm 1)
    c   = max( 7 H l_1, 1.4 H sqrt(K l_1/(S A l_2)) ),   l_1 = ln(24 H S A/delta),   l_2 = ln(1 + K H/(S A))

for K known episodes (Theorem 1), with the means r^ and P^ of N(s,a) visits. Values may fall below V* by a controlled
amount. Shapes: counts (n, T, C, A, C), Q (n, H, C, A), on cells.

**Deviations.** The source's constants are not known from the paper itself: reviews of it quote c as above, with only
the orders HSA/delta and KH of what is inside the logarithms. In track K r^ is the true mean, and c stays; so it does
with `share: none`, although the theory is for `share: steps`. All actions tie at H while c/N >= H: at the theory's c
for 7 l_1 visits to each (s,a), or more.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import Plan
from befrl.agents.shared import cells
from befrl.common.parameters import number, scale
from befrl.numerics import bellman


@dataclass(frozen=True)
class Parameters:
    scale: float | str = scale("multiple of the theory's c; theory means 1")
    share: str = cells.share("steps")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate in c")


class Agent(cells.TabularAgent):
    surrogate = "c is the theorem's but for constants inside its two logarithms, of which only the orders are known."

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        H, K, pairs = problem.horizon, problem.episodes, problem.model.n_cells * problem.model.n_actions
        l_1, l_2 = np.log(24 * H * pairs / parameters.delta), np.log1p(K * H / pairs)
        self.c = parameters.scale * np.maximum(7 * H * l_1, 1.4 * H * np.sqrt(K * l_1 / (pairs * l_2)))

    def plan(self, k):
        counts, H = self.counts, self.problem.horizon
        N = np.maximum(counts.visits, 1.0)
        R = counts.rewards / N if self.R is None else self.R
        optimistic = np.where(counts.visits > 0, R + self.c[:, None, None, None] / N, H)

        def step(h, V):
            t = counts.table(h)
            return np.minimum(optimistic[:, t] + bellman.expectation(counts.following[:, t])(V) / N[:, t], H)

        Q, V = bellman.recursion(step, H, counts.visits[:, 0].shape)
        return Plan(self.greedy(Q), self.problem.model.space.on_anchors(V[:, 0]))

    def facts(self):
        return {"c": self.c}
