"""Random streams: one per seed and purpose, never shared between seeds.

`SeedSequence(root, spawn_key=(instance, seed, purpose))` gives each seed of an instance separate streams for the
environment and the agent, so that all agents meet the same environment noise and differences between them are paired.
Numbers are drawn ahead in chunks; a generator fills each chunk in order, so a seed's numbers depend neither on the
chunk size nor on the other seeds.
"""

import zlib

import numpy as np

ENVIRONMENT, AGENT_NORMAL, AGENT_UNIFORM, ESTIMATOR, PLANNER = range(5)
CHUNK = 1 << 14


def instance_key(name: str) -> int:
    """The integer key of an instance's name, the same in every Python process."""
    return zlib.crc32(name.encode())


class Stream:
    """Standard normal or uniform draws for n seeds in lock step: `take(m)` returns (n, m)."""

    def __init__(self, root, instance_name, seeds, purpose):
        key = instance_key(instance_name)
        sequences = [np.random.SeedSequence(root, spawn_key=(key, int(s), purpose)) for s in seeds]
        self._generators = [np.random.Generator(np.random.PCG64(sequence)) for sequence in sequences]
        self._normal = purpose in (AGENT_NORMAL, PLANNER)
        self._buffer = np.empty((len(self._generators), 0))
        self._used = 0

    def take(self, m):
        if self._used + m > self._buffer.shape[1]:
            self._refill(m)
        self._used += m
        return self._buffer[:, self._used - m : self._used]

    def _refill(self, m):
        left = self._buffer[:, self._used :]
        size = max(m, CHUNK // max(1, len(self._generators)))
        fresh = [g.standard_normal(size) if self._normal else g.random(size) for g in self._generators]
        self._buffer = np.concatenate([left, np.stack(fresh)], axis=1)
        self._used = 0
