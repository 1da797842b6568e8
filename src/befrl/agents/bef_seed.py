"""BEF-SEED (ours, docs/repair.md): optimism over likelihood sets, softened by one random number per episode, certified.

    T_1 V  = r+ + upper(V),   T_-1 V = r- + lower(V),   T_0 V = r^ + PV,   T_z = (1 - z) T_0 + z T_1
    U_h    = max_a T_1 U_{h+1},   zeta_k ~ min(1, |N(0, 1)|/2),   pi = greedy policy of T_zeta
    O_h    = T_1 O_{h+1}(., pi),   L_h = T_-1 L_{h+1}(., pi)
    gate:    play pi if U_1 - O_1 <= c (O_1 - L_1) in all states, otherwise the greedy policy of T_1
    certificate = U_1 - L_1, with the L of the policy that is played

upper and lower are expectations over sets of next-state laws at each (s,a) (`robust.py`) that follow from the
likelihood (`likelihood_sets.py`), and r- <= r <= r+ likewise. With probability 1 - delta, for all episodes together,
U >= V*, O >= V^pi >= L, and so V* - V^pi <= certificate (Theorem 0 of docs/repair-proof.md, which bounds the regret,
too). Neither alpha nor a tuned constant is used, and nothing is clipped. In track K, r-, r^ and r+ are the true mean
rewards. Shapes: sets (n, N, A); V~, U, O and L together (n, N, 4); Q (n, H, cells, A); zeta (n,).

The agent is told psi, the base measures, the features, the law of rewards, a bound B on |theta*|_A and bounds S* on the
natural parameters of next states and of rewards. B and S* are the exact norms of theta*. The bound beta on covariances
and the self-concordance M are the family's, or follow from the diameter of psi.

**Deviations** from docs/repair-proof.md:
- A family of continuous states for which neither beta and M nor the diameter of psi are stated has the diameter of psi
  on the nodes in place of the larger one of all states: nothing is promised (`certificate_delta` is 1).
- Where features vary within cells nothing is promised either. Interpolation errors are in no bound,
  visits count with weights of either sign, so that b and Hbar are approximations, and the total variation of
  `width: interval` is replaced by Pinsker's bound. U_1 - O_1 includes the loss of policies that are constant on cells.
- Mean rewards need not lie in [0, 1]: r- and r+ are bounded by |c| <= S*, not by 0 and 1 (Section 8).
- `width: interval` alone has Theorem 1 with omega = 2, but not Theorem 2. `kl` tries a few values of lambda.
- In V~, `bernstein` and `kl` have another width than T_1 (`robust.py`), which prefers what is uncertain also where all
  upper values are sup V. The theory holds for every policy that passes the gate.
- delta is halved between transitions and rewards, and split evenly over the sets of each. Estimates are not projected.
- After the first plan the ends of one-hot intervals are one step of Newton's method beyond the exact ones, or at them.
- Where actions tie, O is the largest and L the smallest value of those that may be played.
- `scale` multiplies the radii b of the sets; below 1 nothing is promised.
"""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from befrl.agents.base import EXACT, BaseAgent, Plan
from befrl.common.errors import Refused
from befrl.common.parameters import choice, number, optional, scale
from befrl.learning.learner import Learner
from befrl.learning.likelihood_sets import Rewards, States, sets_of
from befrl.learning.reward_learner import RewardLearner
from befrl.numerics import bellman
from befrl.planning import robust

FUNCTIONS = 4  # V~, U, O and L, which are planned with at once
GROUP = 1 << 18  # numbers in the tables of a group of rows where features vary within cells: two megabytes


@dataclass(frozen=True)
class Parameters:
    scale: float | str = scale("multiple of the radii b; theory means 1")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the certificates")
    eta: float | None = optional(1e-6, 1e6, "weight of the penalties; m/B^2 of each if none", ridge=True)
    width: str = choice(
        "auto",
        ("auto", "interval", "bernstein", "kl"),
        "expectations; auto: interval if psi orders the states, else bernstein",
    )
    law: str = choice("normal", ("normal", "uniform", "one"), "law of zeta: min(1, |N(0, 1)|/2), uniform, or always 1")
    gate: float = number(0.25, 0.0, 1e6, "the constant c of the gate")


class Agent(BaseAgent):
    certifies = True

    @classmethod
    def specification(cls, model, parameters):
        if parameters.width == "interval" and not robust.ordered(model.family):
            raise Refused(
                "agent 'bef-seed': width = interval needs p = 1 and states in the order of psi: choose bernstein or kl"
            )
        family, law = model.family, model.reward
        states, rewards = (family.covariance_bound, family.self_concordance), (law.variance_bound, law.self_concordance)
        for name, bounds in (("next states", states), ("rewards", rewards)):
            if not np.isfinite(bounds).all():
                raise Refused(f"agent 'bef-seed': no bound on the variance of {name} is known for all parameters")
        return EXACT

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        model, known = problem.model, problem.known_theta_r is not None
        options = (parameters.eta, parameters.delta / (1 if known else 2), parameters.scale)
        self.states = sets_of(States(model, problem.constants), *options)
        self.learner = Learner(problem, SimpleNamespace(eta=self.states.eta, estimator="mle"))
        if not known:
            self.rewards = sets_of(Rewards(model, problem.constants), *options)
            self.learner.reward = RewardLearner(problem, self.rewards.eta * self.rewards.source.unit)
        # Plans are made on the coarse model; `first_anchors` are its anchors among all, `anchor` and `cell` map back.
        self.coarse, self.anchor = model.coarse if model.smooth else (model, np.arange(model.n_anchors))
        self.first_anchors = np.unique(self.anchor, return_index=True)[1]
        self.cell = self.anchor[:: model.space.per_cell] // model.space.per_cell
        self.reach = robust.Reach(self.coarse.family)
        self.width = default_width(self.coarse.family) if parameters.width == "auto" else parameters.width

    def plan(self, k):
        problem, model = self.problem, self.coarse
        v = problem.model.features.natural(self.learner.theta_p)
        sets = self.states.update(self.learner.data.counts, v)
        low, means, high = self._mean_rewards()
        zeta = self._zeta()[:, None, None]
        n, shape = problem.n, (problem.n, model.n_cells, model.n_actions)
        share = np.stack([zeta, np.ones_like(zeta), np.ones_like(zeta), -np.ones_like(zeta)]).transpose(1, 2, 3, 0)
        planned = ((1.0 - zeta) * means + zeta * high, high, high, low)
        planned = np.moveaxis(np.stack([bellman.ordered(part[:, self.first_anchors]) for part in planned]), 0, -1)
        parts = (v, sets.D, sets.low, sets.high)
        sets_of_states = [None if part is None else part[:, self.first_anchors] for part in parts]
        soft, optimistic = (bellman.tables(problem.horizon, shape)[0] for _ in range(2))
        values = np.empty((n, model.n_anchors, FUNCTIONS))
        for rows in self._groups():
            tables = (planned[rows], share[rows], soft[rows], optimistic[rows])
            values[rows] = backward(model.space, self._set(sets_of_states, rows), *tables)
        U, O, L = np.moveaxis(values[..., 1:], -1, 0)
        rejected = np.flatnonzero((U - O > self.parameters.gate[:, None] * (O - L)).any(1))
        fallback, policy = self.greedy(optimistic), self.greedy(soft)
        if len(rejected):
            policy[rejected] = fallback[rejected]
            laws, rewards = self._set(sets_of_states, rejected), planned[rejected][..., -1]
            L[rejected] = pessimistic(model.space, laws, rewards, optimistic[rejected])
        if len(self.cell) > model.n_cells:
            policy = policy.take(self.cell, axis=-1)
        return Plan(policy, U[:, self.anchor], high, FUNCTIONS, (U - L)[:, self.anchor])

    def _groups(self):
        """The rows in groups whose tables fit into the processor's cache, where features vary within cells."""
        n, N, A = self.problem.n, self.coarse.n_anchors, self.coarse.n_actions
        size = max(1, GROUP // (N * A * N)) if self.coarse.smooth else n
        return [slice(first, first + size) for first in range(0, n, size)]

    def _mean_rewards(self):
        """r-, r^ and r+, (n, N, A) each."""
        learner, law = self.learner, self.problem.model.reward
        c = self.problem.model.reward_natural(learner.theta_r)
        if learner.reward.known:
            return (law.mean(c),) * 3
        sets = self.rewards.update(learner.data.counts, c[..., None])
        low, high = law.mean(sets.low), law.mean(sets.high)
        return low, np.clip(law.mean(c), low, high), high

    def _zeta(self):
        """One number for each row, (n,)."""
        if self.parameters.law == "one":
            return np.ones(self.problem.n)
        if self.parameters.law == "uniform":
            return self.problem.uniforms.take(1)[:, 0]
        return np.minimum(1.0, 0.5 * np.abs(self.problem.normals.take(1)[:, 0]))

    def _set(self, sets_of_states, rows):
        """The sets of next-state laws of some rows, from v^, D, v- and v+ of all rows."""
        v, D, low, high = (None if part is None else part[rows] for part in sets_of_states)
        family, smooth = self.coarse.family, self.coarse.smooth
        if self.width != "interval":
            expectations = family.expectations(v) if smooth else bellman.expectations(family.kernel(v))
            return robust.Ball(expectations, D, self.reach, dual=self.width == "kl")
        if not smooth:
            return robust.between(family.kernel(low[..., None]), family.kernel(high[..., None]), self.reach)
        return robust.between_smooth(family, low[..., None], high[..., None], self.reach)

    def facts(self):
        promised = (self.parameters.scale >= 1) & promises(self.problem.model)  # smaller sets promise nothing
        found = {"certificate_delta": np.where(promised, self.parameters.delta, 1.0), "eta_p": self.states.eta}
        return found | {"beta": self.states.source.beta, "self_concordance": self.states.source.M}


def promises(model) -> bool:
    """Whether the theory covers a model: it contains no interpolation errors, and needs beta and M for all states."""
    return not model.smooth and model.family.bounds_hold


def default_width(family) -> str:
    return "interval" if robust.ordered(family) else "bernstein"


def backward(space, sets, rewards, share, soft, optimistic):
    """V~, U, O and L of some rows at step 1, (n, N, 4); writes Q of T_zeta and of T_1 on cells, (n, H, cells, A) each.

    rewards (n, N, A, 4) are the means that the four plan with; `share` as in `robust.py`.
    """
    V = bellman.functions(*rewards.shape[:2], FUNCTIONS)
    for h in reversed(range(soft.shape[1])):
        Q = sets.bounds(V, share)
        Q += rewards
        soft[:, h], optimistic[:, h] = space.cell_means(Q[..., 0]), space.cell_means(Q[..., 1])
        V[..., :2] = bellman.largest(Q[..., :2].swapaxes(-1, -2))
        played = playable(space, soft[:, h])
        V[..., 2] = bellman.largest(np.where(played, Q[..., 2], -np.inf))
        V[..., 3] = -bellman.largest(np.where(played, -Q[..., 3], -np.inf))
    return V


def pessimistic(space, sets, low, optimistic):
    """L_1 (n, N) of the greedy policy of T_1, from its Q on cells and the mean rewards r-."""
    V = bellman.functions(*low.shape[:2], 1)
    for h in reversed(range(optimistic.shape[1])):
        Q = low + sets.bounds(V, -np.ones((len(V), 1, 1, 1)))[..., 0]
        V[..., 0] = -bellman.largest(np.where(playable(space, optimistic[:, h]), -Q, -np.inf))
    return V[..., 0]


def playable(space, Q):
    """Which actions are greedy on each cell, up to rounding, on the anchors: (n, cells, A) -> (n, N, A)."""
    best = bellman.largest(Q)
    tied = Q >= (best - bellman.TIE * (1.0 + np.abs(best)))[..., None]
    return np.repeat(tied, space.per_cell, axis=1) if space.per_cell > 1 else tied
