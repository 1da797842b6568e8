"""Theorems 1 and 2 of bef-seed (docs/repair-proof.md, Sections 5 to 7) in numbers: bounds of its regret.

    b      = eta/2 B^2 + m/2 log(1 + beta T HK/(eta m)) + log(N/delta),   gamma = d log(1 + beta T HK/(eta d))
    Theorem 1   1.582 (1 + 2c) [Y + Y_r + H(H+1)/2 log(1/delta)], with probability 1 - 2 delta for all K together
    Theorem 2   (1 + 2c) (a/2 + sqrt(a^2/4 + A))^2, with probability 1 - 3 delta for each K; not for `width: interval`

Y and Y_r are those of one-hot features or, otherwise, the smaller ones of (ii) and, over EPSILONS, of (iii). These two
hold for estimates within |U theta| <= S*. K is a number or an array. Where r- and r+ lie in an interval of another
length than 1, the `span`, rewards are counted in units of it.
"""

import math
from dataclasses import dataclass

import numpy as np

TAIL = 1.582  # above 1/(1 - 1/e), the factor of the lower tail
ROOT, LINEAR = 3.147, 2.967  # of the width: ROOT sqrt(Var D) + LINEAR H D
EPSILONS = (0.0625, 0.125, 0.25, 0.5, 1.0)  # of (iii): any of them gives a bound


@dataclass(frozen=True)
class Likelihood:
    """What the theorems need to know of the likelihood of next states or of rewards."""

    one_hot: bool  # every pair (s,a) has parameters of its own
    d: int  # parameters
    m: int  # those of the largest component
    pairs: int  # (s,a), the X of one-hot features
    sets: int  # components, each with a confidence set
    trace: float  # T, a bound on tr(A^-1 G)
    B: float
    eta: float
    beta: float  # above the covariance for all parameters
    S: float  # S*, M and alpha are not used for one-hot features
    M: float
    alpha: float  # below the covariance for all |v| <= S*


def radius(source, steps, sets, delta):
    """b: no squared radius of a component is larger after so many steps."""
    grown = np.log1p(source.beta * source.trace * steps / (source.eta * source.m))
    return source.eta / 2 * source.B**2 + source.m / 2 * grown + np.log(sets / delta)


def information(source, steps):
    """gamma: no log-determinant is larger after so many steps."""
    return source.d * np.log1p(source.beta * source.trace * steps / (source.eta * source.d))


def theorem_1(states, rewards, H, K, delta, c, omega, span=1.0):
    """The bound of Theorem 1; `rewards` is None if they are known, and omega is 2 for `width: interval`, else 1."""
    sets = _number_of_sets(states, rewards)
    Y = H * _sum_of_roots(states, 2 * omega**2, 1, H, K, sets, delta)
    total = Y + _sum_for_rewards(rewards, H, K, sets, delta, span) + H * (H + 1) / 2 * math.log(1 / delta)
    return span * TAIL * (1 + 2 * c) * total


def theorem_2(states, rewards, H, K, delta, c, span=1.0):
    """The bound of Theorem 2."""
    sets, log_delta = _number_of_sets(states, rewards), math.log(1 / delta)
    b, gamma, least = radius(states, H * K, sets, delta), information(states, H * K), np.inf
    for factor, excluded in _bounds_on_divergence(states, H, b, gamma):
        if states.one_hot:
            per_episode = b * states.pairs
            total = 2 * per_episode * np.log(H * K)
        else:
            per_episode = 3 * np.maximum(1.0, factor * b)
            total = per_episode / 3 * 2 * gamma / math.log(2)
        Gamma = TAIL * (total + np.minimum(H, per_episode) * log_delta)
        Y_r = _sum_for_rewards(rewards, H, K, sets, delta, span)
        rest = TAIL * (H * excluded + Y_r + H * (H + 1) / 2 * log_delta)
        a = ROOT * np.sqrt(2 * H * Gamma)
        A = ROOT / 2 * H * np.sqrt(Gamma * K) + LINEAR * H * Gamma + rest
        least = np.minimum(least, (1 + 2 * c) * np.square(a / 2 + np.sqrt(np.square(a) / 4 + A)))
    return span * least


def _number_of_sets(states, rewards):
    """N, the number of confidence sets."""
    return states.sets + (rewards.sets if rewards else 0)


def _sum_for_rewards(source, H, K, sets, delta, span):
    """Y_r; the bad visits of one-hot features are counted in Y."""
    if source is None:
        return 0.0
    return _sum_of_roots(source, 8 * source.beta / span**2, 0 if source.one_hot else 1, H, K, sets, delta)


def _sum_of_roots(source, weight, cost, H, K, sets, delta):
    """The sum over HK visits of min{1, sqrt(weight D)}, or of `cost` where Lemma D gives no bound on D."""
    b, gamma, least = radius(source, H * K, sets, delta), information(source, H * K), np.inf
    for factor, excluded in _bounds_on_divergence(source, H, b, gamma):
        if source.one_hot:
            squared = 8 * weight * b * source.pairs
        else:
            squared = np.maximum(1.0, weight * factor * b) * 2 * gamma / math.log(2)
        least = np.minimum(least, cost * excluded + np.sqrt(squared * H * K))
    return least


def _bounds_on_divergence(source, H, b, gamma):
    """Lemma D: pairs of a factor f with D <= f b x (one-hot: b/n), and the number of visits at which this may fail."""
    if source.one_hot:
        return [(1.0, H * source.pairs)]
    bad = H * gamma / math.log(2)
    if source.M == 0:
        return [(1.0, bad)]
    rho = 1 + source.M * source.S
    found = [(source.beta * rho / source.alpha, bad)]
    for epsilon in EPSILONS:
        q = (math.expm1(epsilon) - epsilon) / (math.expm1(-epsilon) + epsilon) * math.exp(2 * epsilon)
        unsettled = H + 2 * np.maximum(1.0, 2 * rho * b * (source.M / epsilon) ** 2 / source.alpha)
        found.append((q, bad + unsettled * gamma / math.log(2)))
    return found
