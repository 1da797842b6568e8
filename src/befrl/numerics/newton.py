"""Damped Newton's method for n strictly convex problems in lock step, each with its own step length and end."""

import numpy as np

from befrl.common.errors import NotConverged
from befrl.numerics import linalg

DECREMENT = 1e-9  # squared Newton decrement at which the last step is taken; the error after it is of this order
ROUNDS = 1000  # with a tiny penalty and nearly separable data a round moves by about one unit of log-odds
SLOPE = 1e-4


def minimise(evaluate, theta):
    """Minimise each row's objective from `theta` (n, d); return theta and the Hessians before the last step.

    evaluate(theta, rows) -> value (k,), gradient (k, d), hessian (k, blocks, m, m) for theta (k, d) of the k `rows`.
    """
    found, everyone = np.empty_like(theta), np.arange(len(theta))
    # The arrays below have one entry for each of the `rows` that still move.
    rows, length = slice(None), np.ones(len(theta))
    value, gradient, hessians = evaluate(theta, rows)
    direction, decrement = step(gradient, hessians)
    for _ in range(ROUNDS):
        moving = ~(np.abs(decrement) <= DECREMENT)  # a NaN or a maximum never counts as converged
        if not moving.all():
            found[rows] = theta - direction
            if not moving.any():
                return found, hessians
            rows = everyone[rows][moving]
            parts = (theta, value, direction, decrement, length)
            theta, value, direction, decrement, length = (part[moving] for part in parts)
        trial = theta - length[:, None] * direction
        new_value, gradient, hessian = evaluate(trial, rows)
        rounding = 1e-12 * np.maximum(1.0, np.abs(value))
        accept = new_value <= value - SLOPE * length * decrement + rounding
        if accept.all():
            theta, value, length = trial, new_value, np.ones(len(trial))
            direction, decrement = step(gradient, hessian)
            hessians[rows] = hessian
            continue
        length = np.where(accept, 1.0, 0.5 * length)
        theta, value = np.where(accept[:, None], trial, theta), np.where(accept, new_value, value)
        direction[accept], decrement[accept] = step(gradient[accept], hessian[accept])
        hessians[everyone[rows][accept]] = hessian[accept]
    raise NotConverged(f"Newton's method did not converge for rows {everyone[rows].tolist()} of the group")


def step(gradient, hessian):
    """The Newton direction and the squared decrement."""
    direction = linalg.solve(hessian, gradient)
    return direction, (direction * gradient).sum(-1)
