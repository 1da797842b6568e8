"""Damped Newton for n strictly convex problems in lock step, each with its own step length and its own end.

One evaluation per round. A trial point that does not lower its objective enough halves the step of that seed
alone; a seed whose Newton decrement is small takes the last step and stays put, whatever the others do.
"""

import numpy as np

from befrl import linalg

# Squared Newton decrement at which the last step is taken: the error after it is of the order of its square.
DECREMENT = 1e-9
ROUNDS = 100
SLOPE = 1e-4


class NotConverged(RuntimeError):
    """Newton's method did not reach the minimum; the message says for which seeds of the block."""


def minimise(evaluate, theta):
    """Minimise each row's objective from `theta` (n, blocks, m).

    evaluate(theta) -> value (n,), gradient (n, blocks, m), hessian (n, blocks, m, m); returns theta and the last
    Hessian evaluated, which is that of the minimum up to the last step.
    """
    value, gradient, hessian = evaluate(theta)
    direction = linalg.solve(hessian, gradient)
    decrement = (direction * gradient).sum((-1, -2))
    done = decrement <= DECREMENT
    length = np.ones(len(theta))
    for _ in range(ROUNDS):
        if done.all():
            return theta - direction, hessian
        trial = theta - length[:, None, None] * direction
        # Finished seeds are evaluated with the rest but keep their state.
        new_value, new_gradient, new_hessian = evaluate(trial)
        rounding = 1e-12 * np.maximum(1.0, np.abs(value))
        accept = (new_value <= value - SLOPE * length * decrement + rounding) & ~done
        if accept.all():
            theta, value, gradient, hessian = trial, new_value, new_gradient, new_hessian
        else:
            theta = np.where(accept[:, None, None], trial, theta)
            value = np.where(accept, new_value, value)
            gradient = np.where(accept[:, None, None], new_gradient, gradient)
            hessian = np.where(accept[:, None, None, None], new_hessian, hessian)
        length = np.where(accept, 1.0, np.where(done, length, 0.5 * length))
        direction = linalg.solve(hessian, gradient)
        decrement = (direction * gradient).sum((-1, -2))
        done |= accept & (decrement <= DECREMENT)
    raise NotConverged(f"Newton's method did not converge for rows {np.flatnonzero(~done).tolist()} of the block")
