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
    # One contiguous copy per action is cheaper than comparing strided views.
    best = np.ascontiguousarray(Q[..., 0])
    action = np.zeros(best.shape, dtype=np.int8)
    for a in range(1, Q.shape[-1]):
        value = np.ascontiguousarray(Q[..., a])
        np.copyto(action, a, where=value > best)
        best = np.maximum(best, value)
    return action


def backward_induction(R, P, horizon):
    """R (n, N, A), P (n, N, A, N) -> Q (n, H, N, A), V (n, H + 1, N)."""
    n, N, A = R.shape
    # In memory steps come first and actions before cells: each step then works on contiguous arrays.
    Q = np.empty((horizon, n, A, N))
    V = np.zeros((horizon + 1, n, N))
    rows = P.swapaxes(1, 2).reshape(n, A * N, N)
    R = np.ascontiguousarray(R.swapaxes(1, 2))
    for h in reversed(range(horizon)):
        np.add(R, (rows @ V[h + 1, ..., None]).reshape(n, A, N), out=Q[h])
        V[h] = largest(Q[h].swapaxes(1, 2))
    return Q.transpose(1, 0, 3, 2), V.swapaxes(0, 1)


def evaluate(policies, R, P):
    """V_1 of many policies under one model: (n, C, H, N) actions or (n, C, H, N, A) probabilities -> (n, C, N).

    C is a number of episodes that are evaluated together; the product is (C, N) x (N, N A) for each seed.
    """
    n, C, horizon, N = policies.shape[:4]
    A = R.shape[1]
    columns = np.ascontiguousarray(P.swapaxes(0, 1).reshape(A * N, N).T)
    R = np.ascontiguousarray(R.T)
    V = np.zeros((n, C, N))
    for h in reversed(range(horizon)):
        Q = (V @ columns).reshape(n, C, A, N)
        Q += R
        policy = policies[:, :, h]
        if policies.ndim == 4:
            V = Q[:, :, 0]
            for a in range(1, A):
                V = np.where(policy == a, Q[:, :, a], V)
        else:
            V = (Q * policy.swapaxes(-1, -2)).sum(-2)
    return V
