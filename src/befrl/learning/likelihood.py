"""The penalised negative log-likelihoods of transitions and rewards, with gradients and Hessians.

With counts N_sa, sums S_sa of psi(s') and R_sa of r on the anchors, v_sa = U theta and c_sa = B . U theta,

    L_p(theta) = sum_sa [ N_sa Z(v_sa) - v_sa . S_sa ] + eta/2 |theta|_A^2
    L_r(theta) = sum_sa [ N_sa Z_r(c_sa) - c_sa R_sa ]     + eta/2 |theta|_A^2.

The penalty is the squared norm: with the norm itself, as printed, the score equations do not follow.

Where features are smooth, counts are sums of Lagrange weights, some of them negative. Far from the data's parameters,
where the interpolation fails, the loss need not be convex. The Hessian is then replaced by a positive definite one of
the same size, so that Newton's method still descends and agents can draw from it.
"""

import numpy as np

from befrl.numerics import linalg


def penalty(features, eta, theta):
    """eta/2 |theta|_A^2 (n,) and its gradient (n, d), for one eta or one for each row."""
    pull = np.reshape(eta, (-1, 1)) * features.penalty_gradient(theta)
    return 0.5 * (theta * pull).sum(-1), pull


def prior(features, n, eta):
    """The Hessian eta A of the penalty, that of no data, (n, blocks, m, m)."""
    return np.broadcast_to(np.reshape(eta, (-1, 1, 1, 1)) * features.trace, (n, *features.trace.shape))


def transitions(model, data, eta, theta, rows=slice(None)):
    """L_p (k,), its gradient (k, d) and its Hessian blocks for theta (k, d) of the k `rows`; eta is of all rows."""
    features, counts, sum_psi = model.features, data.counts[rows], data.sum_psi[rows]
    eta = eta if np.ndim(eta) == 0 else eta[rows]
    natural = features.natural(theta)
    Z, mean, cov = model.family.moments(natural)
    size, pull = penalty(features, eta, theta)
    value = (counts * Z - (natural * sum_psi).sum(-1)).sum((-1, -2)) + size
    gradient = features.pull(counts[..., None] * mean - sum_psi) + pull
    hessian = features.sandwich(counts[..., None, None] * cov, diagonal=model.family.diagonal)
    return value, gradient, _convex(model, features.plus_trace(hessian, eta))


def rewards(model, data, eta, theta, rows=slice(None)):
    """L_r (k,), its gradient (k, d) and its Hessian blocks; the family is one-dimensional in c."""
    features, counts, sum_reward = model.features, data.counts[rows], data.sum_reward[rows]
    eta = eta if np.ndim(eta) == 0 else eta[rows]
    c = model.reward_natural(theta)
    Z, mean, variance = model.reward.moments(c)
    size, pull = penalty(features, eta, theta)
    value = (counts * Z - c * sum_reward).sum((-1, -2)) + size
    gradient = features.pull((counts * mean - sum_reward)[..., None] * model.B) + pull
    hessian = features.sandwich((counts * variance)[..., None, None] * model.BB, diagonal=model.one_component)
    return value, gradient, _convex(model, features.plus_trace(hessian, eta))


def _convex(model, hessian):
    return linalg.positive(hessian) if model.smooth else hessian
