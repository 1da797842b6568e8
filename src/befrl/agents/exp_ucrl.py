"""EXP-UCRL (Chowdhury, Gopalan, Maillard, AISTATS 2021): optimism over a confidence set of models.

    Theta_n = { sum KL(theta^, theta) + eta/2 |theta - theta^|_A^2 <= beta_n }
    beta_n  = eta/2 B_A^2 + log(2 C_n/delta),   C_n = det(I + beta/eta A^-1 sum G),   rho = sqrt(2 beta_n)
    b_h     = rho | U' Cov_{theta^}(psi, V_{h+1}) |_{H^-1},   H = sum U' Cov_{theta^}[psi] U + eta A
    Q_h     = clip( E[r] + P_{theta^} V_{h+1} + b_h, 0, H-h+1 ),   V_h = max_a Q_h

The published algorithm plays argmax_pi max_{theta in Theta_n} V_theta,1(s_1), which is intractable. To second order
Theta_n is the ellipsoid |theta - theta^|_H <= rho. `relaxation` replaces the maximum over it (`optimism.py`), by
default with the value-aware bonus b_h. In track U the reward is optimistic too: min(1, Z_r'(theta^_r . x + rho_r
|x|_{H_r^-1})), rho_r likewise with beta_r. `scale` multiplies rho and rho_r. Shapes: theta (n, d), H (n, blocks, m, m).

**Deviations.** `local` and `pinsker` relax the maximum at each (s,a,h) separately and clip Q; `gradient` and `sample`
keep one theta and find a local maximum, or the best of a sample. These two need s_1, known in the source; here it has
the empirical law of past first states, by cell, uniform before the first episode. C_n, a ratio of two integrals in the
source, is replaced by its upper bound, the determinant, as in Ouhamma et al., whose step before has square roots of
determinants. Transitions and rewards have a confidence set each, both at delta. B_A and beta are computed from theta*
and given to the agent. The authors mention an optimistic reward but do not state it; here it acts at each (s,a).
"""

from dataclasses import dataclass

from befrl.agents.base import BaseAgent, Plan
from befrl.common.parameters import choice, integer, number, scale
from befrl.learning import confidence
from befrl.learning.learner import Learner, LearnerParameters
from befrl.planning import optimism


@dataclass(frozen=True)
class Parameters(LearnerParameters):
    scale: float | str = scale("multiple of the confidence radius rho; theory means 1")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the confidence set")
    relaxation: str = choice("local", ("gradient", "sample", "local", "pinsker"), "what replaces the maximum")
    samples: int = integer(20, 1, 10000, "number of models that the relaxation 'sample' tries")


class Agent(BaseAgent):
    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.learner = Learner(problem, parameters)
        self.first_states = optimism.FirstStates(problem.model.space, problem.n)

    def radius(self, beta):
        """rho, (n,)."""
        chosen, counts = self.parameters, self.learner.data.counts
        return chosen.scale * confidence.radius(self.problem, counts, beta, chosen.eta, chosen.delta)

    def optimistic_rewards(self):
        chosen, reward, counts = self.parameters, self.learner.reward, self.learner.data.counts
        return confidence.optimistic_rewards(self.problem, reward, counts, chosen.delta, chosen.scale)

    def region(self):
        """The ellipsoid of the transitions."""
        rho = self.radius(self.problem.constants["beta_p"])
        return optimism.Region(self.problem.model, self.learner.theta_p, self.learner.hessian_p, rho)

    def plan(self, k):
        region, R, H, normals = self.region(), self.optimistic_rewards(), self.problem.horizon, self.problem.normals
        start, samples, plans = self.first_states, self.parameters.samples, 1
        match self.parameters.relaxation:
            case "local":
                Q, V = optimism.local(region, R, H)
            case "pinsker":
                Q, V = optimism.pinsker(region, R, H)
            case "sample":
                Q, V = optimism.sample(region, R, H, start.masses(), normals, samples)
                plans += samples
            case "gradient":
                Q, V = optimism.gradient(region, R, H, start.masses(), normals)
                plans += optimism.TRIED
        return Plan(self.cell_policy(Q), V, R, plans)

    def update(self, trajectory):
        self.first_states.add(trajectory)
        super().update(trajectory)
