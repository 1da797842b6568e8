"""The schema of a config: every key with its default, its range and its meaning.

`config/schema.json`, for editors, and the table of `config/README.md` are made from it (`make schema`).
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from befrl.common.defaults import (
    CONFIGURATIONS,
    COVERAGE,
    KEPT,
    LEVEL,
    LOCKSTEP,
    ROOT_SEED,
    TIES,
    TRACKS,
    TRIALS,
    TUNING_SEEDS,
)


def _distinct(values):
    if any(value in values[:i] for i, value in enumerate(values)):
        raise PydanticCustomError("distinct", "items are equal")
    return values


# Names of instances and agents are parts of file names.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$")]
Distinct = (AfterValidator(_distinct), Field(json_schema_extra={"uniqueItems": True}))
Texts = Annotated[list[str], *Distinct]
SomeTexts = Annotated[list[str], Field(min_length=1), *Distinct]
Account = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_,.-]+$")]
# Whole numbers stay whole.
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
Positive = Annotated[int | float, Field(gt=0), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})]
TuningSeeds = Annotated[list[Annotated[int, Field(ge=1, le=1000)]], Field(min_length=1)]
Kept = list[Annotated[int, Field(ge=1, le=10_000)]]
Range = Number | Annotated[list[Positive], Field(min_length=2, max_length=2)]
Points = Annotated[list[Number], Field(min_length=2), *Distinct]
Samples = Annotated[list[Annotated[int, Field(ge=1, le=10_000_000)]], Field(min_length=2), *Distinct]
Features = Annotated[list[Annotated[int, Field(ge=2, le=1_000_000)]], Field(min_length=2), *Distinct]
Sizes = Annotated[list[Annotated[int, Field(ge=2, le=1000)]], Field(min_length=2), *Distinct]
Horizon = Annotated[int, Field(ge=1, le=1000)]
Horizons = Annotated[list[Horizon], Field(min_length=2), *Distinct]


class Section(BaseModel):
    """A mapping with fixed keys; values are never converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


def integer(low, high, text, default=...):
    """A whole number from `low` to `high`; one with the default None may be left out."""
    return Field(default, ge=low, le=high, description=text)


class Tuning(Section):
    """Successive halving over the tuning seeds, which come before the evaluation seeds."""

    configurations: int = integer(
        2, 10_000, "Number of configurations tried for every agent with `tune`.", CONFIGURATIONS
    )
    seeds: TuningSeeds = Field(
        list(TUNING_SEEDS),
        description="Number of tuning seeds that the configurations of each rung of the successive halving have "
        "played, in total.",
    )
    kept: Kept = Field(list(KEPT), description="Number of configurations that go on after each rung but the last.")


class OwnTuning(Section):
    """The tuning on one instance, instead of the study's."""

    configurations: int = integer(2, 10_000, "If the instance has its own `tuning`: number of configurations.")
    seeds: TuningSeeds = Field(description="If the instance has its own `tuning`: numbers of tuning seeds.")
    kept: Kept = Field(description="If the instance has its own `tuning`: numbers of configurations kept.")


class Jobs(Section):
    """How the work is divided, and what a job requests from a cluster. No result depends on it."""

    seeds_per_job: int = integer(
        1, 100_000, "Evaluation seeds per Snakemake job; a job is one (instance, track, agent, batch of seeds).", 1000
    )
    lockstep: int = integer(
        1,
        10_000,
        "Rows, each a (setting, seed), that run in lock step; joblib distributes groups of rows over a job's threads.",
        LOCKSTEP,
    )
    threads: int = integer(1, 1024, "Threads per job. Results do not depend on it.", 1)
    mem_mb: int | None = integer(
        100, 100_000_000, "Memory that a job requests from a cluster, in MB; by default, what its profile says.", None
    )
    runtime: int | None = integer(
        1, 1_000_000, "Time that a job requests from a cluster, in minutes; by default, what its profile says.", None
    )
    slurm_partition: Account | None = Field(
        None, description="Slurm partition of the jobs; by default, that of the cluster."
    )
    slurm_account: Account | None = Field(None, description="Slurm account of the jobs; by default, the user's.")


class Statistics(Section):
    level: float = Field(
        LEVEL, gt=0, lt=1, description="Confidence level of all intervals, and one minus the level of the tests."
    )
    coverage: int = integer(
        1, 1_000_000, "Samples in the simulation of the intervals' coverage (`docs/statistics.md`).", COVERAGE
    )


class Instance(Section):
    family: str = Field(
        description="A file of `src/befrl/instances`, a plug-in or a preset; `befrl list instances` shows them with "
        "their parameters."
    )
    set: dict = Field({}, description="Parameters of the family that differ from their defaults.")


class Agent(Section):
    algorithm: str = Field(
        description="A file of `src/befrl/agents`, or a plug-in; `befrl list agents` shows them with their parameters."
    )
    set: dict = Field({}, description="Parameters of the algorithm that differ from their defaults.")
    tune: Annotated[dict[str, Range], Field(min_length=1)] | None = Field(
        None,
        description="Parameters to tune, each with its range, or with a number at which tuning holds it, e.g. "
        "`{x: [0.01, 100], eta: 1}`.",
    )
    sweep: Annotated[dict[str, Points], Field(min_length=1, max_length=1)] | None = Field(
        None, description="One parameter and the values that are run in addition, e.g. `{x: [0.3, 3, 30]}`."
    )


class Case(Section):
    tracks: Annotated[list[Literal[tuple(TRACKS)]], Field(min_length=1), *Distinct] = Field(
        ["U"],
        description="`U`: the reward is unknown to every agent. `K`: every agent is given the true mean reward.",
    )
    episodes: int = integer(2, 10_000_000, "Number of episodes K of a run.")
    seeds: int | None = integer(
        2, 1_000_000, "Number of evaluation seeds on this instance, instead of the study's.", None
    )
    tuning: OwnTuning | None = Field(None, description="Tuning on this instance, instead of the study's.")
    agents: SomeTexts = Field(description="Names under `agents` or `groups`.")
    headline: bool = Field(False, description="Whether the instance's regret figures open the report.")


def _instances(text):
    return Field([], description=f"Instances {text}.")


class Exploration(Section):
    episodes: dict[str, Annotated[int, Field(ge=1, le=1_000_000)]] = Field(
        {}, description="Instances on which the value of exploration is measured, each with its number of episodes."
    )
    tuning: int = integer(2, 10_000, "Number of tuning seeds, which select the best agent and setting.", 10)
    evaluation: int = integer(
        2, 100_000, "Number of evaluation seeds, on which the selected agent is compared with greedy.", 20
    )


class Densities(Section):
    instances: Texts = _instances("whose true and estimated next-state laws are plotted")
    transitions: int = integer(1, 10_000_000, "Number of transitions of random play behind the estimate.", 1000)


class Estimators(Section):
    instances: Texts = _instances("on which all applicable estimators are compared")
    sizes: Samples = Field(
        [100, 300, 1000, 3000, 10_000, 30_000],
        description="Numbers of transitions at which the estimators are compared.",
    )
    repetitions: int = integer(2, 100_000, "Number of independent samples.", 30)


class Planners(Section):
    instances: Texts = _instances("on which all applicable planners are compared")
    features: Features = Field(
        [10, 30, 100, 300, 1000, 3000], description="Numbers of features at which the planners are compared."
    )
    repetitions: int = integer(2, 100_000, "Number of independent draws of the features.", 30)


class Proof(Section):
    instances: Texts = _instances("on which the quantities that the proof of Theorem 1 bounds are measured")
    episodes: int = integer(1, 1_000_000, "Number of episodes K of BEF-RLSVI.", 300)
    seeds: int = integer(2, 100_000, "Number of seeds of each of its eight settings.", 80)


class Repairs(Section):
    instances: Texts = _instances("on which the extra hypotheses of the proof of Theorem 1 are computed")
    horizons: Annotated[list[Horizon], Field(min_length=1), *Distinct] = Field(
        [1], description="Horizons at which they are computed, in addition to the instance's own."
    )


class Scaling(Section):
    instances: Texts = _instances("for which the run time of every algorithm is measured as size and horizon vary")
    sizes: Sizes = Field([4, 8, 16], description="Numbers of bins or states, at the instance's own horizon.")
    horizons: Horizons = Field([10, 20, 40, 80], description="Horizons, at the instance's own size.")
    episodes: int = integer(2, 1_000_000, "Number of episodes of each measurement; only the second half counts.", 40)
    seeds: int = integer(1, 100_000, "Number of seeds in lock step.", 10)


class Theorem(Section):
    instances: Texts = _instances("on which Theorem 1's bound, noise scale and Assumption 1 are evaluated")
    decades: int = integer(1, 30, "The bound is evaluated at K = 1, 10, ..., up to this power of ten.", 18)
    episodes: int = integer(
        1, 1_000_000, "Number of episodes K at which the printed forms of the noise scale are compared.", 1000
    )


class Traps(Section):
    instances: Texts = _instances("on which it is counted how often agents never try the best first action")
    episodes: int = integer(8, 1_000_000, "Number of episodes.", 400)
    seeds: int = integer(2, 100_000, "Number of seeds of each setting.", 60)


class Rates(Section):
    instances: Texts = Field(
        [],
        description="Instances, of family jao or chain, on which the growth of regret is measured over smaller and "
        "smaller gaps.",
    )
    episodes: int = integer(
        2, 1_000_000, "Largest number of episodes K; the slope in K is that of the last decade.", 2000
    )
    seeds: int = integer(
        4, 100_000, "Number of seeds for each gap; each half of them chooses the gap for the other.", 32
    )
    gaps: int = integer(3, 100, "Number of gaps, from the largest of the family downwards.", 6)
    sizes: Sizes = Field([3, 6, 12], description="Numbers of arms for the slope in d, on jao only.")
    horizons: Horizons = Field(
        [20, 40, 80],
        description="Horizons for the slope in H, on jao only; none may be below the instance's own.",
    )
    short: int = integer(
        1, 1_000_000, "Number of episodes after which regret is compared across sizes and horizons.", 500
    )


class Components(Section):
    """Studies of single components; a study without instances is left out."""

    exploration: Exploration = Exploration()
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
    trials: int = integer(1, 1_000_000, "Number of random instances per claim, before the adversarial search.", TRIALS)
    ids: Texts = Field([], description="Claims to check; an empty list means all.")


class Config(Section):
    """A study. Parameters under `set`, `tune` and `sweep` are checked against those of the family or algorithm."""

    output: Annotated[str, Field(min_length=1)] = Field(
        ".",
        description="Folder in which `results/` and `figures/` are created, below the one in which Snakemake runs; `.` "
        "is that one.",
    )
    toy: bool = Field(
        False,
        description="Whether the study only tries the workflow out; its report then says on top that its numbers mean "
        "nothing.",
    )
    root_seed: int = integer(
        0, 2**64 - 1, "Root of all random streams; each stream is also keyed by instance, seed and purpose.", ROOT_SEED
    )
    ties: Literal[TIES] = Field(
        TIES[0],
        description="Which of several equal actions is played: `random`, each with the same probability, or `first`.",
    )
    seeds: int = integer(
        2, 1_000_000, "Number of evaluation seeds, from 1000 on; all results shown come from them.", 100
    )
    tuning: Tuning = Tuning()
    jobs: Jobs = Jobs()
    statistics: Statistics = Statistics()
    instances: Annotated[dict[Name, Instance], Field(min_length=1)]
    plugins: Annotated[list[Annotated[str, Field(min_length=1)]], *Distinct] = Field(
        [],
        description="Folders, or Python files, with your own agents, instances, reward laws, estimators and planners, "
        "relative to the folder of the (last) config file; or the names under which installed packages offer theirs "
        "(`docs/plug-ins.md`).",
    )
    include: Texts = Field(
        [],
        description="Files of `config/` whose `agents`, `groups` and `plugins` the study may use; its own entries take "
        "precedence.",
    )
    groups: dict[Name, SomeTexts] = Field({}, description="Named lists of agents, for use in `study.<name>.agents`.")
    agents: Annotated[dict[Name, Agent], Field(min_length=1)]
    study: Annotated[dict[str, Case], Field(min_length=1)]
    components: Components = Components()
    published: dict[str, Annotated[dict[str, SomeTexts], Field(min_length=1)]] = Field(
        {},
        description="Instances of the study that repeat a published experiment, by source (a file of "
        "`src/befrl/analysis/published`) and experiment, e.g. `{li: {reward: [custom-sin]}}`.",
    )
    claims: Claims = Claims()
