"""Damped Newton's method for n strictly convex problems in lock step, each with its own step length and end.

Each round evaluates the objective once. A trial point that does not lower its objective enough halves the step of that
row alone. A row whose Newton decrement is small takes one last step and stays there, whatever the others do.
"""

import numpy as np

from befrl.common.errors import NotConverged
from befrl.numerics import linalg

# The squared Newton decrement at which the last step is taken; the error after it is of this order.
DECREMENT = 1e-9
# Generous: with a tiny penalty and nearly separable data a round moves by about one unit of log-odds.
ROUNDS = 1000
SLOPE = 1e-4


def minimise(evaluate, theta):
    """Minimise each row's objective from `theta` (n, d).

    evaluate(theta, rows) -> value (k,), gradient (k, d), hessian (k, blocks, m, m) for theta (k, d) of the k `rows`.
    Returns theta and the last Hessians evaluated, which are those at the minimum up to the last step.
    """
    theta = theta.copy()
    value, gradient, hessian = evaluate(theta, slice(None))
    direction, decrement = step(gradient, hessian)
    length = np.ones(len(theta))
    for _ in range(ROUNDS):
        # Only the rows that have not converged are evaluated again. A NaN or a maximum never counts as converged.
        rows = np.flatnonzero(~(np.abs(decrement) <= DECREMENT))
        if not len(rows):
            return theta - direction, hessian
        trial = theta[rows] - length[rows, None] * direction[rows]
        new_value, gradient, new_hessian = evaluate(trial, rows)
        old = value[rows]
        rounding = 1e-12 * np.maximum(1.0, np.abs(old))
        accept = new_value <= old - SLOPE * length[rows] * decrement[rows] + rounding
        if len(rows) == len(theta) and accept.all():
            theta, value, hessian = trial, new_value, new_hessian
            direction, decrement = step(gradient, hessian)
            length[:] = 1.0
            continue
        length[rows] = np.where(accept, 1.0, 0.5 * length[rows])
        taken = rows[accept]
        theta[taken], value[taken], hessian[taken] = trial[accept], new_value[accept], new_hessian[accept]
        direction[taken], decrement[taken] = step(gradient[accept], new_hessian[accept])
    raise NotConverged(f"Newton's method did not converge for rows {rows.tolist()} of the group")


def step(gradient, hessian):
    """The Newton direction and the squared decrement."""
    direction = linalg.solve(hessian, gradient)
    return direction, (direction * gradient).sum(-1)
