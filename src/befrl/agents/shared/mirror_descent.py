"""The online estimator of the MNL model, with one step for each transition, and the agents of Cho et al. with eq. 5, 6.

    theta_{t+1} = argmin over |theta|_A <= L_theta of  |theta - theta_t|^2_M/(2 eta) + theta' grad l_t(theta_t)
    M = B_t + eta hess l_t(theta_t),   B_{t+1} = B_t + hess l_t(theta_{t+1}),   B_1 = lam A          (eq. 5 and 6)
    M = B_{t+1} = B_t + kappa/2 sum_s' f_t f_t',   eta = 1,   if kappa is given                      (eq. 2 and 3)

with l_t = -log P_theta(s_{t+1} | s_t, a_t). A step changes one block. Shapes as in `mnl.py`, rows last in memory.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.shared.mnl import MnlAgent, total
from befrl.agents.shared.planned_rewards import RewardParameters
from befrl.common.parameters import given_or, number, optional, scale
from befrl.numerics import linalg


class OnlineEstimator:
    """Starts from theta = 0 and the matrix lam A; lam, eta and kappa are (n,)."""

    def __init__(self, reachable, n, lam, eta=1.0, kappa=None):
        self.reachable, self.lam, self.eta, self.kappa = reachable, lam, eta, kappa
        blocks, q = reachable.blocks, reachable.q
        self._theta, self._matrix = np.zeros((q, blocks * n)), np.zeros((q, q, blocks * n))
        for i in range(q):
            self._matrix[i, i] = np.tile(lam, blocks)
        self.theta = self._theta.reshape(q, blocks, n).transpose(2, 1, 0)
        self.matrix = self._matrix.reshape(q, q, blocks, n).transpose(3, 2, 0, 1)
        self._rows = np.arange(n)

    def update(self, trajectory):
        for at, f, log_base, came in self.reachable.visits(trajectory):
            block = self.reachable.block[at]
            place = block * len(self._rows) + self._rows
            theta, matrix = self._theta.take(place, axis=-1), self._matrix.take(place, axis=-1)
            P = laws(f, log_base, theta)
            if self.kappa is None:
                metric = matrix + self.eta * hessian(f, P)
            else:
                metric = matrix + self.kappa / 2 * self.reachable.gram.take(at, axis=-1)
            step = linalg.solve(metric.transpose(2, 0, 1)[:, None], mean(f, P - came).T).T
            self._theta[:, place] = theta - self.eta * step
            self.project(metric, block)
            if self.kappa is None:
                metric = matrix + hessian(f, laws(f, log_base, self._theta.take(place, axis=-1)))
            self._matrix[:, :, place] = metric

    def project(self, metric, block):
        """Project theta on |theta|_A <= L_theta in the norm of the matrix, which is `metric` in the blocks (n,).

        x solves (M + mu I) x = M theta, |x| = L_theta: Newton's method on 1/L - 1/|x| from mu = 0 stays on one side.
        """
        L = self.reachable.L_theta
        rows = np.flatnonzero(_size(self.theta) > L * (1 + 1e-9))  # projected points lie on the edge up to rounding
        if not len(rows):
            return
        M, x = self.matrix[rows], self.theta[rows].reshape(len(rows), -1)
        M[np.arange(len(rows)), block[rows]] = metric[:, :, rows].transpose(2, 0, 1)
        target, mu, eye = linalg.product(M, x), np.zeros(len(rows)), np.eye(M.shape[-1])
        for _ in range(100):
            size = _size(x)
            moving = np.flatnonzero(np.abs(size - L) > 1e-10 * L)
            if not len(moving):
                break
            grown = M[moving] + mu[moving, None, None, None] * eye
            slope = (x[moving] * linalg.solve(grown, x[moving])).sum(-1)
            mu[moving] += size[moving] ** 2 / slope * (size[moving] - L) / L
            grown = M[moving] + mu[moving, None, None, None] * eye
            x[moving] = linalg.solve(grown, target[moving])
        x *= np.minimum(1.0, L / _size(x))[:, None]  # for points that are outside by rounding
        self.theta[rows] = x.reshape(len(rows), *self.theta.shape[1:])


def _size(theta):
    """|theta|, (n,); in contiguous memory the order of a sum does not depend on the number of seeds."""
    return np.sqrt(np.square(np.ascontiguousarray(theta).reshape(len(theta), -1)).sum(-1))


def laws(f, log_base, theta):
    """The softmax P (R, n) over the reachable states of (s,a), for f (q, R, n), log_base (R, n) and theta (q, n)."""
    P = total(f * theta[:, None]) + log_base
    P = np.exp(P - P.max(0))
    return P / total(P)


def mean(f, weights):
    """The sum over the reachable states of weights (R, n) times f, (q, n)."""
    return total((f * weights).swapaxes(0, 1))


def hessian(f, P):
    """sum P fbar fbar', (q, q, n)."""
    fbar = f - mean(f, P)[:, None]
    return total(((P * fbar)[:, None] * fbar).transpose(2, 0, 1, 3))


@dataclass(frozen=True)
class MirrorParameters(RewardParameters):
    scale: float | str = scale("multiple of the radius beta; theory means 1")
    lam: float | None = optional(1e-6, 1e6, "weight of the penalty; the theory's if none", ridge=True)
    eta: float | None = optional(1e-6, 1e6, "step size; the theory's if none")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the confidence set")


class MirrorAgent(MnlAgent):
    """An agent that learns by eq. 5 and 6, with the constants

        eta = alpha/2,   lam = max(12 sqrt 2 L_f^3 alpha, 48 L_f^2 d alpha),   alpha = log U + 2 (1 + L_f L_theta)
        beta_t^2 = alpha (Gamma^A + Gamma^B) + lam L_theta^2                                              (eq. 53)
        Gamma^A  = (3 log(U t) + L_f L_theta) (5/4 lam + 4 log(H sqrt(1 + 2t)/delta)) + 2                 (Lemma 14)
        Gamma^B  = sqrt 6 (2 alpha/3) d log(1 + 2 t L_f^2/(d lam))                                        (Lemma 15)

    `scale` multiplies beta. **Deviations.** The theory's lam and eta (Lemma 12) leave theta near 0 for long; the
    authors tuned theirs and do not print them. The H in Gamma^A is the paper's union bound over its H parameters, kept
    for one. Eq. 53 ends in an unspecified constant; beta is the line before it.
    """

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        r = self.reachable
        self.alpha = alpha = np.log(r.U) + 2 * (1 + r.L_f * r.L_theta)
        lam = given_or(parameters.lam, max(12 * np.sqrt(2) * r.L_f**3 * alpha, 48 * r.L_f**2 * r.d * alpha))
        self.estimator = OnlineEstimator(r, problem.n, lam, given_or(parameters.eta, alpha / 2))

    def radius(self, k):
        """beta before episode k, counted from 0, (n,)."""
        r, lam, alpha, H = self.reachable, self.estimator.lam, self.alpha, self.problem.horizon
        t = k * H + 1
        size = 3 * np.log(r.U * t) + r.L_f * r.L_theta
        gamma_A = 5 / 4 * size * lam + 4 * size * np.log(H * np.sqrt(1 + 2 * t) / self.parameters.delta) + 2
        gamma_B = np.sqrt(6) * (2 * alpha / 3) * r.d * np.log1p(2 * t * r.L_f**2 / (r.d * lam))
        return self.parameters.scale * np.sqrt(alpha * (gamma_A + gamma_B) + lam * r.L_theta**2)

    def features(self, kernel):
        """P (n, N A, R), L^-1 fbar (q, n, N A, R) and max_s' |f|^2_{B^-1} (n, N A), with L L' = B."""
        turned = self.reachable.turned(self.estimator.matrix)
        P = self.reachable.probabilities(kernel).reshape(turned.shape[1:])
        centred = turned - total(np.moveaxis(P * turned, -1, 0))[..., None]
        return P, centred, total(np.square(turned)).max(-1)

    def facts(self):
        beta = self.radius(self.problem.episodes - 1)
        return {"lam": self.estimator.lam, "eta": self.estimator.eta, "L_f": self.reachable.L_f, "beta": beta}
