"""BEF-RLSVI on the chain, a direct transcription of Algorithm 1 of the paper: one seed, all history.

Every transition (phi(s,a), psi(s'), r) is kept, and both penalised maximum likelihood estimates are refitted to all of
them after each episode, so that episode k costs O(k). Nothing of befrl is imported: formulas, data and planning are
independent of `befrl.agents.bef_rlsvi`.
"""

import numpy as np
from scipy.special import expit, ndtr


class NaiveBefRlsvi:
    """The algorithm with an absolute x_k = x; `normals(d)` draws d standard normal numbers."""

    def __init__(self, bins, horizon, sigma, alpha_p, x, normals, eta=1.0):
        self.bins, self.horizon, self.sigma = bins, horizon, sigma
        self.alpha_p, self.x, self.normals, self.eta = alpha_p, x, normals, eta
        self.d = 2 * bins
        self.phi, self.psi, self.rewards = np.zeros((0, self.d)), np.zeros(0), np.zeros(0)
        self.theta_p, self.theta_r = np.zeros(self.d), np.zeros(self.d)

    def cell(self, s):
        return min(int(s * self.bins), self.bins - 1)

    def features(self, cell, action):
        phi = np.zeros(self.d)
        phi[2 * cell + action] = 1.0
        return phi

    def plan(self):
        """Perturb the reward's estimate once and plan: policy (H, bins) and V_1 (bins,)."""
        gram = self.eta / self.alpha_p * np.eye(self.d) + self.phi.T @ self.phi
        xi = np.sqrt(self.x) * np.linalg.solve(np.linalg.cholesky(gram).T, self.normals(self.d))
        R = expit(self.theta_r + xi).reshape(self.bins, 2)
        P = cell_masses(self.theta_p, self.bins, self.sigma).reshape(self.bins, 2, self.bins)
        policy, V = np.zeros((self.horizon, self.bins), dtype=int), np.zeros(self.bins)
        for h in reversed(range(self.horizon)):
            Q = R + P @ V
            policy[h], V = Q.argmax(1), Q.max(1)
        return policy, V

    def episode(self, env, seed=None):
        """Plan, play an episode in a Gymnasium environment, and refit both estimates; return V_1 and the actions."""
        policy, V = self.plan()
        s, _ = env.reset(seed=seed)
        phi, psi, rewards, actions = [], [], [], []
        for h in range(self.horizon):
            cell = self.cell(s[0])
            actions.append(policy[h, cell])
            phi.append(self.features(cell, actions[-1]))
            s, reward, *_ = env.step(actions[-1])
            psi.append((s[0] - 0.5) / self.sigma)
            rewards.append(reward)
        self.phi = np.concatenate([self.phi, phi])
        self.psi = np.concatenate([self.psi, psi])
        self.rewards = np.concatenate([self.rewards, rewards])
        half = 0.5 / self.sigma
        self.theta_p = fit(lambda c: truncated_normal(c, half), self.phi, self.psi, self.eta, self.theta_p)
        self.theta_r = fit(bernoulli, self.phi, self.rewards, self.eta, self.theta_r)
        return V, actions


def fit(law, phi, targets, eta, theta):
    """Newton's method for  sum_t Z(phi_t . theta) - targets_t phi_t . theta + eta/2 |theta|^2."""

    def loss(theta):
        c = phi @ theta
        return (law(c)[0] - targets * c).sum() + eta / 2 * theta @ theta

    for _ in range(100):
        _, mean, variance = law(phi @ theta)
        gradient = phi.T @ (mean - targets) + eta * theta
        step = np.linalg.solve(phi.T @ (variance[:, None] * phi) + eta * np.eye(len(theta)), gradient)
        if np.abs(step).max() < 1e-10:
            return theta - step
        size = 1.0
        while loss(theta - size * step) > loss(theta) + 1e-9 and size > 1e-6:
            size /= 2
        theta = theta - size * step
    raise RuntimeError("Newton's method did not converge")


def bernoulli(c):
    """Z, mean and variance of a Bernoulli variable with log-odds c."""
    mean = expit(c)
    return np.logaddexp(0.0, c), mean, mean * (1 - mean)


def truncated_normal(c, half):
    """Z, mean and variance of N(c, 1) cut to [-half, half]; computed for |c|, where the tails do not cancel."""
    sign, c = np.where(c < 0, -1.0, 1.0), np.abs(c)
    low, high = -half - c, half - c
    mass = ndtr(high) - ndtr(low)
    f_low, f_high = (np.exp(-x * x / 2) / np.sqrt(2 * np.pi) / mass for x in (low, high))
    variance = 1 + low * f_low - high * f_high - (f_low - f_high) ** 2
    return c * c / 2 + np.log(mass), sign * (c + f_low - f_high), variance


def cell_masses(c, bins, sigma):
    """The probability of each bin under N(c, 1) cut to [0, 1] in the units of psi, (d,) -> (d, bins)."""
    cuts = (np.arange(bins + 1) / bins - 0.5) / sigma
    cdf = ndtr(cuts - np.abs(c)[:, None])
    mass = np.diff(cdf) / (cdf[:, -1:] - cdf[:, :1])
    return np.where(c[:, None] < 0, mass[:, ::-1], mass)
