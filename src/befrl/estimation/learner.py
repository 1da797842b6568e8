"""What model-based agents learn: counts and sums on cells, both penalised MLEs, and the design matrix.

The features are constant on cells, so that the log-likelihood of all data up to episode k is a function of

    counts (n, N, A),   sum of psi(s') (n, N, A, p),   sum of r (n, N, A),

and an episode costs the same at k = 10 and at k = 100,000. With eta_sa = U theta and x_sa = U' B,

    theta_p = argmin sum_sa [ N_sa Z(eta_sa) - eta_sa . S_sa ] + eta/2 |theta|_A^2
    theta_r = argmin sum_sa [ N_sa Z_r(theta . x_sa) - theta . x_sa R_sa ] + eta/2 |theta|_A^2
    Gbar    = eta/alpha_p A + sum_sa N_sa U'U.

The penalty is the squared norm: with the norm itself, as printed, the score equations do not follow.
"""

import numpy as np

from befrl import linalg
from befrl.estimation import newton


class Learner:
    """Statistics and estimates of n seeds. `known_theta_r` (d,) replaces the reward's estimate in track K."""

    def __init__(self, model, n, eta, alpha_p, known_theta_r=None):
        self.model, self.n, self.eta, self.alpha_p = model, n, eta, alpha_p
        features = model.features
        N, A = features.n_cells, features.n_actions
        self.counts = np.zeros((n, N, A))
        self.sum_psi = np.zeros((n, N, A, features.p))
        self.sum_reward = np.zeros((n, N, A))
        self._theta_p = np.zeros((n, features.n_blocks, features.m))
        self.hessian_p = np.broadcast_to(eta * features.trace, (n, *features.trace.shape)).copy()
        self.known_reward = known_theta_r is not None
        if self.known_reward:
            self._theta_r = np.broadcast_to(features.split(known_theta_r[None]), self._theta_p.shape)
        else:
            self._theta_r = np.zeros_like(self._theta_p)
            self.hessian_r = self.hessian_p.copy()
        self._x_outer = model.x_r[..., :, None] * model.x_r[..., None, :]

    @property
    def theta_p(self):
        return self._theta_p.reshape(self.n, -1)

    @property
    def theta_r(self):
        return self._theta_r.reshape(self.n, -1)

    def update(self, trajectory):
        """Add one episode of each seed and refit."""
        self._count(trajectory)
        self._theta_p, self.hessian_p = newton.minimise(self.transition_loss, self._theta_p)
        if not self.known_reward:
            self._theta_r, self.hessian_r = newton.minimise(self.reward_loss, self._theta_r)

    def _count(self, trajectory):
        N, A = self.counts.shape[1:]
        where = trajectory.cells * A + trajectory.actions
        where = (where + (N * A) * np.arange(self.n)[:, None]).ravel()

        def total(weights=None):
            return np.bincount(where, weights, self.n * N * A).reshape(self.n, N, A)

        self.counts += total()
        self.sum_reward += total(trajectory.rewards.ravel())
        psi = self.model.family.statistic(trajectory.next_states)
        for i in range(psi.shape[-1]):
            self.sum_psi[..., i] += total(psi[..., i].ravel())

    def _penalty(self, theta):
        """eta/2 |theta|_A^2 and its gradient."""
        pull = self.eta * (self.model.features.trace @ theta[..., None])[..., 0]
        return 0.5 * (theta * pull).sum((-1, -2)), pull

    def transition_loss(self, theta, rows=slice(None)):
        """Penalised negative log-likelihood of the transitions of some seeds, gradient and Hessian blocks."""
        features, counts, sum_psi = self.model.features, self.counts[rows], self.sum_psi[rows]
        eta = features.natural(theta.reshape(len(theta), -1))
        Z, mean, cov = self.model.family.moments(eta)
        penalty, pull = self._penalty(theta)
        value = (counts * Z - (eta * sum_psi).sum(-1)).sum((-1, -2)) + penalty
        gradient = features.pull(counts[..., None] * mean - sum_psi) + pull
        hessian = features.sandwich(counts[..., None, None] * cov) + self.eta * features.trace
        return value, gradient, hessian

    def reward_loss(self, theta, rows=slice(None)):
        """The same for the rewards, a one-dimensional family in c = theta . x_r."""
        model, features, counts, sum_reward = self.model, self.model.features, self.counts[rows], self.sum_reward[rows]
        c = model.reward_natural(theta.reshape(len(theta), -1))
        Z, mean, variance = model.reward.moments(c)
        residual = counts * mean - sum_reward
        penalty, pull = self._penalty(theta)
        value = (counts * Z - c * sum_reward).sum((-1, -2)) + penalty
        gradient = features.gather(residual[..., None] * model.x_r) + pull
        weights = (counts * variance)[..., None, None]
        hessian = features.gather(weights * self._x_outer) + self.eta * features.trace
        return value, gradient, hessian

    def design(self):
        """Gbar, (n, blocks, m, m)."""
        features = self.model.features
        return features.design(self.counts) + (self.eta / self.alpha_p) * features.trace

    def feature_norms(self, design):
        """tr(U Gbar^-1 U') of each (cell, action), (n, N, A): the paper's squared feature norm."""
        features = self.model.features
        factors = linalg.cholesky(design)
        return np.square(linalg.solve_factor(features.local(factors), np.swapaxes(features.U, -1, -2))).sum((-1, -2))

    def errors(self, theta_p, theta_r, design):
        """|theta_hat - theta*| in the design norm, for transitions and rewards, (n,) each."""
        features = self.model.features
        gap_p = self._theta_p - features.split(theta_p[None])
        gap_r = self._theta_r - features.split(theta_r[None])
        return np.sqrt(linalg.quadratic(design, gap_p)), np.sqrt(linalg.quadratic(design, gap_r))


def learner_for(problem, eta) -> Learner:
    """The learner of an agent's problem, with the reward's parameter given in track K."""
    return Learner(problem.model, problem.n, eta, problem.constants["alpha_p"], problem.known_theta_r)
