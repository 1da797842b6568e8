"""Preconditioned Metropolis-adjusted Langevin steps (MALA; Roberts, Tweedie 1996) for the density exp(-loss/v^2).

    y = x - tau^2/2 H^-1 grad loss(x) + tau v H^-1/2 z,   z ~ N(0, I)
    accepted with probability min(1, exp( (loss(x) - loss(y))/v^2 ) q(x|y)/q(y|x) )

Here q is the proposal density, tau = STEP d^-1/6, and H any positive definite matrix, ideally the Hessian at the mode.
"""

import numpy as np

from befrl.numerics import linalg

STEP = 1.2


def mala(loss, x, hessian, v, steps, normals, uniforms):
    """x (n, d) after `steps` steps, with v (n,); loss(x) -> value (n,), gradient (n, d), ...; rows with v = 0 stay."""
    factor = linalg.cholesky(hessian)
    tau = STEP * x.shape[1] ** (-1 / 6)

    def value_and_drift(x):
        value, gradient = loss(x)[:2]
        return value, tau**2 / 2 * linalg.solve(hessian, gradient)

    value, drift = value_and_drift(x)
    for _ in range(steps):
        z = normals.take(x.shape[1])
        y = x - drift + tau * v[:, None] * linalg.solve_transposed_factor(factor, z)
        new_value, new_drift = value_and_drift(y)
        back = linalg.quadratic(hessian, x - y + new_drift) / tau**2
        # The logarithm of the acceptance ratio times v^2, which is finite at v = 0.
        scaled = value - new_value + 0.5 * (np.square(v) * np.square(z).sum(-1) - back)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_ratio = scaled / np.square(v)
        accept = (uniforms.take(1)[:, 0] < np.exp(np.minimum(log_ratio, 0.0))) & (v > 0)
        value = np.where(accept, new_value, value)
        x, drift = np.where(accept[:, None], y, x), np.where(accept[:, None], new_drift, drift)
    return x
