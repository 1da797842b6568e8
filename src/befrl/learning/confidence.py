"""The confidence set |theta* - theta^|_H <= rho of the penalised likelihood, and optimistic mean rewards.

    rho = sqrt(2 beta_n),   beta_n = eta/2 B_A^2 + log(2 C_n/delta),   C_n = det(I + beta/eta A^-1 sum G)

It holds with probability 1 - delta, to second order in theta* - theta^ (Chowdhury, Gopalan, Maillard 2021). H is the
Hessian at the estimate theta^, eta the weight of the penalty and beta an upper bound on Cov psi.
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
    """Mean rewards min(1, Z_r'(theta^_r . x + multiple rho |x|_{H_r^-1})), (n, N, A); in track K the true ones."""
    model = problem.model
    if reward.known:
        return model.mean_reward(reward.theta)
    rho = multiple * radius(problem, counts, problem.constants["beta_r"], reward.eta, delta)
    width = np.sqrt((model.features.spread(reward.hessian) * model.BB).sum((-1, -2)))
    c = model.reward_natural(reward.theta) + rho[:, None, None] * width
    return np.minimum(1.0, model.reward.mean(c))
