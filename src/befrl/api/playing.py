"""Play runs of agents on an instance."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from threadpoolctl import threadpool_limits

from befrl import agents, instances
from befrl.analysis import aggregation
from befrl.api import validation
from befrl.api.runs import Runs
from befrl.api.validation import AnyAgent, AnyInstance, AnySeeds, Player
from befrl.common.defaults import EPISODES, LOCKSTEP, MOST_EPISODES, ROOT_SEED, TIES
from befrl.common.errors import InputError
from befrl.common.progress import progress
from befrl.experiment import certificates, run_file, settings
from befrl.experiment import runs as experiment
from befrl.experiment.spec import RunSpec
from befrl.study import provenance


def run(
    mdp: AnyInstance,
    agent: AnyAgent,
    *,
    episodes: int = EPISODES,
    seeds: AnySeeds = 30,
    track: str = "U",
    ties: str = TIES[0],
    root_seed: int = ROOT_SEED,
    until_certified: float | None = None,
    label: str | None = None,
    cores: int = 1,
    lockstep: int = LOCKSTEP,
    show: bool = True,
    **parameters: Any,
) -> Runs:
    """Run an agent on an instance; the numbers are those of `befrl run` with the same seeds and root seed.

    mdp         an instance, or the name of a family or preset
    agent       a name of `befrl list agents`, or a subclass of `befrl.agents.base.BaseAgent` that contains a dataclass
                `Parameters` and is registered under its label or its own name
    seeds       how many (30), which ("30-59"), or a list
    track       U: the reward is unknown to the agent; K: it is given the true mean reward
    ties        which of several equal actions is played: random or first
    until_certified
                stop at the first episode in which the agent certifies for every seed that its policy is within this of
                optimal; `episodes` is then the largest number, which the agent is told. `Runs.meta["until_certified"]`
                has the first such episode of each seed. All seeds run in one process.
    label       the agent's name in tables and figures
    cores       processes; one process plays up to `lockstep` seeds at once, so more processes need more seeds
    show        whether to show a progress bar
    """
    if label is not None:
        validation.check_label(label)
    options: dict[str, Any] = {"episodes": episodes, "seeds": seeds, "track": track, "ties": ties}
    options["root_seed"] = root_seed
    options["until_certified"] = until_certified
    return play(mdp, [(label, agent, parameters)], cores, lockstep, show, options)[0]


def play(
    mdp: AnyInstance,
    players: list[Player],
    cores: int,
    lockstep: int,
    show: bool,
    options: dict[str, Any],
    beside: Iterable[Runs] = (),
) -> list[Runs]:
    """The runs of several agents with the same options of `RunSpec.of`; all input is checked before the first run.

    Runs that they are compared with, `beside`, must be of the same case and seeds.
    """
    options["seeds"] = validation.read_seeds(options["seeds"])
    options["episodes"] = validation.read_whole("episodes", options["episodes"], most=MOST_EPISODES)
    options["root_seed"] = validation.read_whole("root_seed", options["root_seed"], 0)
    width, processes = validation.read_whole("lockstep", lockstep), validation.read_whole("cores", cores)
    with threadpool_limits(limits=1):  # more threads change the last bits
        specs = {}
        for label, agent, values in players:
            name = validation.algorithm(agent, label and settings.split(label)[0])
            specs[label or name] = RunSpec.of(None, "", name, dict(values), **options)
        instance = validation.read_instance(mdp)
        specs = {label: replace(spec, instance=instance, name=instance.name) for label, spec in specs.items()}
        for spec in specs.values():
            agents.specification(instance.model, spec.algorithm, spec.settings[0])
        cases = [experiment.describe_case(spec, [label], 1.0) for label, spec in specs.items()]
        for each in beside:
            if cases:  # no agent is played if all are runs
                aggregation.check_case(each.meta, cases[0])
            if tuple(each.seeds) != options["seeds"]:
                raise InputError(f"seeds: the runs of '{each.label}' have other seeds: name the same, or extend them")
        made = [made_by(spec) for spec in specs.values()]
        with progress(sum(spec.steps for spec in specs.values()), show) as tick:
            logs = experiment.run_all(list(specs.values()), width, processes, tick)
        return [
            Runs(
                run_file.rounded(log),
                experiment.describe(spec, [label], seconds) | certificates.stopping(spec, log, seconds) | versions,
                instance,
            )
            for (label, spec), versions, (log, seconds) in zip(specs.items(), made, logs, strict=True)
        ]


def made_by(spec: RunSpec) -> dict[str, Any]:
    """The versions and the hash of the code that plays a run; code that is not in files has no hash."""
    try:
        modules = instances.modules(spec.instance.family_name, spec.instance.parameters)
        modules += agents.modules(spec.algorithm, spec.settings[0])
    except InputError:
        return {"versions": provenance.versions()}
    return provenance.made_by("befrl.experiment.runs", *modules)
