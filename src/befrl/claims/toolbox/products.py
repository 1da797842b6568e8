"""Sizes of X^-1 G for designs X = Gbar and bold A, and an example in which the operator norm is not monotone."""

from fractions import Fraction

import numpy as np


def ratios(designs, measure, bound, factor, H=8):
    """Left side / right side of C45d for all (s,a), (n, arms)."""
    A, G, Gbar, B, r = designs["A"], designs["G"], designs["Gbar"], designs["B"][:, None], designs["ratio"][:, None]
    if bound == "sum":
        return _sizes(Gbar, H * G, measure, plus_one=True) / (1 + H * B / r)
    right = _sizes(A, G, measure) if bound == "own" else B
    return _sizes(Gbar, G, measure) / (factor * right / r)


def _sizes(X, G, measure, plus_one=False):
    """Operator norms of X^-1 G or of X^-1/2 G X^-1/2, or their traces, (n, d, d) and (n, m, d, d) -> (n, m)."""
    L = np.linalg.cholesky(X)[:, None]
    inner = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, G), 2, 3))
    if measure == "trace":
        return np.trace(inner, axis1=2, axis2=3)
    product = inner if measure == "symmetric" else np.linalg.solve(X[:, None], G)
    return np.linalg.norm(product + plus_one * np.eye(X.shape[-1]), 2, axis=(2, 3))


def example():
    """The example in the form of `draw_designs`."""
    A, past, *vectors = (each.astype(float) for each in _matrices())
    a = np.array(vectors)[None, :, :, None]
    G = a @ np.swapaxes(a, 2, 3)
    B = np.linalg.norm(np.linalg.solve(A, G), 2, axis=(2, 3)).max(1)
    return {"a": a, "A": A[None], "G": G, "B": B, "ratio": np.ones(1), "Gbar": (A + past)[None]}


def exact_example(measure, bound, factor):
    """The square of left/right minus 1 at the example, and its case; G has rank one: norms are products of lengths."""
    A, past, g, other = _matrices()
    quadratic = measure in ("trace", "symmetric")

    def squared(X, g, quadratic):
        solved = np.array([[X[1, 1], -X[0, 1]], [-X[1, 0], X[0, 0]]]) @ g / (X[0, 0] * X[1, 1] - X[0, 1] * X[1, 0])
        return (g @ solved) ** 2 if quadratic else (g @ g) * (solved @ solved)

    right = squared(A, g, quadratic) if bound == "own" else max(squared(A, each, False) for each in (g, other))
    case = {"A_1": "(1/16, 0)", "A_2": "(1, 1)", "phi": "(1, 1)", "visits of phi' = (0, 1)": 3, "eta/alpha": 1}
    return squared(A + past, g, quadratic) / (Fraction(factor) ** 2 * right) - 1, case


def _matrices():
    """Bold A, the sum of G over three visits of phi' = (0, 1), and the vectors a of phi = (1, 1) and of phi'."""
    rows = np.array([[Fraction(1, 16), Fraction(0)], [Fraction(1), Fraction(1)]])  # A_1, A_2
    g, other = rows @ np.array([1, 1]), rows @ np.array([0, 1])
    return rows @ rows.T, 3 * np.outer(other, other), g, other
