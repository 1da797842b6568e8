"""UC-MatrixRL (Yang, Wang, ICML 2020): a core matrix between features of (s,a) and of s', with a bonus at each (s,a).

P(s' | s, a) = phi(s,a)' M* psi(s') with known phi, psi and an unknown d x d' matrix. In episode n of N,

    A_n  = lam I + sum phi phi',   M_n = A_n^-1 sum phi psi(s')' K_psi^-1,   K_psi = sum_s' psi psi'
    Q_h  = r + phi' M_n Psi' V_{h+1} + bonus,   V_h = Pi_[0,H] max_a Q_h
    bonus (2-1)       = 2 C_psi H sqrt(d beta_n) |phi|_{A_n^-1}                                    (their eq. 8)
    bonus (frobenius) = 2 C_psi H sqrt(beta_n) |phi|_{A_n^-1}                                      (their eq. 9)
    beta_n            = c (C_M + C'_psi^2) ln(N H C_phi) d
    bonus (Ayoub)     = 2 H ( sqrt(lam d) + (H-h)/2 sqrt( 2 log(1/delta) + log det A_n/lam ) ) |phi|_{A_n^-1}

Here phi and psi are one-hot on C cells, d = C A, d' = C, K_psi = I and lam = c = C_phi = C_M = C'_psi = 1, so that M_n
= counts of (s,a,s')/(counts of (s,a) + lam) and |phi|_{A_n^-1} = 1/sqrt(counts + lam). C_psi is 1 in the 2-1 ball
(|Psi'v|_inf <= |v|_inf) and sqrt(C) in Frobenius' (|Psi'v|_2 <= sqrt(C) |v|_inf). `scale` multiplies sqrt(beta_n). The
last bonus, with h from 0, is that of Ayoub et al. (ICML 2020), who cut Q, not V, at H: `radius` is self-normalised, as
in their Appendix C, or frozen, as in their code, where log det A stays 0 and V_{h+1} is that of the previous episode's
plan, 0 in the first. Shapes: counts (n, 1, C, A, C).

**Deviations.** Those of `planned_rewards.py`. Eq. 9 is printed without the H that |Psi'V| <= C_psi H requires; it is
put back. The absolute constant c is not given. The factor 2 H of the self-normalised radius is from the code of Ayoub
et al.; we could read none in print. Known supports are not used.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import EXACT, MISSPECIFIED, BaseAgent, Plan
from befrl.agents.shared import cells
from befrl.agents.shared.planned_rewards import PlannedRewards, RewardParameters
from befrl.common.parameters import choice, number, scale
from befrl.numerics import bellman


@dataclass(frozen=True)
class Parameters(RewardParameters):
    scale: float | str = scale("multiple of sqrt(beta); theory means 1")
    ball: str = choice("2-1", ("2-1", "frobenius"), "norm of the confidence ball: eq. 8 or eq. 9")
    radius: str = choice("theorem", ("theorem", "self-normalised", "frozen"), "bonus: the theorem's, or Ayoub et al.'s")
    lam: float = number(1.0, 1e-6, 1e6, "weight of the penalty: A_1 = lam I", ridge=True)
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the self-normalised radius and of the rewards' radius")


class Agent(BaseAgent):
    @classmethod
    def specification(cls, model, parameters):
        return MISSPECIFIED if model.smooth else EXACT

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        C, H, d = problem.model.n_cells, problem.horizon, problem.model.n_cells * problem.model.n_actions
        self.counts = cells.Counts(problem, "steps")
        self.beta = 2.0 * np.log(problem.episodes * H) * d
        widths = {"2-1": np.sqrt(d * self.beta), "frobenius": np.sqrt(C * self.beta)}
        self.bonus = parameters.scale * 2 * H * widths[parameters.ball]
        self.V = self.last_V = np.zeros((H + 1, problem.n, C))
        self.rewards = PlannedRewards(problem, parameters, parameters.delta)

    def plan(self, k):
        space, H = self.problem.model.space, self.problem.horizon
        counts = self.counts.visits[:, 0] + self.parameters.lam[:, None, None]
        P = self.counts.following[:, 0] / counts[..., None]
        means = self.rewards.means()
        R = bellman.ordered(space.cell_means(means))
        if self.parameters.radius == "theorem":
            R, expected = R + self.bonus[:, None, None] / np.sqrt(counts), bellman.expectation(P)
            Q, V = bellman.recursion(
                lambda h, V: R + expected(V), H, R.shape, lambda Q: np.clip(bellman.largest(Q), 0.0, float(H))
            )
        else:
            Q, V = self._self_normalised(R, counts, P)
        return Plan(self.greedy(Q), space.on_anchors(V[:, 0]), means)

    def _self_normalised(self, R, counts, P):
        """Q (n, H, C, A) and V (n, H + 1, C) with the bonus of Ayoub et al., for counts + lam (n, C, A)."""
        H, frozen, lam = self.problem.horizon, self.parameters.radius == "frozen", self.parameters.lam
        grown = np.log(counts / lam[:, None, None]).reshape(len(counts), -1)
        log_det = np.zeros(len(counts)) if frozen else grown.sum(-1)
        noise = np.sqrt(2 * np.log(1 / self.parameters.delta) + log_det)
        steps = np.arange(H, 0, -1)[:, None]
        beta = self.parameters.scale * (np.sqrt(lam * counts[0].size) + steps / 2 * noise)
        width = 2 * H / np.sqrt(counts)

        def optimistic(mean, beta):
            return np.clip(R + mean + beta[..., None, None] * width, 0.0, float(H))

        if frozen:
            Q, V = bellman.previous_backup(P, self.last_V, lambda means: optimistic(means, beta))
        else:
            expected = bellman.expectation(P)
            Q, V = bellman.recursion(lambda h, V: optimistic(expected(V), beta[h]), H, R.shape)
        self.V = V.swapaxes(0, 1)
        return Q, V

    def facts(self):
        return {"beta": self.beta, "bonus": self.bonus}

    def update(self, trajectory):
        self.last_V = self.V
        self.counts.add(trajectory)
        self.rewards.update(trajectory)
