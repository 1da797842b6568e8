"""The multinomial logistic (MNL) model of a finite family, and the base class of the MNL agents.

    P(s' | s, a) = exp( f(s,a,s')' theta + b(s'|s,a) ) / sum over S_sa,   f(s,a,s') = U(s,a)'(psi(s') - psi(s'_0))

on the states S_sa that (s,a) can reach, s'_0 the first of them. This is the family itself, since f differs from U'psi
by a term that cancels. Coordinates: theta = E x on each block, with E'A E = I, and f stands for E'f, so that A = I.
Where each (s,a) has its own block, E spans A^-1 f alone and q = R - 1: online estimates start at zero and never leave
this span. Shapes: N anchors, A actions, R the largest number of reachable states; theta (n, blocks, q), matrices (n,
blocks, q, q), norms and probabilities (n, N, A, R), with f = 0 and probability 0 beyond the reachable states of (s,a).

**Deviations** of all MNL agents. Those of `planned_rewards.py`. The papers have a parameter for each stage h; here one
serves all, since transitions do not depend on h, and t counts all transitions. Norms |theta|_A and penalties lam A,
with this project's bold A, are the papers' for A^1/2 theta; A = I on one-hot features. The papers have no base measure
b; here it is known. They only require that one feature be zero: the choice of s'_0 changes |f|, fhat and L_f, hence
bonuses and noise, but not laws, fbar or Hessians. L_theta is max(|theta*_p|_A, |theta*_r|_A), in the papers some known
bound; online estimates are projected on that ball at every `scale`.
"""

import numpy as np

from befrl.agents.base import EXACT, BaseAgent, Plan
from befrl.agents.shared.planned_rewards import PlannedRewards
from befrl.common.errors import Refused
from befrl.model.features import Features
from befrl.numerics import bellman, linalg

GROUP = 1 << 14  # rows are taken in groups whose tables, of this many numbers, fit into the processor's cache


class Reachable:
    """The features f of a model on the reachable states, its constants, and computations with them.

    states (N, A, R)  the reachable next states; real (N, A, R)  which entries are reachable; log_base (N, A, R)
    contrast (N, A, R, p)  psi(s') - psi(s'_0);   basis (blocks, m, q)  E;   f (N, A, R, q)  E'U'(psi(s') - psi(s'_0))
    block (N A,)  the block of each (s,a);   random  the (s,a) with several reachable states
    U  the largest number of reachable states;   L_f = sup |f|_{A^-1};   L_theta = B_A >= |theta*|_A
    """

    def __init__(self, model, constants):
        self.family, features = model.family, model.features
        if not hasattr(features, "block"):
            block = np.zeros((features.n_anchors, features.n_actions), dtype=int)  # Kronecker features: one block
            features = Features(features.U, block, np.eye(features.d)[None])
        self.features, self.d = features, features.d
        self.block, self.blocks = features.block.ravel(), features.n_blocks
        self.own_blocks = np.array_equal(self.block, np.arange(self.blocks))
        shape = (features.n_anchors, features.n_actions, model.space.n_cells)
        log_base = np.broadcast_to(self.family.log_base, shape)
        can = np.isfinite(log_base)
        self.U = int(can.sum(-1).max())
        self.states = np.argsort(~can, axis=-1, kind="stable")[..., : self.U]
        self.real = np.take_along_axis(can, self.states, -1)
        self.random = np.flatnonzero(self.real.sum(-1) > 1)
        self.log_base = np.where(self.real, np.take_along_axis(log_base, self.states, -1), -np.inf)
        psi = self.family.psi[self.states]
        self.contrast = np.where(self.real[..., None], psi - psi[..., :1, :], 0.0)
        whole = self.contrast @ features.U
        self.basis = np.swapaxes(np.linalg.inv(np.linalg.cholesky(features.trace)), -1, -2)
        if self.own_blocks and self.U - 1 < features.m:
            turned = np.swapaxes(whole[..., 1:, :].reshape(self.blocks, -1, features.m) @ self.basis, -1, -2)
            self.basis = self.basis @ np.linalg.qr(turned)[0]
        self.q = self.basis.shape[-1]
        self.f = whole @ self.basis[features.block]
        self.L_f = float(np.sqrt(np.square(self.f).sum(-1).max()))
        self.L_theta = constants["B_A"]
        # The tables of all (s,a), with entries first; gram (q, q, N A) is the sum over s' of f f'.
        f, *others = (part.reshape(-1, *part.shape[2:]).T for part in (self.f, self.log_base, self.states, self.real))
        self.gram = np.einsum("irx,jrx->ijx", f, f)
        self._tables = [np.ascontiguousarray(table) for table in (f, *others)]

    def whole(self, theta):
        """The family's theta (n, d) for x (n, blocks, q)."""
        return (self.basis * theta[..., None, :]).sum(-1).reshape(len(theta), self.d)

    def kappa(self):
        """A lower bound on inf P_theta(s') P_theta(s'') over |theta|_A <= L_theta, (s,a) and s' != s'' (Assumption 4).

        With r = sup |U theta| and c the middle of psi(s') and psi(s''),
        sqrt(P P'') = 1/sum_t exp( (psi(t) - c)'U theta + b(t) - (b(s') + b(s''))/2 ) >= the same with r |psi(t) - c|.
        """
        spread = self.features.spread(self.features.trace[None])[0]
        r = self.L_theta * float(np.sqrt(np.linalg.eigvalsh(spread)[..., -1].max()))
        least = 1.0
        for at in np.ndindex(self.states.shape[:2]):
            real = self.real[at]
            if real.sum() < 2:
                continue
            psi, b = self.family.psi[self.states[at][real]], self.log_base[at][real]
            first, second = np.triu_indices(len(psi), 1)
            middle, base = (psi[first] + psi[second]) / 2, (b[first] + b[second]) / 2
            reach = np.linalg.norm(psi[None] - middle[:, None], axis=-1)
            least = min(least, float((np.exp(b - base[:, None] + r * reach).sum(-1) ** -2.0).min()))
        return least

    def turned(self, matrix):
        """L^-1 f with L L' = matrix, (q, n, N A, R): |L^-1 f| = |f|_{matrix^-1}, f . xi = L^-1 f . z if xi = L^-T z."""
        inverse = linalg.entries(linalg.inverse(linalg.cholesky(matrix)))
        if not self.own_blocks:
            inverse = inverse[..., self.block]
        f = self.f.reshape(-1, self.U, self.q)
        return np.stack([total(inverse[i, j][..., None] * f[..., j] for j in range(i + 1)) for i in range(self.q)])

    def norms(self, matrix):
        """|f|^2 in matrix^-1, (n, N, A, R)."""
        return total(np.square(self.turned(matrix))).reshape(-1, *self.states.shape)

    def normals(self, stream, members, steps, at):
        """The q components of z at the (s,a) `at` for `members` new xi at each step, (q, n, members, steps, at)."""
        blocks = len(at) if self.own_blocks else self.blocks
        z = stream.take(steps * blocks * self.q * members)
        z = z.reshape(len(z), self.q, members, steps, blocks).swapaxes(0, 1)
        return z if self.own_blocks else z[..., self.block[at]]

    def largest(self, vectors, stream, members, steps, at):
        """The sum over r of the largest of `members` draws of L^-1 f_r . z, at each step, (n, steps, N A).

        `vectors` (R', q, n, N A) has the components of each L^-1 f_r. Other (s,a) than those of `at` get 0.
        """
        z = self.normals(stream, members, steps, at)
        n, width = z.shape[1], len(at)
        found = np.zeros((n, steps, self.states[..., 0].size))
        vectors, size = vectors[..., at], max(1, GROUP // max(1, members * steps * width))
        for first in range(0, n, size):
            rows = slice(first, first + size)
            weights = np.tile(vectors[:, :, rows], steps)[..., None, :]  # repeated for all steps: long inner loops
            draws = z[:, rows].reshape(self.q, len(z[0, rows]), members, steps * width)
            highest = total(total(w * x for w, x in zip(weight, draws, strict=True)).max(1) for weight in weights)
            found[rows, :, at] = highest.reshape(len(highest), steps, width)
        return found

    def probabilities(self, kernel):
        """P(s') on the reachable states, from the kernel (n, N, A, S)."""
        return np.where(self.real, np.take_along_axis(kernel, self.states[None], -1), 0.0)

    def visits(self, trajectory):
        """The visited (s,a) (n,), f (q, R, n), log base (R, n) and whether s' followed (R, n), for each step."""
        visited = trajectory.cells.T * self.states.shape[1] + trajectory.actions.T
        for at, following in zip(visited, trajectory.next_states.T, strict=True):
            # `take` keeps rows last in memory, which indexing does not.
            f, log_base, states, real = (table.take(at, axis=-1) for table in self._tables)
            yield at, f, log_base, (states == following) & real


def total(parts):
    """The sum of arrays in their order, which does not depend on the number of rows."""
    first, *others = parts
    for part in others:
        first = first + part
    return first


class MnlAgent(BaseAgent):
    """An agent that plans in the MNL model. It learns theta by its `estimator`, if it is an online one."""

    @classmethod
    def specification(cls, model, parameters):
        if not model.space.discrete:
            name = cls.__module__.rpartition(".")[2].replace("_", "-")
            raise Refused(f"agent '{name}' sums over the reachable next states, so that it needs a finite state space")
        return EXACT

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.reachable = Reachable(problem.model, problem.constants)
        self.rewards = PlannedRewards(problem, parameters, parameters.delta)

    def kernel(self):
        """P of the online estimate, (n, N, A, N)."""
        return self.problem.model.kernel(self.reachable.whole(self.estimator.theta))

    def plan_with(self, bonus, kernel, low=-np.inf, clip_values=False):
        """The plan with Q_h = clip( R + P V_{h+1} + bonus, low, H ), or with V clipped; bonus ([H,] n, N, A)."""
        H, means = self.problem.horizon, self.rewards.means()
        bonus = np.broadcast_to(bellman.ordered(bonus), (H, *means.shape))
        expected, R = bellman.expectation(kernel), bellman.ordered(means)

        def cut(values):
            return np.clip(values, low, float(H))

        def step(h, V):
            Q = R + expected(V) + bonus[h]
            return Q if clip_values else cut(Q)

        Q, V = bellman.recursion(step, H, R.shape, lambda Q: cut(bellman.largest(Q)))
        return Plan(self.cell_policy(Q), V[:, 0], means)

    def update(self, trajectory):
        self.rewards.update(trajectory)
        self.estimator.update(trajectory)
