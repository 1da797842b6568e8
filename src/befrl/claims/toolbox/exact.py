"""Rational bounds of logarithms and roots, so that small counterexamples can be evaluated in exact arithmetic."""

import math
from fractions import Fraction

TERMS = 12


def log1p_bounds(x):
    """A lower and an upper bound of log(1 + x): rational and 1e-12 apart for a Fraction, twice the value for a float.

    log(1 + x) = 2 artanh(z) with z = x/(x + 2); the rest of the series is at most a geometric one.
    """
    if not isinstance(x, Fraction):
        return math.log1p(x), math.log1p(x)
    if not Fraction(-1, 2) <= x <= 1:
        big = x > 1
        (low, high), (low2, high2) = log1p_bounds((x - 1) / 2 if big else 2 * x + 1), log1p_bounds(Fraction(1))
        return (low + low2, high + high2) if big else (low - high2, high - low2)
    z = x / (x + 2)
    head = 2 * sum(z ** (2 * k + 1) / (2 * k + 1) for k in range(TERMS))
    rest = 2 * z ** (2 * TERMS + 1) / ((2 * TERMS + 1) * (1 - z * z))
    return min(head, head + rest), max(head, head + rest)


def root(x):
    """The square root; exact for the square of a Fraction."""
    if isinstance(x, Fraction):
        exact = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
        if exact * exact == x:
            return exact
    return math.sqrt(x)
