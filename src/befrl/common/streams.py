"""Random streams: one per seed and purpose, never shared between seeds.

`SeedSequence(root, spawn_key=(instance, seed, purpose))` gives each seed of an instance separate streams for the
environment and the agent, so that all agents meet the same environment noise and differences between them are paired.
Numbers are drawn ahead in chunks; a generator fills each chunk in order, so a seed's numbers depend neither on the
chunk size nor on the other seeds. Rows of the same seed, with other settings of an agent, get the same numbers, which
are drawn once.
"""

import zlib

import numpy as np

ENVIRONMENT, AGENT_NORMAL, AGENT_UNIFORM, ESTIMATOR, PLANNER, TIES, AGENT_GAMMA = range(7)
# Numbers drawn ahead for all seeds of a stream together.
CHUNK = 1 << 18


def instance_key(name: str) -> int:
    """The integer key of an instance's name, the same in every Python process."""
    return zlib.crc32(name.encode())


def sequence(root, instance_name, seed, purpose):
    """The seed sequence of one seed and purpose."""
    return np.random.SeedSequence(root, spawn_key=(instance_key(instance_name), int(seed), purpose))


def generator(root, instance_name, seed, purpose):
    """The generator of one seed and purpose."""
    return np.random.Generator(np.random.PCG64(sequence(root, instance_name, seed, purpose)))


class Stream:
    """Standard normal or uniform draws for n rows in lock step, given by their seeds: `take(m)` returns (n, m)."""

    def __init__(self, root, instance_name, seeds, purpose):
        seeds = list(seeds)
        different = list(dict.fromkeys(seeds))
        place = {seed: i for i, seed in enumerate(different)}
        self._rows = None if len(different) == len(seeds) else np.array([place[seed] for seed in seeds])
        # Made with the first draw: many agents never use some of their streams.
        self._make = lambda: [generator(root, instance_name, seed, purpose) for seed in different]
        self._generators = None
        self._normal = purpose in (AGENT_NORMAL, PLANNER)
        self._buffer = np.empty((len(different), 0))
        self._used = 0

    def take(self, m):
        if self._used + m > self._buffer.shape[1]:
            self._refill(m)
        self._used += m
        drawn = self._buffer[:, self._used - m : self._used]
        return drawn if self._rows is None else drawn[self._rows]

    def _refill(self, m):
        """A new buffer that starts with what is left; numbers that were taken stay as they are."""
        if self._generators is None:
            self._generators = self._make()
        left = self._buffer[:, self._used :]
        kept = left.shape[1]
        self._buffer = np.empty((len(self._generators), max(m, CHUNK // len(self._generators))))
        self._buffer[:, :kept] = left
        for generator, row in zip(self._generators, self._buffer[:, kept:], strict=True):
            generator.standard_normal(out=row) if self._normal else generator.random(out=row)
        self._used = 0
