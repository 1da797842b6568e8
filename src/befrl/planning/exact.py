"""Exact dynamic programming on cells.

The value is constant on cells, so that with P(next cell | cell, action) the recursion

    Q_h = R + P V_{h+1},   V_h = max_a Q_h,   V_{H+1} = 0

is exact for continuous states too. Products are taken seed by seed (stacked matmul), never across seeds: a seed's
bits do not depend on its block.
"""

import numpy as np


def largest(Q):
    """max over the last axis; actions are few, so a loop over them beats a reduction."""
    best = Q[..., 0]
    for a in range(1, Q.shape[-1]):
        best = np.maximum(best, Q[..., a])
    return best


def greedy(Q):
    """argmax over the last axis, the smallest action among equals."""
    best = Q[..., 0]
    action = np.zeros(best.shape, dtype=np.int8)
    for a in range(1, Q.shape[-1]):
        better = Q[..., a] > best
        best = np.where(better, Q[..., a], best)
        action[better] = a
    return action


def backward_induction(R, P, horizon):
    """R (n, N, A), P (n, N, A, N) -> Q (n, H, N, A), V (n, H + 1, N)."""
    n, N, A = R.shape
    # Within the loop actions come before cells: the maximum then runs over contiguous memory.
    Q = np.empty((n, horizon, A, N))
    V = np.zeros((n, horizon + 1, N))
    rows = P.swapaxes(1, 2).reshape(n, A * N, N)
    R = np.ascontiguousarray(R.swapaxes(1, 2))
    best = V[:, horizon]
    for h in reversed(range(horizon)):
        Q[:, h] = step = R + (rows @ best[..., None]).reshape(n, A, N)
        V[:, h] = best = largest(step.swapaxes(1, 2))
    return Q.swapaxes(2, 3), V


def evaluate(policies, R, P):
    """V_1 of many policies under one model: (n, C, H, N) actions or (n, C, H, N, A) probabilities -> (n, C, N).

    C is a number of episodes that are evaluated together; the product is (C, N) x (N, N A) for each seed.
    """
    n, C, horizon, N = policies.shape[:4]
    A = R.shape[1]
    columns = np.ascontiguousarray(P.reshape(N * A, N).T)
    V = np.zeros((n, C, N))
    deterministic = policies.ndim == 4
    # Position of Q[i, c, x, 0] in the flat array.
    first = A * np.arange(n * C * N).reshape(n, C, N)
    for h in reversed(range(horizon)):
        Q = (V @ columns).reshape(n, C, N, A)
        Q += R
        if deterministic:
            V = Q.ravel()[first + policies[:, :, h]]
        else:
            V = (Q * policies[:, :, h]).sum(-1)
    return V
