"""The penalised negative log-likelihoods of transitions and rewards, with gradients and Hessians.

With counts N_sa, sums S_sa of psi(s') and R_sa of r on the anchors, v_sa = U theta and c_sa = B . U theta,

    L_p(theta) = sum_sa [ N_sa Z(v_sa) - v_sa . S_sa ] + eta/2 |theta|_A^2
    L_r(theta) = sum_sa [ N_sa Z_r(c_sa) - c_sa R_sa ] + eta/2 |theta|_A^2.

The penalty is the squared norm: with the norm itself, as printed, the score equations do not follow. Where features are
smooth, some counts are negative (`data.py`), and the loss need not be convex. The Hessian is then replaced by a
positive definite one of the same size, so that Newton's method still descends and agents can draw from it.
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
    counts, sum_psi, natural = data.counts[rows], data.sum_psi[rows], model.features.natural(theta)
    Z, mean, cov = model.family.moments(natural)
    value = (counts * Z - (natural * sum_psi).sum(-1)).sum((-1, -2))
    slope, curvature = counts[..., None] * mean - sum_psi, counts[..., None, None] * cov
    return _penalised(model, eta, theta, rows, value, slope, curvature, model.family.diagonal)


def rewards(model, data, eta, theta, rows=slice(None)):
    """L_r (k,), its gradient (k, d) and its Hessian blocks; the family is one-dimensional in c."""
    counts, sum_reward, c = data.counts[rows], data.sum_reward[rows], model.reward_natural(theta)
    Z, mean, variance = model.reward.moments(c)
    value = (counts * Z - c * sum_reward).sum((-1, -2))
    slope = (counts * mean - sum_reward)[..., None] * model.B
    curvature = (counts * variance)[..., None, None] * model.BB
    return _penalised(model, eta, theta, rows, value, slope, curvature, model.one_component)


def _penalised(model, eta, theta, rows, value, slope, curvature, diagonal):
    """The loss with its penalty, from slopes (k, N, A, p) and curvatures (k, N, A, p, p) in v_sa."""
    features, eta = model.features, eta if np.ndim(eta) == 0 else eta[rows]
    size, pull = penalty(features, eta, theta)
    hessian = features.plus_trace(features.sandwich(curvature, diagonal=diagonal), eta)
    return value + size, features.pull(slope) + pull, linalg.positive(hessian) if model.smooth else hessian
