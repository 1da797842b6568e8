"""The confidence set of the penalised likelihood (Chowdhury, Gopalan, Maillard 2021) and optimistic mean rewards.

    |theta* - theta^|_H <= rho = sqrt(2 beta_n),   beta_n = eta/2 B_A^2 + log(2 C_n/delta),
    C_n = det(I + beta/eta A^-1 sum G),

with probability 1 - delta, to second order in theta* - theta^: eta weighs the penalty, beta is an upper bound on Cov
psi and H the Hessian at the estimate.
"""

import numpy as np

from befrl.numerics import linalg


def log_determinant(features, counts, weight):
    """log det(I + weight A^-1 sum G), (n,), for counts (n, N, A) and weight (n,); with weight = beta/eta log C_n."""
    grown = features.plus_trace(np.reshape(weight, (-1, 1, 1, 1)) * features.design(counts), 1.0)
    return linalg.log_determinant(linalg.cholesky(grown)) - features.log_det_trace()


def radius(problem, counts, beta, eta, delta):
    """rho, (n,), for counts (n, N, A) and eta (n,)."""
    log_C = log_determinant(problem.model.features, counts, beta / eta)
    beta_n = eta / 2 * problem.constants["B_A"] ** 2 + np.log(2 / delta) + log_C
    return np.sqrt(2 * beta_n)


def optimistic_rewards(problem, reward, counts, delta, multiple):
    """min(1, Z_r'(theta^_r . x + rho_r |x|_{H_r^-1})) with rho_r = multiple * radius, (n, N, A); in track K true means.

    `reward` is the agent's `RewardLearner`.
    """
    model = problem.model
    if reward.known:
        return model.mean_reward(reward.theta)
    rho = multiple * radius(problem, counts, problem.constants["beta_r"], reward.eta, delta)
    width = np.sqrt((model.features.spread(reward.hessian) * model.BB).sum((-1, -2)))
    c = model.reward_natural(reward.theta) + rho[:, None, None] * width
    return np.minimum(1.0, model.reward.mean(c))
