"""The inverse CDF within a panel, from the density at its Gauss-Legendre nodes."""

from functools import cache

import numpy as np

from befrl.model.spaces import lagrange_coefficients

CLOSE = 1e-8  # last Newton step of an inverse CDF, in units of half a panel


@cache
def _density_powers(order):
    """The coefficients of the powers of t, (order, nodes), in the Lagrange polynomials of the Gauss-Legendre nodes."""
    return np.stack([np.polynomial.legendre.leg2poly(row) for row in lagrange_coefficients(order)], axis=-1)


def invert_panel(heights, share, rounds=60):
    """The t in [-1, 1] with CDF(t) = share, for a density of mean 1 given at Gauss-Legendre nodes, (n, order).

    Newton's method, with bisection where it leaves the bracket. A row's bits do not depend on the other rows.
    """
    order = heights.shape[1]
    density = (heights[:, None] * _density_powers(order)).sum(-1) / 2.0
    integral = np.concatenate([np.zeros((len(share), 1)), density / np.arange(1, order + 1)], axis=1)
    integral[:, 0] = -(integral * (-1.0) ** np.arange(order + 1)).sum(-1) - share  # zero at t = -1
    low, high = -np.ones(len(share)), np.ones(len(share))
    t = 2.0 * share - 1.0
    powers = np.empty(integral.shape)
    moving = np.ones(len(share), dtype=bool)
    for _ in range(rounds):
        powers[:, 0] = 1.0
        powers[:, 1:] = t[:, None]
        np.multiply.accumulate(powers, axis=1, out=powers)
        gap = np.vecdot(powers, integral)
        below = gap < 0
        low, high = np.where(below, t, low), np.where(below, high, t)
        # Where the slope is zero or negative the step leaves the bracket.
        step = t - gap / np.maximum(np.vecdot(powers[:, :-1], density), 1e-300)
        step = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
        far = np.abs(step - t) > CLOSE
        t = np.where(moving, step, t)
        # Newton's error after a small step is of the order of its square.
        moving &= far
        if not moving.any():
            break
    return t
