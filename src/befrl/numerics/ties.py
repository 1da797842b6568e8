"""Greedy actions, and the choice among actions whose values are equal up to rounding.

Values at a cap, untried actions and symmetric starts tie exactly, and any fixed order of the actions is a hidden prior:
on a chain, "the first" may be the safe action. Among m equal actions each is therefore chosen with probability 1/m,
anew for every (step, cell) of every plan.

The choice is a hash of the row's key, the number of the plan and the place in the table (the finaliser of SplitMix64;
Steele, Lea, Flood 2014). Nothing is drawn where nothing ties, and a row's choices do not depend on the rows beside it.
"""

import numpy as np

from befrl.numerics import bellman

KINDS = ("random", "first")


class FirstTies:
    """Chooses the first of equal actions. `share` (n,) is the share of the last plan's entries that tied."""

    def __init__(self, n):
        self.share = np.zeros(n)

    def greedy(self, Q):
        """The greedy actions, (n, ..., A) -> (n, ...)."""
        action, _, tied = _compared(Q)
        self.share = _share(tied)
        return action


class RandomTies:
    """Chooses one of equal actions at random; the keys (n,) of the rows are 64-bit numbers."""

    def __init__(self, keys):
        self._keys = np.asarray(keys, dtype=np.uint64)
        self._plans = 0
        self.share = np.zeros(len(self._keys))

    def greedy(self, Q):
        """The greedy actions, (n, ..., A) -> (n, ...)."""
        action, equal, tied = _compared(Q)
        self.share = _share(tied)
        self._plans += 1
        where = np.flatnonzero(tied)
        if len(where):
            row, place = np.divmod(where, tied[0].size)
            u = hashed(self._keys[row], np.uint64(self._plans << 32) + place.astype(np.uint64))
            action.reshape(-1)[where] = _drawn([part.reshape(-1)[where] for part in equal], u)
        return action


def _compared(Q):
    """The first greedy actions, which actions are as good (a list of arrays, one for each action), and where any is."""
    best = bellman.largest(Q)
    floor = best - bellman.TIE * (1.0 + np.abs(best))
    # One layout for all, whatever that of Q.
    equal = [np.ascontiguousarray(Q[..., a] >= floor) for a in range(Q.shape[-1])]
    action = np.zeros(best.shape, dtype=np.int8)
    tied, found = np.zeros((2, *best.shape), dtype=bool)
    for a, good in enumerate(equal):
        tied |= found & good
        if a:
            np.copyto(action, a, where=good & ~found)
        found |= good
    return action, equal, tied


def _drawn(equal, u):
    """One of the equal actions of each entry, for uniform numbers u."""
    rank = np.floor(u * np.sum(equal, axis=0, dtype=np.int8)).astype(np.int8)
    action = np.zeros(len(u), dtype=np.int8)
    for a, good in enumerate(equal):
        action[good & (rank == 0)] = a
        rank -= good
    return action


def _share(tied):
    """The share of tied entries of each row."""
    return tied.reshape(len(tied), -1).mean(1)


def hashed(keys, counters):
    """Uniform numbers in [0, 1), one for each pair of 64-bit numbers."""
    with np.errstate(over="ignore"):
        x = keys + counters * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return (x >> np.uint64(11)).astype(float) * 2.0**-53
