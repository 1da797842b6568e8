"""The specification of a run: which agent plays which instance, with which settings and random numbers."""

from dataclasses import dataclass, replace

import numpy as np

from befrl import agents
from befrl.common import streams
from befrl.common.defaults import ROOT_SEED, TIES, TRACKS
from befrl.common.errors import InputError, unknown
from befrl.common.parameters import per_row
from befrl.experiment import certificates
from befrl.model.instance import Instance
from befrl.numerics import ties


@dataclass(frozen=True)
class RunSpec:
    """A run of one algorithm on one instance; a row is a (setting, seed), and rows are numbered setting by setting."""

    instance: Instance
    name: str  # the instance's name in the study; it keys the random streams
    algorithm: str
    settings: tuple  # checked parameters (`agents.parameters`): one setting or a tuple of several
    episodes: int
    seeds: tuple[int, ...]
    track: str = next(iter(TRACKS))  # U: the reward is unknown to the agent; K: it is given the true mean reward
    root_seed: int = ROOT_SEED
    ties: str = TIES[0]  # random: equal actions are equally likely; first: the smallest is taken
    until_certified: float | None = None  # stop once the certificates of all seeds are at most this
    stride: int = 0  # setting i plays the seeds plus i times this number

    def __post_init__(self):
        for key, allowed in (("track", TRACKS), ("ties", TIES)):
            if getattr(self, key) not in allowed:
                raise unknown(key, getattr(self, key), allowed)
        if self.until_certified is not None:
            self._check_threshold()
        object.__setattr__(self, "seeds", tuple(int(seed) for seed in self.seeds))
        if not isinstance(self.settings, tuple):
            object.__setattr__(self, "settings", (self.settings,))

    def _check_threshold(self):
        value, words = self.until_certified, "until_certified"
        if not certificates.check_threshold(value):
            raise InputError(f"{words} = {value!r} is not allowed: it must be a positive number, in units of reward")
        object.__setattr__(self, words, float(value))
        if not agents.certifies(self.algorithm):
            able = ", ".join(name for name in agents.registry.names() if agents.certifies(name))
            raise InputError(f"{words}: agent '{self.algorithm}' gives no certificates; those that do: {able}")
        if isinstance(self.settings, tuple) and len(self.settings) > 1:
            raise InputError(f"{words}: it takes one setting of the agent, and there are {len(self.settings)}")

    @classmethod
    def of(cls, instance, name, algorithm, values, episodes, seeds, **options):
        """Make a run from the user's parameter values, which are checked: one mapping, or a list of them."""
        several = values if isinstance(values, list | tuple) else [values]
        settings = tuple(agents.parameters(algorithm, each) for each in several)
        return cls(instance, name, algorithm, settings, episodes, seeds, **options)

    def groups(self, width):
        """The same run split by seeds into equal groups of at most `width` rows, if a single seed has no more.

        A run that stops when all seeds are certified stays together.
        """
        if self.until_certified is not None:
            return [self]
        seeds = max(1, width // len(self.settings))
        count = -(-len(self.seeds) // seeds)
        return [replace(self, seeds=tuple(part)) for part in np.array_split(self.seeds, count)]

    @property
    def rows(self):
        return len(self.settings) * len(self.seeds)

    @property
    def row_seeds(self):
        return tuple(seed + i * self.stride for i in range(len(self.settings)) for seed in self.seeds)

    @property
    def row_parameters(self):
        """The parameters of all rows, with arrays for numbers."""
        return per_row(self.settings, len(self.seeds))

    @property
    def steps(self):
        """The number of steps of all rows and episodes together."""
        return self.rows * self.episodes * self.instance.horizon

    def stream(self, purpose):
        """The random numbers of all rows for one purpose."""
        return streams.Stream(self.root_seed, self.name, self.row_seeds, purpose)

    def generators(self, purpose):
        """A generator for each row, for draws that take a random number of random numbers."""
        return [streams.generator(self.root_seed, self.name, seed, purpose) for seed in self.row_seeds]

    def tie_breaker(self):
        """The rule for ties, with a key for each row's seed."""
        if self.ties == "first":
            return ties.FirstTies(self.rows)
        sequences = [streams.sequence(self.root_seed, self.name, seed, streams.TIES) for seed in self.row_seeds]
        return ties.RandomTies([each.generate_state(1, np.uint64)[0] for each in sequences])
