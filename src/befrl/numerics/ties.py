"""Greedy actions, and the choice among actions whose values are equal up to rounding.

Where values tie, any fixed order of the actions is a hidden prior. Each of m equal actions is therefore chosen with
probability 1/m, anew for every (step, cell) of every plan, by a hash of the row's key, the plan's number and the place
in the table (the finaliser of SplitMix64; Steele, Lea, Flood 2014), so that rows do not affect each other.
"""

import numpy as np

from befrl.numerics import bellman


class FirstTies:
    """Chooses the first of equal actions. `share` (n,) is the share of the last plan's entries that tied."""

    def __init__(self, n):
        self.share = np.zeros(n)

    def greedy(self, Q):
        """The greedy actions, (n, ..., A) -> (n, ...)."""
        action, _, tied = _compared(Q)
        self.share = tied.reshape(len(tied), -1).mean(1)
        return action


class RandomTies:
    """Chooses one of equal actions at random; the keys (n,) of the rows are 64-bit numbers."""

    def __init__(self, keys):
        self._keys = np.asarray(keys, dtype=np.uint64)
        self._plans = 0
        self.share = np.zeros(len(self._keys))

    def greedy(self, Q):
        action, equal, tied = _compared(Q)
        self._plans += 1
        tied = tied.reshape(len(tied), -1)
        found = np.count_nonzero(tied, axis=1)
        self.share = found / tied.shape[1]
        where = np.flatnonzero(tied)
        if len(where):
            place = where - np.repeat(np.arange(len(tied)) * tied.shape[1], found)
            u = hashed(np.repeat(self._keys, found), np.uint64(self._plans << 32) + place.view(np.uint64))
            action.reshape(-1)[where] = _drawn(equal, where, u)
        return action


def _compared(Q):
    """The first greedy actions, which actions are as good (a list of arrays, one for each action), and where any is."""
    best = bellman.largest(Q)
    # floor = best - TIE (1 + |best|)
    floor = np.abs(best)
    floor += 1.0
    floor *= bellman.TIE
    np.subtract(best, floor, out=floor)
    # Arrays keep the memory order of Q until the end, so that the loops run over contiguous memory.
    equal = [Q[..., a] >= floor for a in range(Q.shape[-1])]
    found, tied, action = equal[0], np.zeros_like(equal[0]), np.zeros_like(equal[0], dtype=np.int8)
    for a, good in enumerate(equal[1:], start=1):
        tied |= found & good
        action += (good > found).view(np.int8) * np.int8(a)  # good and not found
        found = found | good
    return np.ascontiguousarray(action), equal, np.ascontiguousarray(tied)


def _drawn(equal, where, u):
    """One of the equal actions of each entry `where` at which several are, for uniform numbers u."""
    if len(equal) == 2:
        return (2 * u).astype(np.int8)
    equal = [np.ascontiguousarray(part).reshape(-1)[where].view(np.int8) for part in equal]
    rank = np.floor(u * sum(equal)).astype(np.int8)
    action = np.zeros(len(u), dtype=np.int8)
    for a, good in enumerate(equal):
        action += (good & (rank == 0)) * np.int8(a)
        rank -= good
    return action


def hashed(keys, counters):
    """Uniform numbers in [0, 1), one for each pair of 64-bit numbers."""
    with np.errstate(over="ignore"):
        x = counters * np.uint64(0x9E3779B97F4A7C15)
        x += keys
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x ^= x >> np.uint64(shift)
            x *= np.uint64(factor)
    x ^= x >> np.uint64(31)
    x >>= np.uint64(11)
    return x * 2.0**-53
