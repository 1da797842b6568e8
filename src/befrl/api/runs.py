"""Runs of an agent on an instance with many seeds."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from befrl import agents, instances
from befrl.analysis import regret_columns
from befrl.api import validation
from befrl.api.validation import AnyAgent, AnyInstance, AnySeeds, Player
from befrl.common.defaults import EPISODES, LOCKSTEP, ROOT_SEED, TIES
from befrl.common.errors import InputError
from befrl.common.progress import progress
from befrl.experiment import certificates, run_file
from befrl.experiment import runs as experiment
from befrl.experiment.spec import RunSpec
from befrl.study.provenance import code_hash, versions

if TYPE_CHECKING:
    from pandas import DataFrame

MEANINGS = {
    "instance": regret_columns.SUMMARY["instance"],
    "track": regret_columns.SUMMARY["track"],
    "agent": "name of the agent",
    "seed": "the seed",
    "episode": "episode k, from 1",
    **run_file.LOGGED,
    "cumulative": "sum of the regret of the episodes 1 to k, in units of reward",
}


class Runs:
    """The runs of one agent in one setting; `regret` and `cumulative` have the shape (seeds, episodes).

    `log` has all arrays of `befrl.experiment.run_file`, and `meta` everything needed to repeat the runs.
    """

    def __init__(self, log: Mapping[str, np.ndarray], meta: Mapping[str, Any]):
        self.log, self.meta = dict(log), dict(meta)
        self.label: str = self.meta["labels"][0]
        self.seeds: list[int] = self.meta["seeds"]
        self.seconds: float = self.meta["seconds"]

    @property
    def regret(self) -> np.ndarray:
        """The exact pseudo-regret V*_1(s_1) - V^pi_1(s_1) of every seed and episode."""
        return self.log["regret"][0]

    @property
    def cumulative(self) -> np.ndarray:
        """The cumulative regret after every episode."""
        return self.regret.cumsum(1)

    @property
    def certificate(self) -> np.ndarray:
        """The agent's own upper bound on the regret of every seed and episode; NaN if it gives none."""
        return self.log["certificate"][0]

    def frame(self) -> "DataFrame":
        """One row for each seed and episode; `frame.attrs["meanings"]` has the meanings of the columns."""
        from pandas import DataFrame  # slower to load than everything else

        n, K = self.regret.shape
        table = {
            "instance": self.meta["instance"],
            "track": self.meta["track"],
            "agent": self.label,
            "seed": np.repeat(self.seeds, K),
            "episode": np.tile(np.arange(1, K + 1), n),
            **{key: self.log[key][0].ravel() for key in run_file.LOGGED},
            "cumulative": self.cumulative.ravel(),
        }
        frame = DataFrame(table)
        frame.attrs["meanings"] = MEANINGS
        return frame

    def save(self, path: str | PathLike[str]) -> None:
        """Write a run file, which `befrl.read` and `befrl aggregate` read; its name ends in .npz."""
        if not fspath(path).endswith(".npz"):
            raise InputError(f"path = {validation.shown(path)} is not allowed: the name of a run file ends in .npz")
        made_by: dict[str, Any] = {"versions": versions()}
        try:
            modules = instances.modules(self.meta["family"], self.meta["instance_parameters"])
            parameters = agents.parameters(self.meta["algorithm"], self.meta["settings"][0])
            modules += agents.modules(self.meta["algorithm"], parameters)
            made_by["code"] = code_hash("befrl.experiment.runs", *modules)
        except InputError:
            pass  # code that is not in files has no hash
        run_file.save(path, self.log, made_by | self.meta)

    def __repr__(self) -> str:
        n, K = self.regret.shape
        names = f"Runs of '{self.label}' on '{self.meta['instance']}'"
        return f"{names}: {n} seeds, {K} episodes, mean regret {self.cumulative[:, -1].mean():.6g}"


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
    options: dict[str, Any] = {"episodes": episodes, "seeds": seeds, "track": track, "ties": ties}
    options["root_seed"] = root_seed
    options["until_certified"] = until_certified
    return play(mdp, [(label, agent, parameters)], cores, lockstep, show, options)[0]


def play(
    mdp: AnyInstance, players: list[Player], cores: int, lockstep: int, show: bool, options: dict[str, Any]
) -> list[Runs]:
    """The runs of several agents with the same options of `RunSpec.of`; all input is checked before the first run."""
    options["seeds"] = validation.read_seeds(options["seeds"])
    options["episodes"] = validation.read_whole("episodes", options["episodes"], most=validation.MOST_EPISODES)
    options["root_seed"] = validation.read_whole("root_seed", options["root_seed"], 0)
    width, processes = validation.read_whole("lockstep", lockstep), validation.read_whole("cores", cores)
    with threadpool_limits(limits=1):  # more threads change the last bits
        specs = {}
        for label, agent, values in players:
            name = validation.algorithm(agent, label)
            specs[label or name] = RunSpec.of(None, "", name, dict(values), **options)
        instance = validation.read_instance(mdp)
        specs = {label: replace(spec, instance=instance, name=instance.name) for label, spec in specs.items()}
        for spec in specs.values():
            agents.specification(instance.model, spec.algorithm, spec.settings[0])
        with progress(sum(spec.steps for spec in specs.values()), show) as tick:
            logs = experiment.run_all(list(specs.values()), width, processes, tick)
        return [
            Runs(
                run_file.rounded(log),
                experiment.describe(spec, [label], seconds) | certificates.stopping(spec, log, seconds),
            )
            for (label, spec), (log, seconds) in zip(specs.items(), logs, strict=True)
        ]
