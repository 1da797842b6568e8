"""Tabular PSRL (Osband, Russo, Van Roy, NeurIPS 2013): play the optimal policy of an MDP drawn from the posterior.

    P~(.|s,a) ~ Dirichlet( alpha_0 + N(s,a,.) )
    r~(s,a)   ~ N( (tau_0 mu_0 + tau sum r_i)/(tau_0 + tau N), 1/(tau_0 + tau N) )
    Q_h       = r~ + P~ V_{h+1},   V_h = max_a Q_h

with counts N and rewards r_1 .. r_N, as in TabulaRL. `scale` v multiplies the standard deviation of rewards and divides
Dirichlet parameters by v^2. This keeps their means and multiplies their standard deviations by about v once counts are
well above v^2; v = 0 is the posterior mean. Shapes: counts and P~ (n, T, C, A, C), r~ (n, T, C, A), on cells.

**Deviations.** Rewards have a normal likelihood with precision tau, whatever their law; in track K they are known. The
transition of the last step counts, which TabulaRL leaves out. By default (`mask: known`) the Dirichlet leaves out next
states that the known base measure forbids, since model-based agents know it too; TabulaRL's prior has all of them.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import Plan
from befrl.agents.shared import cells
from befrl.agents.shared.posterior import RewardPrior, log_gamma_draws, reward_draws
from befrl.common.parameters import choice, number, scale
from befrl.common.streams import AGENT_GAMMA
from befrl.numerics import bellman


@dataclass(frozen=True)
class Parameters(RewardPrior):
    scale: float | str = scale("multiple v of the posterior's standard deviations; theory means 1")
    share: str = cells.share("steps")
    alpha_0: float = number(1.0, 1e-3, 1e6, "prior Dirichlet parameter of each next state", ridge=True)
    mask: str = choice("known", ("known", "ignored"), "whether next states with base measure zero are left out")


class Agent(cells.TabularAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.v = parameters.scale
        self.generators = problem.generators(AGENT_GAMMA)
        allowed = cells.support(problem.model)
        self.allowed = allowed if parameters.mask == "known" else np.ones_like(allowed)

    def kernel(self):
        """A draw P~ from the posterior, (n, T, C, A, C)."""
        alpha = self.parameters.alpha_0[:, None, None, None, None] + self.counts.following
        weights = np.where(self.allowed, alpha, 0.0)
        v = np.where(self.v > 0, self.v, 1.0)[:, None, None]
        concentration = weights[..., self.allowed] / v**2
        log_draws = np.full_like(weights, -np.inf)
        log_draws[..., self.allowed] = log_gamma_draws(concentration, self.generators)
        draws = np.exp(log_draws - log_draws.max(-1, keepdims=True))
        draws[self.v == 0] = weights[self.v == 0]
        return draws / draws.sum(-1, keepdims=True)

    def rewards(self):
        """A draw r~ from the posterior, or the true means if they are known, (n, T, C, A)."""
        return reward_draws(self, self.v, 1)[:, 0]

    def plan(self, k):
        P, R, table = self.kernel(), self.rewards(), self.counts.table

        def step(h, V):
            return R[:, table(h)] + bellman.expectation(P[:, table(h)])(V)

        Q, V = bellman.recursion(step, self.problem.horizon, R[:, 0].shape)
        return Plan(self.greedy(Q), self.problem.model.space.on_anchors(V[:, 0]))

    def facts(self):
        return {"v": self.v, "share_of_next_states_allowed": float(self.allowed.mean())}
