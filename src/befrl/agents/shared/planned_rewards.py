"""The mean rewards that agents plan with whose papers assume them known.

Track K: the true means. Track U: an extension that none of these papers print, the same for all of them, so that they
differ in their transitions only; penalised maximum likelihood with the confidence radius of Chowdhury et al.,

    r_opt  = min(1, Z_r'( theta^_r . x + rho_r |x|_{H_r^-1} )),   H_r the Hessian of the penalised likelihood
    rho_r  = sqrt(2 beta_n),   beta_n = 1/2 B_A^2 + log(2 C_n/delta),   C_n = det(I + beta_r A^-1 sum G).

The penalty has weight 1, and delta serves transitions and rewards each, without a union bound. rho_r is multiplied by
`reward_scale` or, if there is none, by the agent's own `scale`: radii of transitions that are useful at 1e-4 of the
theory's leave no optimism about rewards, whose theory is tighter.
"""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import optional
from befrl.learning import likelihood
from befrl.numerics import linalg, newton


@dataclass(frozen=True)
class RewardParameters:
    """What the parameters of these agents begin with."""

    reward_scale: float | None = optional(0.0, 1e6, "multiple of the rewards' radius in track U; as scale if none")


class PlannedRewards:
    """`data` (`befrl.data.Data`) is the agent's: it adds an episode, then calls `update`."""

    def __init__(self, problem, parameters, data, multiple, delta):
        self.model, self.data, self.constants = problem.model, data, problem.constants
        self.multiple = multiple if parameters.reward_scale is None else parameters.reward_scale
        self.delta = delta
        self.known = problem.known_theta_r is not None
        n, d = problem.n, problem.model.d
        if self.known:
            self.theta = np.broadcast_to(problem.known_theta_r, (n, d))
            self._means = self.model.mean_reward(self.theta)
        else:
            self.theta = np.zeros((n, d))
            self.hessian = likelihood.prior(self.model.features, n, 1.0)

    def radius(self):
        """rho_r, (n,)."""
        features, beta_r = self.model.features, self.constants["beta_r"]
        grown = features.plus_trace(beta_r * features.design(self.data.counts), 1.0)
        log_C = linalg.log_determinant(linalg.cholesky(grown)) - features.log_det_trace()
        return self.multiple * np.sqrt(2 * (self.constants["B_A"] ** 2 / 2 + np.log(2 / self.delta) + log_C))

    def means(self):
        """(n, N, A) on the anchors."""
        if self.known:
            return self._means
        model = self.model
        width = np.sqrt((model.features.spread(self.hessian) * model.BB).sum((-1, -2)))
        c = model.reward_natural(self.theta) + self.radius()[:, None, None] * width
        return np.minimum(1.0, model.reward.mean(c))

    def update(self):
        if not self.known:
            self.theta, self.hessian = newton.minimise(self._loss, self.theta)

    def _loss(self, theta, rows):
        return likelihood.rewards(self.model, self.data, 1.0, theta, rows)


def on_cells(values, space):
    """Means over cells of what lives on anchors, axis 1: (n, N, ...) -> (n, cells, ...)."""
    if space.per_cell == 1:
        return values
    cut = values.reshape(len(values), space.n_cells, space.per_cell, *values.shape[2:])
    return (cut * space.cell_shares.reshape(-1, *[1] * (values.ndim - 2))).sum(2)
