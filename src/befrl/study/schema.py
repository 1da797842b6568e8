"""The schema of a config, from which `make schema` makes `config/schema.json` and the table of `config/README.md`."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from befrl.common import defaults


def _distinct(values):
    if any(value in values[:i] for i, value in enumerate(values)):
        raise PydanticCustomError("distinct", "items are equal")
    return values


def whole(low: int, high: int) -> Any:
    """The type of whole numbers from `low` to `high`."""
    return Annotated[int, Field(ge=low, le=high)]


def distinct(items, least: int = 0) -> Any:
    """The type of lists of at least `least` different items."""
    options = Field(min_length=least or None, json_schema_extra={"uniqueItems": True})
    return Annotated[list[items], AfterValidator(_distinct), options]


def some(items, most: int | None = None) -> Any:
    """The type of lists or mappings with at least one entry."""
    return Annotated[items, Field(min_length=1, max_length=most)]


# Names of instances and agents are parts of file names.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$")]
Account = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_,.-]+$")]
# Integers are not converted to float.
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
Positive = Annotated[int | float, Field(gt=0), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})]
Range = Number | Annotated[list[Positive], Field(min_length=2, max_length=2)]
Level = Annotated[float, Field(gt=0, lt=1)]
Episodes = whole(1, 1_000_000)


class Section(BaseModel):
    """A mapping with fixed keys; values are never converted."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class Tuning(Section):
    configurations: whole(2, 10_000) = defaults.CONFIGURATIONS
    """Number of configurations tried for every agent with `tune`, over its ranges."""
    refined: whole(0, 10_000) = defaults.REFINED
    """Number of further configurations, around the best three of the first ones."""
    seeds: some(list[whole(1, 1000)]) = list(defaults.TUNING_SEEDS)
    """Number of tuning seeds that the configurations of each rung of the successive halving have played, in total."""
    kept: list[whole(1, 10_000)] = list(defaults.KEPT)
    """Number of configurations that go on after each rung but the last."""


class OwnTuning(Section):
    configurations: whole(2, 10_000)
    """If the instance has its own `tuning`: number of configurations."""
    refined: whole(0, 10_000) = 0
    """If the instance has its own `tuning`: number of further configurations around the best."""
    seeds: some(list[whole(1, 1000)])
    """If the instance has its own `tuning`: numbers of tuning seeds."""
    kept: list[whole(1, 10_000)]
    """If the instance has its own `tuning`: numbers of configurations kept."""


class Jobs(Section):
    seeds_per_job: whole(1, 100_000) = 1000
    """Evaluation seeds per Snakemake job; a job is one (instance, track, agent, batch of seeds)."""
    lockstep: whole(1, 10_000) = defaults.LOCKSTEP
    """Rows, each a (setting, seed), that run in lock step; joblib distributes groups of rows over a job's threads."""
    threads: whole(1, 1024) = 1
    """Threads per job. Results do not depend on it."""
    mem_mb: whole(100, 100_000_000) | None = None
    """Memory that a job requests from a cluster, in MB; by default, what its profile says."""
    runtime: whole(1, 1_000_000) | None = None
    """Time that a job requests from a cluster, in minutes; by default, what its profile says."""
    slurm_partition: Account | None = None
    """Slurm partition of the jobs; by default, that of the cluster."""
    slurm_account: Account | None = None
    """Slurm account of the jobs; by default, the user's."""


class Statistics(Section):
    level: Level = defaults.LEVEL
    """Confidence level of all intervals, and one minus the level of the tests."""
    coverage: whole(1, 1_000_000) = defaults.COVERAGE
    """Samples in the simulation of the intervals' coverage (`docs/statistics.md`)."""


class Instance(Section):
    family: str
    """A file of `src/befrl/instances`, a plug-in or a preset (`befrl list instances`, with all parameters)."""
    set: dict = {}
    """Parameters of the family that differ from their defaults."""


class Agent(Section):
    algorithm: str
    """A file of `src/befrl/agents`, or a plug-in; `befrl list agents` shows them with their parameters."""
    set: dict = {}
    """Parameters of the algorithm that differ from their defaults."""
    tune: some(dict[str, Range]) | None = None
    """Parameters to tune, each with its range or with a number that stays fixed, e.g. `{x: [0.01, 100], eta: 1}`."""
    sweep: some(dict[str, distinct(Number, 2)], most=1) | None = None
    """One parameter and the values that are run in addition, e.g. `{x: [0.3, 3, 30]}`."""


class Case(Section):
    tracks: distinct(Literal[tuple(defaults.TRACKS)], 1) = ["U"]
    """`U`: the reward is unknown to every agent. `K`: every agent is given the true mean reward."""
    episodes: whole(2, defaults.MOST_EPISODES)
    """Number of episodes K of a run."""
    seeds: whole(2, 1_000_000) | None = None
    """Number of evaluation seeds on this instance, instead of the study's."""
    tuning: OwnTuning | None = None
    agents: distinct(str, 1)
    """Names under `agents` or `groups`."""


class Exploration(Section):
    episodes: dict[str, Episodes] = {}
    """Instances on which the value of exploration is measured, each with its number of episodes."""
    tuning: whole(2, 10_000) = 10
    """Number of tuning seeds, which select the best agent and setting."""
    evaluation: whole(2, 100_000) = 20
    """Number of evaluation seeds, on which the selected agent is compared with greedy."""


class CertifiedOn(Section):
    episodes: Episodes | None = None
    """Number of episodes on this instance."""
    seeds: whole(2, 100_000) | None = None
    """Number of evaluation seeds on this instance."""
    checked: whole(2, 1_000_000) | None = None
    """Number of seeds whose certificates are checked on this instance."""
    tuning_seeds: whole(1, 250) | None = None
    """Number of tuning seeds on this instance."""


class Certified(Section):
    instances: dict[str, CertifiedOn] = {}
    """Instances on which BEF-SEED is compared with three rivals, each with settings that differ from those below."""
    episodes: Episodes = 300
    """Number of episodes."""
    seeds: whole(2, 100_000) = 100
    """Number of evaluation seeds."""
    checked: whole(2, 1_000_000) = 100
    """Number of seeds on which certificates with theoretical constants are checked; the first of these are compared."""
    configurations: whole(2, 10_000) = 12
    """Number of configurations of each rival."""
    tuning_seeds: whole(1, 250) = 2
    """Number of tuning seeds of each configuration; the best quarter play three times as many more."""


class Densities(Section):
    instances: distinct(str) = []
    """Instances whose true and estimated next-state laws are plotted."""
    transitions: whole(1, 10_000_000) = 1000
    """Number of transitions of random play behind the estimate."""


class Estimators(Section):
    instances: distinct(str) = []
    """Instances on which all applicable estimators are compared."""
    sizes: distinct(whole(1, 10_000_000), 2) = [100, 300, 1000, 3000, 10_000, 30_000]
    """Numbers of transitions at which the estimators are compared."""
    repetitions: whole(2, 100_000) = 30
    """Number of independent samples."""


class Planners(Section):
    instances: distinct(str) = []
    """Instances on which all applicable planners are compared."""
    features: distinct(whole(2, 1_000_000), 2) = [10, 30, 100, 300, 1000, 3000]
    """Numbers of features at which the planners are compared."""
    repetitions: whole(2, 100_000) = 30
    """Number of independent draws of the features."""


class Proof(Section):
    instances: distinct(str) = []
    """Instances on which the quantities that the proof of Theorem 1 bounds are measured."""
    episodes: Episodes = 300
    """Number of episodes K of BEF-RLSVI."""
    seeds: whole(2, 100_000) = 80
    """Number of seeds of each of its eight settings."""


class Repairs(Section):
    instances: distinct(str) = []
    """Instances on which the extra hypotheses of the proof of Theorem 1 are computed."""
    horizons: distinct(whole(1, 1000), 1) = [1]
    """Horizons at which they are computed, in addition to the instance's own."""


class Scaling(Section):
    instances: distinct(str) = []
    """Instances for which the run time of every algorithm is measured as size and horizon vary."""
    sizes: distinct(whole(2, 1000), 2) = [4, 8, 16]
    """Numbers of bins or states, at the instance's own horizon."""
    horizons: distinct(whole(1, 1000), 2) = [10, 20, 40, 80]
    """Horizons, at the instance's own size."""
    episodes: whole(2, 1_000_000) = 40
    """Number of episodes of each measurement; only the second half counts."""
    seeds: whole(1, 100_000) = 10
    """Number of seeds in lock step."""


class Theorem(Section):
    instances: distinct(str) = []
    """Instances on which Theorem 1's bound, noise scale and Assumption 1 are evaluated."""
    decades: whole(1, 30) = 18
    """The bound is evaluated at K = 1, 10, ..., up to this power of ten."""
    episodes: Episodes = 1000
    """Number of episodes K at which the printed forms of the noise scale are compared."""


class Traps(Section):
    instances: distinct(str) = []
    """Instances on which it is counted how often agents never try the best first action."""
    episodes: whole(8, 1_000_000) = 400
    """Number of episodes."""
    seeds: whole(2, 100_000) = 60
    """Number of seeds of each setting."""


class Rates(Section):
    instances: distinct(str) = []
    """Instances, of family jao or chain, on which the growth of regret is measured over smaller and smaller gaps."""
    episodes: whole(2, 1_000_000) = 2000
    """Largest number of episodes K; the slope in K is that of the last decade."""
    seeds: whole(4, 100_000) = 32
    """Number of seeds for each gap; each half of them chooses the gap for the other."""
    gaps: whole(3, 100) = 6
    """Number of gaps, from the largest of the family downwards."""
    sizes: distinct(whole(2, 1000), 2) = [3, 6, 12]
    """Numbers of arms for the slope in d, on jao only."""
    horizons: distinct(whole(1, 1000), 2) = [20, 40, 80]
    """Horizons for the slope in H, on jao only; none may be below the instance's own."""
    short: Episodes = 500
    """Number of episodes after which regret is compared across sizes and horizons."""


class Components(Section):
    exploration: Exploration = Exploration()
    certified: Certified = Certified()
    densities: Densities = Densities()
    estimators: Estimators = Estimators()
    planners: Planners = Planners()
    proof: Proof = Proof()
    repairs: Repairs = Repairs()
    scaling: Scaling = Scaling()
    theorem: Theorem = Theorem()
    traps: Traps = Traps()
    rates: Rates = Rates()


class Claims(Section):
    trials: whole(1, 1_000_000) = defaults.TRIALS
    """Number of random instances per claim, before the adversarial search."""
    ids: distinct(str) = []
    """Claims to check; an empty list means all."""


class Included(Section):
    """A file that configs include."""

    agents: dict = {}
    groups: dict = {}
    plugins: list[str] = []


class Config(Section):
    """A study. Parameters under `set`, `tune` and `sweep` are checked against those of the family or algorithm."""

    output: some(str) = "."
    """Folder in which `results/` and `figures/` are created, below the one in which Snakemake runs; `.` is that one."""
    toy: bool = False
    """Whether the study only tries the workflow out; its report then says on top that its numbers mean nothing."""
    root_seed: whole(0, 2**64 - 1) = defaults.ROOT_SEED
    """Root of all random streams; each stream is also keyed by instance, seed and purpose."""
    ties: Literal[defaults.TIES] = defaults.TIES[0]
    """Which of several equal actions is played: `random`, each with the same probability, or `first`."""
    seeds: whole(2, 1_000_000) = 100
    """Number of evaluation seeds, from 1000 on; all results shown come from them."""
    tuning: Tuning = Tuning()
    jobs: Jobs = Jobs()
    statistics: Statistics = Statistics()
    instances: some(dict[Name, Instance])
    plugins: distinct(some(str)) = []
    """Folders, or Python files, with your own agents, instances, reward laws, estimators and planners, relative to the
    folder of the (last) config file; or the names under which installed packages offer theirs (`docs/plug-ins.md`)."""
    include: distinct(str) = []
    """Files of `config/` whose `agents`, `groups` and `plugins` the study may use; its own entries take precedence."""
    groups: dict[Name, distinct(str, 1)] = {}
    """Named lists of agents, for use in `study.<name>.agents`."""
    agents: some(dict[Name, Agent])
    study: some(dict[str, Case])
    components: Components = Components()
    published: dict[str, some(dict[str, distinct(str, 1)])] = {}
    """Instances of the study that repeat a published experiment, by source (a file of `src/befrl/analysis/published`)
    and experiment, e.g. `{li: {reward: [custom-sin]}}`."""
    claims: Claims = Claims()
