"""Dynamic programming on anchors: Q_h = R + P V_{h+1}, V_h = max_a Q_h, V_{H+1} = 0, P(next anchor | anchor, action).

Products are taken seed by seed, never across seeds: a seed's bits do not depend on its group.
"""

import numpy as np

# Up to this many states, Fortran order (rows last) is faster. The number of rows must not decide: bits would differ.
FEW = 12
GROUP = 1 << 15  # numbers in the tables of a group of rows in `evaluate`, which fit into the processor's cache
TIE = 1e-12  # actions whose values differ by less than this relative amount count as equal


def largest(Q):
    """The maximum over the last axis; actions are few, and a loop over them is faster than a reduction."""
    best = Q[..., 0]
    for a in range(1, Q.shape[-1]):
        best = np.maximum(best, Q[..., a])
    return best


def greedy(Q):
    """The argmax over the last axis; among actions that are equal up to rounding, the smallest."""
    best = Q[..., 0]
    action = np.zeros_like(best, dtype=np.int8)
    for a in range(1, Q.shape[-1]):
        bar = np.abs(best)
        bar += 1.0
        bar *= TIE
        bar += best
        better = Q[..., a] > bar
        # A later action that is better has the larger number.
        action = np.maximum(action, better.view(np.int8) * np.int8(a))
        best = np.maximum(best, Q[..., a])
    return np.ascontiguousarray(action)


def cell_policy(Q, space):
    """The greedy action of each cell for the mean of Q over its anchors, (..., N, A) -> (..., C)."""
    return greedy(space.cell_means(Q))


def tables(horizon, shape):
    """Empty Q (n, H, S, A) and zero V (n, H + 1, S) for shape = (n, S, A); in memory steps come first, then actions."""
    n, S, A = shape
    if S <= FEW:
        Q = np.empty((horizon, A, S, n)).transpose(3, 0, 2, 1)
    else:
        Q = np.empty((horizon, A, n, S)).transpose(2, 0, 3, 1)
    return Q, np.zeros((horizon + 1, n, S)).swapaxes(0, 1)


def ordered(table):
    """A table (..., n, S, A) in the memory order of `recursion`, so that each step works on contiguous memory."""
    if table.shape[-2] > FEW:
        return table
    return np.ascontiguousarray(table.swapaxes(-1, -3)).swapaxes(-1, -3)


def recursion(step, horizon, shape, value=largest, out=None):
    """Q (n, H, S, A), V (n, H + 1, S) of Q_h = step(h, V_{h+1}), V_h = value(Q_h), V_{H+1} = 0; shape = (n, S, A)."""
    found = out or tables(horizon, shape)
    Q, V = (table.swapaxes(0, 1) for table in found)
    for h in reversed(range(horizon)):
        Q[h] = step(h, V[h + 1])
        V[h] = value(Q[h])
    return found


def expectation(P):
    """The linear map V (n, m) -> P V (n, S, A) of the rows P (n, S, A, m)."""
    n, S, A, m = P.shape
    if m <= FEW:
        P = np.asfortranarray(P)
        return lambda V: np.einsum("nsam,nm->nsa", P, np.asfortranarray(V), out=np.empty((n, S, A), order="F"))
    rows = P.reshape(n, S * A, m)
    return lambda V: (rows @ V[..., None]).reshape(n, S, A)


def functions(n, S, k):
    """Zeros (n, S, k), k functions of the state; in memory rows come last if there are few states, else states do."""
    return np.zeros((k, S, n)).T if S <= FEW else np.zeros((n, k, S)).swapaxes(1, 2)


def expectations(P):
    """The linear map V (n, m, k) -> P V (n, S, A, k) of the rows P (n, S, A, m), in the memory order of `functions`."""
    n, S, A, m = P.shape
    if S <= FEW:
        P = np.asfortranarray(P)
        return lambda V: np.einsum("nsam,nmk->nsak", P, V, out=np.empty((n, S, A, V.shape[-1]), order="F"))
    rows = P.reshape(n, S * A, m)
    return lambda V: np.moveaxis(by_function(V, rows).swapaxes(1, 2).reshape(n, -1, S, A), 1, -1)


def by_function(V, table):
    """table (n, rows, m) times V (n, m, k), (n, rows, k), in the memory order (n, k, rows)."""
    # This order of the factors is twice as fast as the other one, even with a copy into the other memory order.
    product = table @ np.ascontiguousarray(V)
    return np.ascontiguousarray(product.swapaxes(1, 2)).swapaxes(1, 2)


def variance(P):
    """The map (V, PV) -> sum_m P (V_m - PV)^2 (n, S, A) of the rows P; exact zeros, which P V^2 - (PV)^2 rounds off."""
    n, S, A, m = P.shape
    few = m <= FEW
    P = np.asfortranarray(P) if few else P

    def squares(V, mean):
        apart = (np.asfortranarray(V) if few else V)[:, None, None] - mean[..., None]
        apart *= apart
        return np.einsum("nsam,nsam->nsa", P, apart, out=np.empty((n, S, A), order="F" if few else "C"))

    return squares


def previous_backup(P, last, step, value=largest):
    """Q (n, H, S, A), V (n, H + 1, S): Q_h = step(P V_{h+1}) with V of the last plan (H + 1, n, S), all h at once."""
    n, S, A, _ = P.shape
    horizon = len(last) - 1
    if S <= FEW:
        # Rows come last in memory, as in `recursion`.
        following = np.ascontiguousarray(last[1:].transpose(0, 2, 1)).transpose(0, 2, 1)
        expected = np.empty((horizon, A, S, n)).transpose(0, 3, 2, 1)
        np.einsum("nsam,hnm->hnsa", np.asfortranarray(P), following, out=expected)
    else:
        expected = np.stack(list(map(expectation(P), last[1:])))
    Q = step(expected)
    V = np.zeros(last.shape)
    V[:-1] = value(Q)
    return Q.swapaxes(0, 1), V.swapaxes(0, 1)


def backward_induction(R, P, horizon):
    """The optimal values of R (n, N, A) and P (n, N, A, N): Q (n, H, N, A) and V (n, H + 1, N)."""
    n, N, A = R.shape
    if N <= FEW:
        # The same recursion without copies: V too has its rows last until the end.
        R, P = np.asfortranarray(R), np.asfortranarray(P)
        Q, V = np.empty((horizon, A, N, n)).transpose(0, 3, 2, 1), np.zeros((horizon + 1, N, n)).transpose(0, 2, 1)
        for h in reversed(range(horizon)):
            np.einsum("nsam,nm->nsa", P, V[h + 1], out=Q[h])
            Q[h] += R
            V[h] = largest(Q[h])
        return Q.swapaxes(0, 1), np.ascontiguousarray(V.swapaxes(0, 1))
    # With actions first the sums run over contiguous memory, as those of the recursion do.
    R = np.ascontiguousarray(R.transpose(2, 0, 1)).transpose(1, 2, 0)
    by_action = expectation(P.swapaxes(1, 2))
    return recursion(lambda h, V: R + by_action(V).swapaxes(1, 2), horizon, R.shape)


def evaluate(policies, R, P):
    """The values V_1 (n, C, N) of C policies of each row under one model, R (N, A) and P (N, A, N).

    Policies are actions (n, C, H, cells) or probabilities (n, C, H, cells, A); P may be factors (N, A, r) and (r, N).
    """
    n, C = policies.shape[:2]
    N, A = R.shape
    factors = P if isinstance(P, tuple) else (P,)
    factors = (factors[0].swapaxes(0, 1).reshape(A * N, -1), *factors[1:])
    size = max(1, GROUP // (A * N * C))
    V = np.empty((n, N, C))
    for first in range(0, n, size):
        rows = slice(first, first + size)
        V[rows] = _evaluate(policies[rows], R.T[:, :, None], factors)
    return V.swapaxes(1, 2)


def _evaluate(policies, R, factors):
    """The values (n, N, C) of a group of rows, for R (A, N, 1) and the factors of P, the first of them (A N, r)."""
    n, C, horizon, cells = policies.shape[:4]
    A, N = R.shape[:2]
    if N > cells:
        policies = np.repeat(policies, N // cells, axis=3)
    rows, *right = factors
    policies = np.ascontiguousarray(np.moveaxis(policies, 1, -1))
    # The place of action 0 in Q for each (row, anchor, episode): to take is faster than to choose by a mask.
    place = np.arange(n)[:, None, None] * (A * N * C) + np.arange(N * C).reshape(N, C)
    V = np.zeros((n, N, C))
    for h in reversed(range(horizon)):
        for factor in right:
            V = factor @ V
        Q = (rows @ V).reshape(n, A, N, C)
        Q += R
        policy = policies[:, h]
        if policies.ndim == 4:
            V = Q.reshape(-1).take(place + policy * np.int64(N * C))
        else:
            V = (Q * policy.swapaxes(1, 2)).sum(1)
    return V
