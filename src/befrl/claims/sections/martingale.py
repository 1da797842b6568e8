"""Appendix C.2, steps 1 and 3: the martingale behind the confidence regions, and the step to all k at once."""

from fractions import Fraction

import numpy as np
from scipy.special import xlogy

from befrl.claims.toolbox import laws
from befrl.claims.toolbox.search import search

# Tosses of a coin with one feature: the chance that a process crosses a level, exact over all 2^TOSSES sequences.
#
# Tables have one entry (n, h) for n tosses with h heads; entries with h > n have no meaning, and chance 0.
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


UNIT = {"kind": "gaussian", "theta": [Fraction(0)], "other": [Fraction(1)]}  # Z(c) = c^2/2, in exact arithmetic


def bregman_function(rng, trials, first="sum", second="lambda", factor=1):
    """C25: The definitions of B_{F,theta}(lambda) and the exponent in the martingale step."""

    def gap(law):
        theta, end = np.asarray(law["theta"]), np.asarray(law["other"])
        points = {"theta": theta, "lambda": end - theta, "sum": end}
        moment, bregman = _log_moment(law, theta, end), _bregman(law, points[first], points[second])
        return abs(factor * bregman - moment) / (1 + abs(moment))

    return search(rng, trials, laws.draw_law, gap, edges=[UNIT], move=laws.moved)


def _log_moment(law, theta, end):
    """log E exp(lambda'(T - E T)) under theta for lambda = end - theta, by quadrature of the density."""
    if law is UNIT:
        return (end - theta)[0] ** 2 / 2
    T, weights = laws.definition(law, theta)
    log_partition = laws.log_sum(T, weights, theta)
    mean = np.exp(T @ theta + weights - log_partition) @ T
    return laws.log_sum(*laws.definition(law, end), end) - log_partition - (end - theta) @ mean


def _bregman(law, a, b):
    """B_Z(a, b), by the package's formulas for Z and its gradient."""
    if law is UNIT:
        return (a - b)[0] ** 2 / 2
    model = laws.Model(law)
    return float(model.log_partition(a) - model.log_partition(b) - (a - b) @ model.gradient(b))


def uniform_over_time(rng, trials, event="mixture", ease=1.0, mean=False, uniform=True):
    """C29: Ville / stopping-time step: uniform over k."""

    def violation(case):
        heads, log_M = 1 / (1 + np.exp(-case["c"])), log_mixture(case["c"], case["x"], case["eta"])
        level = log_M if event == "mixture" else {"test": log_test, "best": log_best}[event](heads)
        crossed = level >= -np.log(ease * case["delta"])
        chances = arrivals(heads, crossed if uniform else np.zeros_like(crossed))
        if mean:
            crossed[-1] = True  # the last toss stops all sequences
            return abs((chances * crossed * np.exp(log_M)).sum() - 1)
        missed = (chances * crossed).sum(1)
        return float((missed.sum() if uniform else missed.max()) / case["delta"] - 1)

    edges = [{"c": c, "x": x, "eta": 0.01, "delta": 0.1} for c in (0.0, 1.0) for x in (0.3, 1.0)]
    return search(rng, max(4, trials // 20), _draw_coin, violation, edges=edges, climb=False)


def _draw_coin(rng):
    """A random coin c, its feature x, and the constants of the martingale."""
    delta = rng.uniform(0.01, 0.6)
    return {"c": rng.uniform(-3, 3), "x": 10 ** rng.uniform(-1, 0), "eta": 10 ** rng.uniform(-2, 1), "delta": delta}
