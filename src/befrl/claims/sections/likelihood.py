"""Appendix F: which of the listed techniques for maximum likelihood estimate the parameter, and for which laws.

The law itself stands for unlimited data and the penalty for 0: each technique is an equation in theta, and its zero is
the limit of the estimates.
"""

import numpy as np
from scipy.optimize import brentq

from befrl.claims.toolbox.search import search

# The laws on which a technique is tried: score matching needs derivatives in s', the loss of Shah et al. a bounded
# support, and the chains of the two that sample are summed over all paths.
TRIED = {
    "likelihood": ("finite", "interval", "line"),
    "annealing": ("finite",),
    "contrastive": ("finite",),
    "shah": ("finite", "interval"),
    "score": ("interval", "line"),
}
WEIGHTS = {  # of score matching on [0, 1], and their derivatives
    "1": (lambda s: 1 + 0 * s, lambda s: 0 * s),
    "s(1-s)": (lambda s: s * (1 - s), lambda s: 1 - 2 * s),
    "1+s(1-s)": (lambda s: 1 + s * (1 - s), lambda s: 1 - 2 * s),
}
STEPS = np.geomspace(1e-3, 12, 20)  # zeros are sought at these distances from the truth


def tractable_likelihood(rng, trials, only=tuple(TRIED), support="", weight="1", centre="base", start="data"):
    """C81: Listed techniques make penalised maximum likelihood tractable in the whole family."""
    pairs = [(technique, each) for technique in only for each in TRIED[technique] if support in ("", each)]

    def error(case):
        equation, truth = _equation(case, weight, centre, start), case["theta"]
        grid = truth + np.concatenate([-STEPS[::-1], STEPS])
        values = np.array([equation(theta) for theta in grid])
        changes = np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:]))
        zeros = [brentq(equation, grid[i], grid[i + 1], xtol=1e-14) for i in changes]
        return min((abs(zero - truth) / abs(truth) for zero in zeros), default=1.0)

    edge = {"technique": "score", "support": "interval", "theta": 1.0, "psi": [1.0]}
    edges = [edge] if ("score", "interval") in pairs else []
    return search(rng, max(20, trials // 4), lambda rng: _draw_case(rng, pairs), error, edges=edges, climb=False)


def _draw_case(rng, pairs):
    """A technique and a law with one parameter: psi on atoms, or its coefficients as a polynomial without constant."""
    technique, support = pairs[int(rng.integers(len(pairs)))]
    n = int(rng.integers(2, 7)) if support == "finite" else int(rng.integers(1, 4)) if support == "interval" else 1
    psi = rng.uniform(0, 0.4, n) + 0.5 * np.arange(n) if support == "finite" else rng.uniform(0.2, 1, n)
    theta = float(rng.choice((-1, 1)) * rng.uniform(0.3, 3))
    return {"technique": technique, "support": support, "theta": theta, "psi": psi}


def _law(support, psi):
    """Points s, base weights b, psi and its two derivatives at s, and b'/b, which is -s for a normal base law."""
    if support == "finite":
        return np.arange(len(psi)), np.ones(len(psi)), np.asarray(psi), None, None, None
    polynomial = np.polynomial.Polynomial([0.0, *psi])
    if support == "line":
        s = np.linspace(-14, 14, 4001)
        base, slope = np.exp(-(s**2) / 2), -s
    else:
        nodes, weights = np.polynomial.legendre.leggauss(80)
        s, base, slope = (nodes + 1) / 2, weights / 2, 0.0
    return s, base, polynomial(s), polynomial.deriv()(s), polynomial.deriv(2)(s), slope


def _equation(case, weight, centre, start):
    """The function of theta whose zero a technique finds if the data have the law of the case."""
    technique, support = case["technique"], case["support"]
    s, base, psi, first, second, slope = _law(support, case["psi"])

    def law(theta):
        mass = base * np.exp(theta * psi - (theta * psi).max())
        return mass / mass.sum()

    data = law(case["theta"])
    if technique == "likelihood":
        return lambda theta: (data - law(theta)) @ psi
    if technique == "annealing":
        return lambda theta: (data - _annealed(psi, theta)) @ psi
    if technique == "contrastive":  # one step of a chain from the data
        begin = data if start == "data" else law(0.0)
        return lambda theta: (data - begin @ _metropolis(law(theta))) @ psi
    if technique == "shah":
        apart = psi - {"base": law(0.0) @ psi, "truth": data @ psi, "none": 0.0}[centre]
        return lambda theta: data @ (apart * np.exp(-theta * apart))
    w, dw = (f(s) for f in WEIGHTS[weight if support == "interval" else "1"])
    # the derivative in theta of E[w f^2/2 + (w f)'], with f = theta psi' + b'/b
    return lambda theta: data @ (w * first * (theta * first + slope) + w * second + dw * first)


def _metropolis(p):
    """A Metropolis step that leaves p invariant and proposes a neighbour on a ring, (n, n)."""
    n, P = len(p), np.zeros((len(p), len(p)))
    for i in range(n):
        for j in ((i - 1) % n, (i + 1) % n):
            P[i, j] += 0.5 * min(1.0, p[j] / p[i])
    return P + np.diag(1 - P.sum(1))


def _annealed(psi, theta, levels=4):
    """The weighted law of the last states of annealing from the uniform law, summed over all paths."""
    mass = np.full(len(psi), 1 / len(psi))
    for k in range(1, levels + 1):
        mass = mass * np.exp(theta * psi / levels)
        mass = mass @ _metropolis(np.exp(theta * psi * k / levels))
    return mass / mass.sum()
