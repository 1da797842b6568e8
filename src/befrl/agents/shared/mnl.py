"""The multinomial logistic view of a finite family, shared by the MNL agents.

On the states S_sa that (s,a) can reach, with s'_0 the first of them,

    P(s' | s, a) = exp( f(s,a,s')' theta + b(s'|s,a) ) / sum over S_sa,   f(s,a,s') = U(s,a)'(psi(s') - psi(s'_0)).

This is the family itself, since f differs from U'psi by a term that cancels. One parameter serves all steps h. Norms of
theta are |theta|_A and penalties lam A with the bold A of this project. Both agree with the papers' where A = I, on
one-hot features; elsewhere they are the papers' for A^1/2 theta. The papers have no base measure b; here it is known
and part of the law. The choice of s'_0 does not affect laws, fbar or Hessians, but it affects |f|, fhat and L_f, hence
bonuses and noise; the papers only require that one feature be zero. L_theta is max(|theta*_p|_A, |theta*_r|_A), the
tightest bound for the instance, where the papers require some known bound; online estimates are projected on that ball
at every `scale`. f touches one block of theta, so that matrices are (n, blocks, m, m).

Shapes: N anchors, A actions, R the largest number of reachable states. Entries beyond the reachable states of (s,a)
have f = 0 and probability 0. norms and probabilities (n, N, A, R).
"""

import numpy as np

from befrl.common.errors import Refused
from befrl.model.features import Features
from befrl.numerics import bellman, linalg


def check_finite(model, algorithm):
    """Raise `Refused` unless the state space is finite."""
    if not model.space.discrete:
        raise Refused(f"agent '{algorithm}' sums over the reachable next states, so that it needs a finite state space")


class Reachable:
    """The features f of a model on the reachable states, its constants, and computations with them.

    states (N, A, R)  the reachable next states; real (N, A, R)  which entries are reachable; log_base (N, A, R)
    contrast (N, A, R, p)  psi(s') - psi(s'_0);   f (N, A, R, m)  within the block of (s,a)
    gram (N, A, m, m)  sum over s' of f f'
    U  the largest number of reachable states;   L_f = sup |f|_{A^-1};   L_theta = B_A >= |theta*|_A
    """

    def __init__(self, model, constants):
        self.model, self.family = model, model.family
        features = model.features
        if not hasattr(features, "block"):
            # Kronecker features form a single block, all of theta.
            block = np.zeros((features.n_anchors, features.n_actions), dtype=int)
            features = Features(features.U, block, np.eye(features.d)[None])
        self.features, self.d = features, features.d
        self.own_blocks = np.array_equal(features.block.ravel(), np.arange(features.n_blocks))
        self._plain = bool(np.all(features.trace == np.eye(features.m)))
        shape = (features.n_anchors, features.n_actions, model.space.n_cells)
        log_base = np.broadcast_to(self.family.log_base, shape)
        can = np.isfinite(log_base)
        self.U = int(can.sum(-1).max())
        self.states = np.argsort(~can, axis=-1, kind="stable")[..., : self.U]
        self.real = np.take_along_axis(can, self.states, -1)
        self.log_base = np.where(self.real, np.take_along_axis(log_base, self.states, -1), -np.inf)
        psi = self.family.psi[self.states]
        self.contrast = np.where(self.real[..., None], psi - psi[..., :1, :], 0.0)
        self.f = self.contrast @ features.U
        self.gram = np.swapaxes(self.f, -1, -2) @ self.f
        self.L_f = float(np.sqrt(self.norms(features.trace[None]).max()))
        self.L_theta = constants["B_A"]

    def natural_radius(self):
        """sup of |U(s,a) theta| over |theta|_A <= L_theta and all (s,a)."""
        spread = self.features.spread(self.features.trace[None])[0]
        return self.L_theta * float(np.sqrt(np.linalg.eigvalsh(spread)[..., -1].max()))

    def kappa(self):
        """A lower bound on inf P_theta(s') P_theta(s'') over |theta|_A <= L_theta, (s,a) and s' != s'' (Assumption 4).

        With r = sup |U theta| and c the middle of psi(s') and psi(s''),
        sqrt(P P'') = 1/sum_t exp( (psi(t) - c)'U theta + b(t) - (b(s') + b(s''))/2 ) >= the same with r |psi(t) - c|.
        """
        r, least = self.natural_radius(), 1.0
        for x, a in np.ndindex(self.states.shape[:2]):
            real = self.real[x, a]
            if real.sum() < 2:
                continue
            psi, b = self.family.psi[self.states[x, a][real]], self.log_base[x, a][real]
            first, second = np.triu_indices(len(psi), 1)
            middle, base = (psi[first] + psi[second]) / 2, (b[first] + b[second]) / 2
            reach = np.linalg.norm(psi[None] - middle[:, None], axis=-1)
            total = np.exp(b - base[:, None] + r * reach).sum(-1)
            least = min(least, float((total**-2.0).min()))
        return least

    def norms(self, matrix):
        """|f|^2 in matrix^-1, (n, N, A, R)."""
        return self.quadratic(self.contrast, self.features.spread(matrix))

    def quadratic(self, contrast, spread):
        """|U'v|^2 in matrix^-1 for the v of contrast, with spread = U matrix^-1 U'."""
        return np.maximum(((contrast @ spread) * contrast).sum(-1), 0.0)

    def probabilities(self, kernel):
        """P(s') on the reachable states, from the kernel (n, N, A, S)."""
        return np.where(self.real, np.take_along_axis(kernel, self.states[None], -1), 0.0)

    def centred(self, P):
        """psi(s') minus its mean, (n, N, A, R, p); fbar is U' times this."""
        return self.contrast - (P[..., None] * self.contrast).sum(-2, keepdims=True)

    def turned(self, contrast, matrix):
        """L^-1 f with L L' = matrix, (n, N, A, R, m), for f = U'v with v of contrast (n, N, A, R, p).

        Then f . xi = turned . z if xi = L^-T z. If each (s,a) has its own block, the triangular factor (n, N, A, R, R)
        of a QR decomposition gives f . xi the same law with R < m normal draws instead of m.
        """
        inverse = self.features.local(linalg.inverse(linalg.cholesky(matrix)))
        vectors = (contrast @ self.features.U) @ np.swapaxes(inverse, -1, -2)
        if self.own_blocks and vectors.shape[-2] < vectors.shape[-1]:
            vectors = np.swapaxes(np.linalg.qr(np.swapaxes(vectors, -1, -2), mode="r"), -1, -2)
        return vectors

    def noise(self, turned, normals, M):
        """f . xi^(m) for M new vectors xi^(m) ~ N(0, matrix^-1), (n, N, A, R, M)."""
        n, N, A, R, q = turned.shape
        blocks = self.features.n_blocks
        if self.own_blocks:
            # With one reachable state f is zero and needs no noise.
            some = np.flatnonzero(self.real.sum(-1) > 1)
            z = normals.take(len(some) * q * M).reshape(n, len(some), q, M)
            along = np.zeros((n, N * A, R, M))
            along[:, some] = turned.reshape(n, N * A, R, q)[:, some] @ z
            return along.reshape(n, N, A, R, M)
        z = normals.take(blocks * q * M).reshape(n, blocks, q, M)
        if blocks == 1:
            return (turned.reshape(n, -1, q) @ z[:, 0]).reshape(n, N, A, R, M)
        return turned @ self.features.local(z)

    def visit(self, cell, action):
        """f (n, R, m), log base (n, R), gram (n, m, m) and block (n,) of one visited (s,a) of each seed.

        For several visits of each seed, (n, T), these have T as their second axis.
        """
        at = (cell, action)
        return self.f[at], self.log_base[at], self.gram[at], self.features.block[at]

    def chosen(self, cell, action, following):
        """Whether a reachable state is the one that followed, (n, R), or (n, T, R)."""
        return (self.states[cell, action] == following[..., None]) & self.real[cell, action]

    def project(self, theta, matrices):
        """Project theta (n, blocks, m), in place, on |theta|_A <= L_theta in the norm of the matrices.

        The projection x solves (matrix + mu A) x = matrix theta with |x|_A = L_theta. Newton's method on 1/L - 1/|x| as
        a function of mu starts at mu = 0 and approaches the root from one side. `matrices(rows)` returns the matrices
        of the seeds `rows`.
        """
        L, trace = self.L_theta, self.features.trace
        size = np.sqrt((theta * self._times_trace(theta)).sum((-1, -2)))
        # Projected points lie on the edge of the ball up to rounding.
        rows = np.flatnonzero(size > L * (1 + 1e-9))
        if not len(rows):
            return
        blocks = matrices(rows)
        target = (blocks @ theta[rows][..., None])[..., 0]
        mu, x = np.zeros(len(rows)), theta[rows]
        for _ in range(100):
            size = np.sqrt((x * self._times_trace(x)).sum((-1, -2)))
            moving = np.flatnonzero(np.abs(size - L) > 1e-10 * L)
            if not len(moving):
                break
            grown = blocks[moving] + mu[moving, None, None, None] * trace
            pull = self._times_trace(x[moving])
            slope = (pull * np.linalg.solve(grown, pull[..., None])[..., 0]).sum((-1, -2))
            mu[moving] += size[moving] ** 2 / slope * (size[moving] - L) / L
            grown = blocks[moving] + mu[moving, None, None, None] * trace
            x[moving] = np.linalg.solve(grown, target[moving][..., None])[..., 0]
        # Points that are outside by rounding are scaled back.
        size = np.sqrt((x * self._times_trace(x)).sum((-1, -2)))
        theta[rows] = x * np.minimum(1.0, L / size)[:, None, None]

    def _times_trace(self, theta):
        if self._plain:
            return theta
        return (self.features.trace @ theta[..., None])[..., 0]


def laws(f, log_base, theta):
    """The softmax P (..., R) over the reachable states of (s,a), for f (..., R, m) and theta (..., m)."""
    logits = (f @ theta[..., None])[..., 0] + log_base
    P = np.exp(logits - logits.max(-1, keepdims=True))
    return P / P.sum(-1, keepdims=True)


def hessian(f, P):
    """sum P fbar fbar', (..., m, m)."""
    fbar = f - (P[..., None] * f).sum(-2, keepdims=True)
    return np.swapaxes(fbar, -1, -2) @ (P[..., None] * fbar)


def plan(R, P, bonuses, low, clip_values=False):
    """Q_h = clip( R + P V_{h+1} + bonus_h, low, H ), V_h = max_a Q_h; returns Q (n, H, N, A) and V_1 (n, N).

    `bonuses` has one array (n, N, A) for each step. With `clip_values` V is clipped instead of Q.
    """
    H, expected = len(bonuses), bellman.expectation(P)

    def cut(values):
        return np.clip(values, low, float(H))

    def step(h, V):
        Q = R + expected(V) + bonuses[h]
        return Q if clip_values else cut(Q)

    Q, V = bellman.recursion(step, H, R.shape, lambda Q: cut(bellman.largest(Q)))
    return Q, V[:, 0]
