"""Tosses of a coin with one feature: the chance that a process crosses a level, exact over all 2^TOSSES sequences.

Tables have one entry (n, h) for n tosses with h heads; entries with h > n have no meaning, and chance 0.
"""

import numpy as np
from scipy.special import xlogy

TOSSES = 120
H = np.arange(TOSSES + 1)
N = H[:, None]
TAILS = np.maximum(N - H, 0)


def log_mixture(c, x, eta):
    """log M: the mean likelihood ratio of the coin x theta to the coin c over theta ~ N(0, 1/eta), on a grid."""
    theta = np.linspace(-9, 9, 1501) / np.sqrt(eta)
    weights = np.exp(-eta * theta**2 / 2)
    ratio = [np.logaddexp(0, -s * c) - np.logaddexp(0, -s * x * theta) for s in (1, -1)]
    by_tails = np.log(np.exp(N * ratio[0]) @ (weights / weights.sum() * np.exp(N * ratio[1])).T)
    return by_tails[H, TAILS]


def log_best(heads):
    """The logarithm of the likelihood ratio of the most likely coin to the true one."""
    return xlogy(H, H / np.maximum(N, 1) / heads) + xlogy(TAILS, TAILS / np.maximum(N, 1) / (1 - heads))


def log_test(heads):
    """Minus the logarithm of the two-sided p-value, by the chances of the outcomes."""
    chances = arrivals(heads, np.zeros_like(TAILS))
    order = np.argsort(chances, 1, kind="stable")
    values = np.ones_like(chances)
    np.put_along_axis(values, order, np.take_along_axis(chances, order, 1).cumsum(1), 1)
    return -np.log(np.where(H <= N, values, 1.0))


def arrivals(heads, crossed):
    """The chances of n tosses with h heads and no crossing before the last of them."""
    found = np.zeros(TAILS.shape)
    found[0, 0] = 1.0
    for n in range(TOSSES):
        alive = np.where(crossed[n], 0.0, found[n])
        found[n + 1] = heads * np.append(0.0, alive[:-1]) + (1 - heads) * alive
    return found
