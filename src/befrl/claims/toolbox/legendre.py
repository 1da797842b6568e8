"""Convex functions with their Bregman divergences, in batches, and an ascent to their convex duals."""

import numpy as np

LENGTHS = np.append(4 * 0.5 ** np.arange(14), -1.0)  # of the steps along a direction
DAMPINGS = (1e-9, 1e-3, 0.1)


class LogSumExp:
    """F(x) = log sum_j exp(t_j'x) + kappa/2 |x|^2 for a batch: t (n, m, d), kappa (n, 1), points (..., n, d)."""

    def __init__(self, t, kappa):
        self.t, self.kappa = t, kappa

    def __call__(self, x):
        logits = np.einsum("njd,...nd->...nj", self.t, x)
        return np.logaddexp.reduce(logits, -1) + (self.kappa[:, 0] / 2) * (x**2).sum(-1)

    def _chances(self, x):
        """The softmax weights of the t_j at x."""
        logits = np.einsum("njd,...nd->...nj", self.t, x)
        return np.exp(logits - np.logaddexp.reduce(logits, -1)[..., None])

    def gradient(self, x):
        """The gradient of F: the mean of the t_j, plus kappa x."""
        return np.einsum("...nj,njd->...nd", self._chances(x), self.t) + self.kappa * x

    def bregman(self, x, y):
        """B_F(x, y) = F(x) - F(y) - (x - y)' gradient F(y)."""
        return self(x) - self(y) - ((x - y) * self.gradient(y)).sum(-1)

    def newton(self, x, target):
        """Damped Newton steps from x (n, d) to where the gradient is `target`, with |kappa| for kappa: (3, n, d)."""
        p = self._chances(x)
        mean = np.einsum("nj,njd->nd", p, self.t)
        hessian = np.einsum("nj,njd,nje->nde", p, self.t, self.t) - mean[:, :, None] * mean[:, None]
        damped = [hessian + (np.abs(self.kappa)[:, :, None] + damping) * np.eye(x.shape[-1]) for damping in DAMPINGS]
        return np.linalg.solve(damped, (target - mean - self.kappa * x)[..., None])[..., 0]


def ascend(rng, objective, directions, point, rounds=40):
    """The highest points (n, d) that line searches from `point` along `directions` and at random find.

    objective: (..., n, d) -> (..., n); directions: (n, d) -> (k, n, d).
    """
    for _ in range(rounds):
        ways = np.concatenate([directions(point), rng.standard_normal((1, *point.shape))])
        tried = (point + LENGTHS[:, None, None, None] * ways).reshape(-1, *point.shape)
        tried = np.concatenate([point[None], tried])
        point = tried[objective(tried).argmax(0), np.arange(len(point))]
    return point
