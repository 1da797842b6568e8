"""Penalised maximum likelihood of theta_r."""

import numpy as np

from befrl.learning import likelihood
from befrl.numerics import linalg, newton


class RewardLearner:
    """The estimate `theta` (n, d) and the `hessian` (n, blocks, m, m) of its loss; if `known`, the true theta."""

    def __init__(self, problem, eta):
        model, n = problem.model, problem.n
        self.model, self.eta = model, np.broadcast_to(np.asarray(eta, dtype=float), (n,))
        self.known = problem.known_theta_r is not None
        if self.known:
            self.theta = np.broadcast_to(problem.known_theta_r, (n, model.d))
        else:
            self.theta = np.zeros((n, model.d))
            self.hessian = likelihood.prior(model.features, n, eta)

    def update(self, data):
        """Refit to the statistics of all episodes (`Data`)."""
        if self.known:
            return

        def loss(theta, rows):
            return likelihood.rewards(self.model, data, self.eta, theta, rows)

        self.theta, self.hessian = newton.minimise(loss, self.theta)

    def draw(self, v, normals):
        """A draw from the Laplace posterior N(theta, v^2 H^-1), (n, d); theta itself if it is known."""
        if self.known:
            return self.theta
        return linalg.laplace_draw(self.theta, self.hessian, v, normals)
