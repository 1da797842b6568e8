"""OPSRL (Tiapkin et al., NeurIPS 2022): posterior sampling with an optimistic fake state and the best of J draws.

    P~_j(.|s,a) ~ Dirichlet( (N(s,a,.) + n_0 1[. = s_0])/kappa )  on S and s_0,   j = 1 .. J,   independent
    Q_h         = r + max_j P~_j V_{h+1},   V_h = max_a Q_h,   V_h(s_0) = r_0 (H-h+1),   V_{H+1} = 0
    kappa = 2 ln(S A H K/delta),   n_0 = alpha_0 kappa,   alpha_0 = 1,   r_0 = 1,   J = 8

All pseudo-counts are on the fake state s_0. Next states not seen so far have probability 0, so that a support mask as
in PSRL would change nothing. `scale` multiplies kappa; kappa = 0 is the empirical model, with s_0 where N(s,a) = 0.
Shapes: P~ (n, T, C, A, J, C + 1), s_0 last, on cells.

**Deviations.** The source's constants are not known; its proofs need r_0 > 1 and a logarithmic J. With this kappa the
standard deviation sqrt(kappa Var/N) is the error of a normal mean at the level delta/(S A H K), and the best of eight
draws exceeds it with probability 3/4. The authors' code has kappa = n_0 = r_0 = 1, J = 8, Beta posteriors of rewards,
and V clipped at H. There the clip has no effect; here nothing is clipped. In track U r is drawn J times as in PSRL,
with kappa times the variance, and Q_h = max_j ( r~_j + P~_j V_{h+1} ), as in the code. The theory is for `share: none`.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import Plan
from befrl.agents.shared import cells
from befrl.agents.shared.posterior import RewardPrior, log_gamma_draws, reward_draws
from befrl.common.errors import InputError
from befrl.common.parameters import given_or, integer, number, optional, scale
from befrl.common.streams import AGENT_GAMMA
from befrl.numerics import bellman


@dataclass(frozen=True)
class Parameters(RewardPrior):
    scale: float | str = scale("multiple of the surrogate's kappa; theory means 1")
    share: str = cells.share("steps")
    kappa: float | None = optional(0.0, 1e6, "an absolute kappa instead of a multiple")
    alpha_0: float = number(1.0, 1e-3, 1e6, "prior Dirichlet parameter n_0/kappa of the fake state", ridge=True)
    r_0: float = number(1.0, 0.0, 1e3, "reward of the fake state at each step")
    samples: int = integer(8, 1, 1000, "number J of draws, whose best is taken for each (s,a)")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate in kappa")

    def __post_init__(self):
        if self.kappa is not None and self.scale != "theory":
            raise InputError("agent 'opsrl': set either kappa or scale, not both")


class Agent(cells.TabularAgent):
    surrogate = "kappa = n_0 is twice the logarithm of S A H K/delta; r_0 = 1 and J = 8 as in the authors' code."

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        C, A, H = problem.model.n_cells, problem.model.n_actions, problem.horizon
        surrogate = 2 * np.log(C * A * H * problem.episodes / parameters.delta)
        self.kappa = given_or(parameters.kappa, parameters.scale * surrogate)
        self.J = parameters.samples
        self.generators = problem.generators(AGENT_GAMMA)
        # Draws of next states that are never seen would only cost time.
        self.allowed = np.concatenate([cells.support(problem.model), np.ones((C, A, 1), bool)], axis=-1)

    def kernels(self):
        """The draws P~_j, (n, T, C, A, J, C + 1)."""
        counts, empirical, (n, T, C, A) = self.counts, self.kappa == 0, self.counts.visits.shape
        kappa, alpha_0 = (
            part[:, None, None, None, None] for part in (np.where(empirical, 1.0, self.kappa), self.parameters.alpha_0)
        )
        alpha = np.concatenate([counts.following / kappa, np.broadcast_to(alpha_0, (n, T, C, A, 1))], axis=-1)
        alpha = np.repeat(alpha[:, None, ..., self.allowed], self.J, axis=1)
        log_draws = np.full((n, T, C, A, self.J, C + 1), -np.inf)
        np.moveaxis(log_draws, 4, 1)[..., self.allowed] = log_gamma_draws(alpha, self.generators)
        draws = np.exp(log_draws - log_draws.max(-1, keepdims=True))
        unseen = counts.visits[empirical, ..., None] == 0
        draws[empirical] = np.concatenate([counts.following[empirical], unseen], axis=-1)[..., None, :]
        return draws / draws.sum(-1, keepdims=True)

    def plan(self, k):
        P, H, table = self.kernels(), self.problem.horizon, self.counts.table
        n, T, C, A, J, _ = P.shape
        R = np.moveaxis(reward_draws(self, np.sqrt(self.kappa), J), 1, -1)
        expected = [bellman.expectation(P[:, t].reshape(n, C, A * J, C + 1)) for t in range(T)]

        def step(h, V):
            following = np.column_stack([V, self.parameters.r_0 * (H - 1 - h)])
            return bellman.largest(R[:, table(h)] + expected[table(h)](following).reshape(n, C, A, J))

        Q, V = bellman.recursion(step, H, (n, C, A))
        return Plan(self.greedy(Q), self.problem.model.space.on_anchors(V[:, 0]))

    def facts(self):
        return {"kappa": self.kappa, "n_0": self.parameters.alpha_0 * self.kappa, "J": self.J}
