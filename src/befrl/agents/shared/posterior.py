"""Draws from the posterior of a finite MDP: gamma variables for Dirichlet laws, and normal mean rewards.

    r~(s,a) ~ N( (tau_0 mu_0 + tau sum r_i)/(tau_0 + tau N), v^2/(tau_0 + tau N) )

for the N rewards r_i of (s,a); v = 1 is the posterior of rewards with the precision tau.
"""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import number


@dataclass(frozen=True)
class RewardPrior:
    mu_0: float = number(0.0, -1e3, 1e3, "prior mean of a mean reward")
    tau_0: float = number(1.0, 1e-6, 1e6, "prior precision of a mean reward")
    tau: float = number(1.0, 1e-6, 1e6, "precision of a single reward")


def log_gamma_draws(shape, generators):
    """Logarithms of Gamma(a) = Gamma(a + 1) U^(1/a) for shapes a (n, ...), since variables of small a underflow."""
    gammas, exponentials = np.empty((2, *shape.shape))
    for row, generator in enumerate(generators):  # one for each row, since draws are by rejection
        generator.standard_gamma(shape[row] + 1.0, out=gammas[row])
        generator.standard_exponential(out=exponentials[row])
    with np.errstate(divide="ignore"):  # Gamma(0) = 0
        return np.log(gammas) - exponentials / shape  # -log U is an exponential variable


def reward_draws(agent, v, J):
    """J draws r~ (n, J, T, C, A) with v (n,), or the true means (n, 1, T, C, A) if they are known."""
    counts, p = agent.counts, agent.parameters
    if agent.R is not None:
        return np.broadcast_to(agent.R, counts.visits.shape)[:, None]
    tau_0, mu_0, tau, v = (part[:, None, None, None] for part in (p.tau_0, p.mu_0, p.tau, v))
    precision = tau_0 + tau * counts.visits
    mean = (tau_0 * mu_0 + tau * counts.rewards) / precision
    z = agent.problem.normals.take(J * precision[0].size).reshape(len(mean), J, *mean.shape[1:])
    return mean[:, None] + v[:, None] * z / np.sqrt(precision)[:, None]
