"""Derivatives by Cauchy's integral, and roots of functions that need not be monotone."""

import numpy as np

CIRCLE = 32  # points on Cauchy's circle; the error falls like pi^-32


def directional_derivatives(T, log_weights, theta, directions):
    """First and second derivatives of Z(theta) = log sum_x exp(T(x)'theta + log_weights(x)) along directions.

    Cauchy's integral over |z| = rho for f(z) = Z(theta + z v):

        f'(0) = mean of f(z)/z,    f''(0) = 2 mean of f(z)/z^2.

    For |z| <= rho = 1/(spread of T'v) the sum has no zero, so the rule converges geometrically; no formula for
    a moment is used. T (G, d), directions (m, d) -> two arrays (m,).
    """
    logits = T @ theta + log_weights
    mass = np.exp(logits - logits.max())
    mass /= mass.sum()
    S = directions @ T.T  # (m, G)
    middle = (S.max(-1) + S.min(-1)) / 2
    S = S - middle[:, None]
    spread = np.maximum(2 * np.abs(S).max(-1), 1e-300)
    circle = np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)
    # (CIRCLE, m), with z in units of 1/spread
    f = np.log(np.exp(circle[:, None, None] * (S / spread[:, None])) @ mass)
    first = middle + spread * (f / circle[:, None]).real.mean(0)
    second = spread**2 * 2 * (f / circle[:, None] ** 2).real.mean(0)
    return first, second


def nearest_to(target, function, points, rounds=6):
    """The point between points[0] and points[-1] where a continuous function comes nearest to `target`.

    Returns (point, |function - target|). If the function crosses the target, the first crossing is refined down
    to rounding error; otherwise the nearest grid point is refined.
    """
    for _ in range(rounds):
        difference = function(points) - target
        crossings = np.flatnonzero(np.signbit(difference[:-1]) != np.signbit(difference[1:]))
        best = int(np.abs(difference).argmin())
        result = points[best], abs(difference[best])
        if difference[best] == 0.0:
            break
        low, high = (crossings[0], crossings[0] + 1) if len(crossings) else (best - 1, best + 1)
        points = np.linspace(points[max(low, 0)], points[min(high, len(points) - 1)], 65)
    return float(result[0]), float(result[1])
