"""Appendix C.3: concentration and anti-concentration of the exploration noise."""

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy.special import gammaincc, log_ndtr

from befrl.claims.toolbox.chances import LEVEL, upper_limit
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.search import search
from befrl.model.theorem import PHI

DRAWS = 400  # simulated noises per trial
ONE = Fraction(1)
ROOT_TWO = math.sqrt(2)
CUMULANTS = (1, 2, 8, 48)  # 2^(r-1) (r-1)!, those of the square of a standard normal


def gaussian_concentration(rng, trials, c=ROOT_TWO, least=1, d_inside=True, d_outside=True):
    """C30: With which constant c."""

    def excess(case):
        d, log_delta = max(least, round(case["d"])), -case["L"]
        log_ratio = (math.log(d) if d_inside else 0.0) - log_delta
        return _log_tail(d, c**2 * (d if d_outside else 1) * log_ratio) - log_delta

    edges = [{"d": float(d), "L": L} for d in (1, 2, 3, 10, 100, 1000) for L in (0.0, 0.01, 0.5, 2.0, 30.0, 460.0)]
    return search(rng, trials, _draw_tail, excess, edges=edges, move=_scaled)


def _draw_tail(rng):
    """A random dimension d and L = log(1/delta)."""
    return {"d": 10 ** rng.uniform(0, 3), "L": 10 ** rng.uniform(-2, 2.6)}


def _log_tail(d, square):
    """log P(z_1^2 + ... + z_d^2 > square) for standard normals."""
    if d == 1:
        return float(math.log(2) + log_ndtr(-math.sqrt(square)))
    return math.log(max(gammaincc(d / 2, square / 2), 1e-300))


def _scaled(rng, case, step):
    """The case with d and L multiplied by random factors, within the range of the grid."""
    largest = {"d": 1000.0, "L": 460.0}
    return {key: min(largest[key], value * math.exp(step * rng.standard_normal())) for key, value in case.items()}


def gaussian_anti_concentration(rng, trials, length=1.0, factor=1.0, order=2):
    """C31: P(u'xi >= 1) >= Phi(-1)."""
    bound = factor * PHI
    directions = [_direction(rng, int(rng.choice((1, 2, 3, 5, 10, 30)))) for _ in range(trials)]
    directions = [length * u / np.linalg.norm(u, order) for u in directions]
    draws = DRAWS * max(1, 100 // trials)
    hits = [int((rng.standard_normal((draws, len(u))) @ u >= 1.0).sum()) for u in directions]
    level = LEVEL / (trials + 1)
    single = bound - np.array([upper_limit(hit, draws, level) for hit in hits])
    together = bound - upper_limit(sum(hits), trials * draws, level)
    instance = {"u": directions[int(single.argmax())].tolist(), "counted": sum(hits) / (trials * draws)}
    return Evidence(max(single.max(), together), instance, "test", trials * draws)


def anti_concentration_constant(rng, trials, divisor=16, e=True, square=1):
    """C32: Phi(-1) >= 1/(4 sqrt(e pi))."""
    series = [Fraction(-square, 2) ** n / math.factorial(n) / (2 * n + 1) for n in range(31)]
    euler = sum(Fraction(1, math.factorial(n)) for n in range(30)) if e else Fraction(1)
    pi = 4 * (4 * _arctan(5) - _arctan(239))
    left = Fraction(1, 2) - _root(square / (2 * pi)) * sum(series)
    gap = _root(1 / (divisor * euler * pi)) - left
    if abs(gap) < Fraction(1, 10**18):  # the series are cut, and the roots rounded, at 1e-20 or below
        raise ArithmeticError("too close to decide")
    return Evidence(gap, {"x squared": square}, "inequality")


def _root(fraction):
    """The square root of a fraction, rounded down to 1e-20."""
    return Fraction(math.isqrt(math.floor(fraction * 10**40)), 10**20)


def _arctan(n):
    """arctan(1/n), to 1e-20."""
    return sum(Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(16))


def squared_norm_of_noise(rng, trials, law="normal", extra=0, orders=4):
    """C33: E||xi||^2_G = d x_k, and the law stated for it."""

    def gap(case):
        d, x = len(case["G"]), case["x"]
        stated = {
            "normal": [0, d * x, 0, 0],
            "shifted": [d * x, 2 * d * x**2, 0, 0],
            "chi2": [scale * (d + extra) * x ** (r + 1) for r, scale in enumerate(CUMULANTS)],
            "root": [Fraction(math.sqrt(d)) * x],
        }[law]
        pairs = zip(_cumulants(case["G"], x, orders), stated, strict=False)
        return max(abs(true - other) / max(true, other) for true, other in pairs)

    edges = [{"G": [[ONE]], "x": ONE}, {"G": [[2 * ONE, ONE], [ONE, 3 * ONE]], "x": 2 * ONE}]
    return search(rng, trials, _draw_design, gap, edges=edges, climb=False, grade="identity")


def _draw_design(rng):
    """A random positive definite matrix of fractions, of dimension 1 to 3, and a scale x."""
    d = int(rng.integers(1, 4))
    root = [[Fraction(int(rng.integers(-9, 10)), 4) for _ in range(d)] for _ in range(d)]
    G = _product(root, list(zip(*root, strict=True)))
    return {"G": [[G[i][j] + (i == j) for j in range(d)] for i in range(d)], "x": Fraction(int(rng.integers(1, 50)), 7)}


def _cumulants(G, x, orders):
    """The first cumulants of |xi|^2_G for xi ~ N(0, x G^-1)."""
    product = _product(G, [[x * entry for entry in row] for row in _inverse(G)])
    powers = itertools.accumulate([product] * orders, _product)
    return [scale * sum(row[i] for i, row in enumerate(power)) for scale, power in zip(CUMULANTS, powers, strict=False)]


def _product(a, b):
    """The product of two matrices of fractions."""
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]


def _inverse(G):
    """The inverse of a positive definite matrix of fractions, by elimination without exchanges."""
    d = len(G)
    rows = [list(row) + [Fraction(i == j) for j in range(d)] for i, row in enumerate(G)]
    for i in range(d):
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for j in range(d):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[d:] for row in rows]


def _direction(rng, d):
    """A random direction: dense, sparse, or geometrically decaying."""
    v = rng.standard_normal(d)
    shape = rng.integers(3)
    if shape == 1:
        v = np.where(np.arange(d) == rng.integers(d), v, 0.01 * v)
    return v * 0.3 ** np.arange(d) if shape == 2 else v
