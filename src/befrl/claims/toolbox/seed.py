"""What the tests of claims on bef-seed share: how they score an inequality, and the planning of finite MDPs."""

import numpy as np

SPREAD = 30.0  # largest range of an exponent, beyond which rounding decides
SKIPPED = -1.0  # the score of an instance that is not tested


def uncovered(left, right):
    """The share of the left side that the right side leaves uncovered; no test if the left side may be rounding."""
    return float(1 - right / left) if left > 1e-9 else SKIPPED


def bernstein(mean, variance, V, D):
    """upper(V) - PV of the width `bernstein`, from the mean PV and the variance of V under P, and divergences D."""
    most = V.max() - mean
    return np.minimum(np.minimum(np.sqrt(2 * variance * D) + most * D, np.ptp(V) * np.sqrt(D / 2)), most)


def backward(T, H, S, policy=None):
    """Values (H + 1, S) and actions (H, S) of the backward recursion with T, greedy or along a policy (H, S)."""
    V, actions = np.zeros((H + 1, S)), np.zeros((H, S), int)
    for h in reversed(range(H)):
        Q = T(V[h + 1])
        actions[h] = Q.argmax(1) if policy is None else policy[h]
        V[h] = Q[np.arange(S), actions[h]]
    return V, actions
