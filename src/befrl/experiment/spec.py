"""The specification of a run: which agent plays which instance, for how long, and with which random numbers."""

from dataclasses import dataclass, replace

from befrl import agents
from befrl.common.errors import unknown
from befrl.model.instance import Instance

TRACKS = ("U", "K")
ROOT_SEED = 20221005


@dataclass(frozen=True)
class RunSpec:
    """A run of one algorithm on one instance with some seeds.

    name        the instance's name in the study; it keys the random streams
    parameters  the algorithm's parameters, checked (`agents.parameters`)
    track       U: the reward is unknown to the agent; K: the agent is given the true mean reward
    label       the name of the variant in the study; by default, the algorithm's name
    """

    instance: Instance
    name: str
    algorithm: str
    parameters: object
    episodes: int
    seeds: tuple[int, ...]
    track: str = "U"
    root_seed: int = ROOT_SEED
    label: str = ""

    def __post_init__(self):
        if self.track not in TRACKS:
            raise unknown("track", self.track, TRACKS)
        object.__setattr__(self, "seeds", tuple(int(seed) for seed in self.seeds))
        object.__setattr__(self, "label", self.label or self.algorithm)

    @classmethod
    def of(cls, instance, name, algorithm, values, episodes, seeds, **options):
        """Make a run from the user's parameter values, which are checked."""
        return cls(instance, name, algorithm, agents.parameters(algorithm, values), episodes, seeds, **options)

    def groups(self, size):
        """The same run split into groups of `size` seeds."""
        return [replace(self, seeds=self.seeds[i : i + size]) for i in range(0, len(self.seeds), size)]

    @property
    def steps(self):
        """The number of steps of all seeds and episodes together."""
        return len(self.seeds) * self.episodes * self.instance.horizon
