"""Table 1 of the paper against the sources: powers in the rates, and tests of what makes a step explicit."""

import functools
import itertools
import math
import re
from collections import Counter
from fractions import Fraction

import numpy as np
from scipy.special import softmax

from befrl.common import printed

# The rate of each row as printed, for linear models where there are two, and the marks of exploration and planning.
PRINTED = {
    name: (row.rate.split(",")[0], row.tractable_exploration == "yes", row.tractable_planning == "yes")
    for name, row in printed.PRINTED.items()
}
# The bounds as their sources state them; that of BEF-RLSVI is the leading term of Theorem 1.
SOURCES = {
    "ren-ts": "H d sqrt(T)",
    "exp-ucrl": "d sqrt(H^3 T)",
    "smrl": "d sqrt(H^3 T)",
    "ucrl-vtr": "d sqrt(H^3 T)",
    "lsvi-phe": "sqrt(d^3 H^3 T)",
    "uc-matrixrl": "H^2 d sqrt(T)",
    "opt-rlsvi": "H^2 d^2 sqrt(T)",
    "bef-rlsvi": "H sqrt(d^3 T)",
}
# What an algorithm explores with, and its transitions.
EXPLORES = {
    "ren-ts": "posterior of a linear mean",
    "exp-ucrl": "exponential family",
    "smrl": "exponential family",
    "ucrl-vtr": "mixture",
    "lsvi-phe": "normal noise",
    "uc-matrixrl": "factors",
    "opt-rlsvi": "normal noise",
    "bef-rlsvi": "normal noise",
}
TRANSITIONS = EXPLORES | {
    "ren-ts": "linear mean", "lsvi-phe": "mixture", "opt-rlsvi": "factors", "bef-rlsvi": "exponential family"
}  # fmt: skip
SMALL = 1e-9  # a difference that counts as 0
CUT = 1e-6  # singular values below this share of the largest one do not count


def powers(rate, steps="KH"):
    """The powers of d, H and K in a rate such as 'H sqrt(d^3 T)', where T stands for the product of `steps`."""
    inside, found = " ".join(re.findall(r"sqrt\((.*?)\)", rate)), Counter()
    for part, weight in ((re.sub(r"sqrt\(.*?\)", "", rate), 1), (inside, Fraction(1, 2))):
        for letter, power in re.findall(r"([dHKT])(?:\^(\d+))?", part):
            for each in steps if letter == "T" else letter:
                found[each] += int(power or 1) * weight
    return dict(found)


def squared(row, case):
    """The square of the printed rate of a row at d, H and K, exactly."""
    return math.prod(Fraction(case[letter]) ** int(2 * power) for letter, power in powers(PRINTED[row][0]).items())


def quotient(case, stages):
    """The square of the bound of BEF-RLSVI over that of the lower bound for tabular MDPs, exactly.

    The parameters are counted: one for each (s, a, s') and, if transitions change with the step, for each step.
    """
    S, A, H = (range(case[letter]) for letter in "SAH")
    d = sum(1 for _ in itertools.product(H if stages else (0,), S, A, S))
    lower = case["H"] ** (3 if stages else 2) * case["S"] * case["A"] * case["K"]
    return squared("bef-rlsvi", case | {"d": d}) / lower


def transition_terms(case, eta):
    """The squares of 2 H sqrt(2 beta/alpha beta(N, delta) N gamma), and of that of EXP-UCRL, with (1 + beta B H/eta).

    At eta, or each at its best eta if it is None; with alpha = beta = B = B_A = 1, N = HK and delta = 0.05.
    """
    eta = np.geomspace(1e-4, 1e8, 400) if eta is None else eta
    gamma = case["d"] * np.log1p(case["H"] * case["K"] / eta)
    ours = 8.0 * case["H"] ** 3 * case["K"] * (eta / 2 + gamma + np.log(20)) * gamma
    return np.min(ours), np.min(ours * (1 + case["H"] / eta))


@functools.lru_cache(1)
def measured_marks(seed, trials):
    """{column: {row: whether it is tractable}} by the tests, on random instances."""
    rng = np.random.default_rng(seed)
    explicit, separate = dict.fromkeys(EXPLORES.values(), True), dict.fromkeys(TRANSITIONS.values(), True)
    for _ in range(trials):
        explicit = {kind: found and _curvature(rng, kind) < SMALL for kind, found in explicit.items()}
    for _ in range(1 + trials // 20):
        separate = {kind: found and _separates(rng, kind) for kind, found in separate.items()}
    return {
        "exploration": {row: explicit[kind] for row, kind in EXPLORES.items()},
        "planning": {row: separate[kind] for row, kind in TRANSITIONS.items()},
    }


def _curvature(rng, kind):
    """How far a function of the parameter is, on a random line, from what one linear system solves.

    An expected value has to be linear, for its maximum over an ellipsoid to be that of a linear function; the logarithm
    of a density quadratic, for a draw to be one of a normal law. The result is a share of the function's range.
    """
    V, theta = rng.uniform(0, 1, 8), rng.standard_normal(3) + np.arange(7)[:, None] * rng.standard_normal(3)
    if kind == "mixture":
        values, order = theta @ (rng.dirichlet(np.ones(8), 3) @ V), 2
    elif kind == "factors":
        left, right = rng.standard_normal((2, 3)), rng.standard_normal((3, 8))
        values, order = (theta[:, None] * left) @ (right @ V) @ rng.standard_normal(2), 2
    elif kind == "exponential family":
        values, order = softmax(theta @ rng.standard_normal((3, 8)), axis=1) @ V, 2
    elif kind == "posterior of a linear mean":
        residuals = rng.standard_normal(10) - theta @ rng.standard_normal((3, 10))
        values, order = -np.square(residuals).sum(1) / 2 - np.square(theta).sum(1) / 2, 3
    else:
        values, order = -np.square(theta @ rng.standard_normal((3, 3))).sum(1) / 2, 3
    return np.abs(np.diff(values, order)).max() / np.ptp(values)


def _separates(rng, kind):
    """Whether the rank of the transition matrix, up to CUT, stays the same as the number of states doubles."""
    seed = rng.integers(2**31)
    small, large = (_rank(np.random.default_rng(seed), kind, n) for n in (40, 80))
    return large <= small + 3


def _rank(rng, kind, n):
    slopes, x = rng.uniform(-1, 1, (2, 3)), np.linspace(-3, 3, n)
    s = rng.uniform(-1, 1, n)
    if kind == "mixture":  # of three arbitrary kernels
        P = np.tensordot(rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(n), (3, n)), 1)
    elif kind == "factors":
        P = rng.dirichlet(np.ones(4), n) @ rng.dirichlet(np.ones(n), 4)
    elif kind == "linear mean":
        P = np.exp(-np.square(x - slopes[0, 0] * s[:, None]) / 2)
    else:
        P = softmax(np.stack([np.ones(n), s, s**2], 1) @ slopes.T @ np.stack([x, -(x**2)]), axis=1)
    values = np.linalg.svd(P, compute_uv=False)
    return int((values > CUT * values[0]).sum())
