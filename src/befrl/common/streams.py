"""Random streams, one per seed and purpose: `SeedSequence(root, spawn_key=(instance, seed, purpose))`.

All agents meet the same environment noise, so their differences are paired. The numbers of a seed depend neither on
the chunk size nor on the other seeds; rows of the same seed get the same numbers.
"""

import zlib

import numpy as np

ENVIRONMENT, AGENT_NORMAL, AGENT_UNIFORM, ESTIMATOR, PLANNER, TIES, AGENT_GAMMA = range(7)
CHUNK = 1 << 18  # numbers drawn at once, for all seeds of a stream together


def instance_key(name: str) -> int:
    """The integer key of an instance's name, the same in every Python process."""
    return zlib.crc32(name.encode())


def sequence(root, instance_name, seed, purpose):
    return np.random.SeedSequence(root, spawn_key=(instance_key(instance_name), int(seed), purpose))


def generator(root, instance_name, seed, purpose):
    return np.random.Generator(np.random.PCG64(sequence(root, instance_name, seed, purpose)))


class Stream:
    """Standard normal or uniform draws for n rows in lock step, given by their seeds: `take(m)` returns (n, m)."""

    def __init__(self, root, instance_name, seeds, purpose):
        seeds = list(seeds)
        place = {seed: i for i, seed in enumerate(dict.fromkeys(seeds))}
        self._rows = None if len(place) == len(seeds) else np.array([place[seed] for seed in seeds])
        # Generators are made at the first draw, because many agents never use some of their streams.
        self._generators, self._keys = [], [(root, instance_name, seed, purpose) for seed in place]
        self._normal = purpose in (AGENT_NORMAL, PLANNER)
        self._buffer, self._used = np.empty((len(place), 0)), 0

    def take(self, m):
        if self._used + m > self._buffer.shape[1]:
            self._refill(m)
        self._used += m
        drawn = self._buffer[:, self._used - m : self._used]
        return drawn if self._rows is None else drawn[self._rows]

    def _refill(self, m):
        """Make a new buffer that starts with the unused numbers; arrays that `take` has returned stay unchanged."""
        self._generators = self._generators or [generator(*key) for key in self._keys]
        left = self._buffer[:, self._used :]
        kept = left.shape[1]
        self._buffer = np.empty((len(left), max(m, CHUNK // len(left))))
        self._buffer[:, :kept] = left
        for source, row in zip(self._generators, self._buffer[:, kept:], strict=True):
            source.standard_normal(out=row) if self._normal else source.random(out=row)
        self._used = 0
