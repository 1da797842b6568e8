"""Backward induction in a model: Q (n, H, N, A) and V (n, H + 1, N) from R (n, N, A) and theta (n, d).

Where features vary within cells, cells with equal features are planned as one (`Model.coarse`), so that R must be a
function of the features, and rows are taken in groups whose tables fit into the processor's cache. Each row is computed
by itself, so that its bits do not depend on the groups.
"""

import numpy as np

from befrl.numerics import bellman

GROUP = 1 << 16  # numbers in the tables of a group of rows: half a megabyte


def backward_induction(model, R, theta_p, horizon):
    """The optimal values of mean rewards R under the kernel of theta_p."""
    if not model.smooth:
        return bellman.backward_induction(R, model.kernel(theta_p), horizon)

    def step(model, R, rows):
        expected = model.family.expectation(by_action(model, theta_p[rows]))
        return lambda h, V: R + expected(V).swapaxes(1, 2)

    return by_groups(model, R, horizon, step)


def by_action(model, theta_p):
    """The natural parameters with actions first, (n, A, N, p)."""
    return np.ascontiguousarray(model.features.natural(theta_p).swapaxes(1, 2))


def by_groups(model, R, horizon, step_of):
    """The recursion of the step `step_of(coarse model, R, rows)`, which maps h and V (k, N) to Q (k, N, A)."""
    coarse, anchor = model.coarse
    R = R[:, np.unique(anchor, return_index=True)[1]]
    # With actions first the sums run over contiguous memory, as those of the recursion do.
    R = np.ascontiguousarray(R.transpose(2, 0, 1)).transpose(1, 2, 0)
    n, N, A = R.shape
    Q, V = bellman.tables(horizon, R.shape)
    size = max(2, GROUP // (N * A * N))
    for first in range(0, n, size):
        rows = slice(first, first + size)
        bellman.recursion(step_of(coarse, R[rows], rows), horizon, R[rows].shape, out=(Q[rows], V[rows]))
    if coarse is model:
        return Q, V
    return Q.transpose(1, 3, 0, 2)[..., anchor].transpose(2, 0, 3, 1), V[..., anchor]
