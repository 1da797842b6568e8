"""The bilinear exponential family of next-state laws, batched over seeds.

    p_theta(s' | s, a) = exp( psi(s')' eta + b(s' | s, a) - Z(eta) ),   eta = U(s,a) theta in R^p.

`Family` computes everything by sums over the nodes of the state space: exact for finite spaces, Gauss-Legendre for
intervals. Families with closed forms override it for speed (`truncated_normal.py`); a test holds them to this one.
Shapes: eta (n, N, A, p) for n seeds, N cells, A actions; G nodes.
"""

import numpy as np


class Family:
    """psi (G, p); log base measure b, (G,) or (N, A, G)."""

    def __init__(self, space, psi, log_base):
        self.space = space
        self.psi = np.ascontiguousarray(psi, dtype=float)
        self.p = self.psi.shape[1]
        self.log_base = log_base if np.ndim(log_base) == 3 else log_base[None, None]

    def statistic(self, s):
        """psi of visited states, (...,) -> (..., p)."""
        return self.psi[s]

    def log_masses(self, eta):
        """log of the probability of each node, and Z: (n, N, A, G) and (n, N, A)."""
        logits = eta @ self.psi.T + (self.log_base + self.space.log_weights)
        top = logits.max(-1, keepdims=True)
        Z = top[..., 0] + np.log(np.exp(logits - top).sum(-1))
        return logits - Z[..., None], Z

    def log_partition(self, eta):
        """Z, (n, N, A)."""
        return self.log_masses(eta)[1]

    def moments(self, eta):
        """Z (n, N, A), E psi (n, N, A, p) and Cov psi (n, N, A, p, p)."""
        log_mass, Z = self.log_masses(eta)
        mass = np.exp(log_mass)
        mean = mass @ self.psi
        # Centring before squaring keeps the covariance accurate when the law is concentrated.
        centred = self.psi - mean[..., None, :]
        cov = np.swapaxes(centred, -1, -2) @ (mass[..., None] * centred)
        return Z, mean, cov

    def kernel(self, eta):
        """P(next cell), (n, N, A, N)."""
        return self._per_cell(np.exp(self.log_masses(eta)[0]))

    def kernel_and_partial_means(self, eta):
        """P(next cell) and E[psi 1(next cell)], (n, N, A, N, p): what Cov(psi, V) is made of."""
        mass = np.exp(self.log_masses(eta)[0])
        partial = [self._per_cell(mass * self.psi[:, i]) for i in range(self.p)]
        return self._per_cell(mass), np.stack(partial, axis=-1)

    def _per_cell(self, node_values):
        if self.space.discrete:
            return node_values
        return node_values.reshape(*node_values.shape[:-1], self.space.n_cells, -1).sum(-1)

    def kl(self, eta, other):
        """KL(p_eta, p_other) = Z(other) - Z(eta) - (other - eta)' E_eta psi, (n, N, A)."""
        Z, mean, _ = self.moments(eta)
        return self.log_partition(other) - Z - ((other - eta) * mean).sum(-1)

    def base(self, cell, action):
        """log base measure of one (cell, action), (G,)."""
        n_cells, n_actions = self.log_base.shape[:2]
        return self.log_base[min(cell, n_cells - 1), min(action, n_actions - 1)]

    def support(self, cell, action):
        """psi on the support of one (cell, action), (G', p)."""
        return self.psi[np.isfinite(self.base(cell, action))]


class FiniteFamily(Family):
    """Finite states: the inverse CDF is a search in the cumulative sums."""

    def sampler(self, eta):
        """Inverse CDF of one parameter, eta (N, A, p): a function of (cell, action, u), all (n,)."""
        cumulative = np.cumsum(self.kernel(eta[None])[0], axis=-1)
        cumulative /= cumulative[..., -1:]
        inner = np.ascontiguousarray(cumulative[..., :-1])

        def draw(cell, action, u):
            return (u[..., None] >= inner[cell, action]).sum(-1)

        return draw
