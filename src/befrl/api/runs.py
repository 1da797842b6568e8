"""Runs: an agent plays an instance with many seeds, and what was logged."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from befrl import agents, instances
from befrl.analysis import regret_columns
from befrl.api import validation
from befrl.api.threads import one_thread
from befrl.common.errors import InputError
from befrl.common.progress import progress
from befrl.experiment import run_file
from befrl.experiment import runs as experiment
from befrl.experiment.spec import EPISODES, LOCKSTEP, ROOT_SEED, RunSpec
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
    """The runs of one agent in one setting; arrays have the shape (seeds, episodes).

    label, meta   the agent's name, and everything needed to repeat the runs
    log           all that was logged, by the names of `befrl.experiment.run_file`
    """

    def __init__(self, log: Mapping[str, np.ndarray], meta: Mapping[str, Any]):
        self.log, self.meta = dict(log), dict(meta)
        self.label: str = self.meta["labels"][0]

    @property
    def regret(self) -> np.ndarray:
        """The exact pseudo-regret V*_1(s_1) - V^pi_1(s_1) of every seed and episode."""
        return self.log["regret"][0]

    @property
    def cumulative(self) -> np.ndarray:
        """The cumulative regret after every episode."""
        return self.regret.cumsum(1)

    @property
    def seeds(self) -> list[int]:
        return self.meta["seeds"]

    @property
    def seconds(self) -> float:
        """The seconds that the runs took."""
        return self.meta["seconds"]

    def frame(self) -> "DataFrame":
        """One row for each seed and episode; `frame.attrs["meanings"]` says what the columns are."""
        # Imported here because it takes longer to load than everything else.
        from pandas import DataFrame

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
        run_file.save(path, self.log, _made_by(self.meta) | self.meta)

    def __repr__(self) -> str:
        n, K = self.regret.shape
        names = f"Runs of '{self.label}' on '{self.meta['instance']}'"
        return f"{names}: {n} seeds, {K} episodes, mean regret {self.cumulative[:, -1].mean():.6g}"


def _made_by(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The versions behind a run, and the hash of its code if all of it is in files."""
    try:
        modules = instances.modules(meta["family"], meta["instance_parameters"])
        modules += agents.modules(meta["algorithm"], agents.parameters(meta["algorithm"], meta["settings"][0]))
    except InputError:
        return {"versions": versions()}
    return {"code": code_hash("befrl.experiment.runs", *modules), "versions": versions()}


def run(
    mdp: validation.AnyInstance,
    agent: validation.AnyAgent,
    *,
    episodes: int = EPISODES,
    seeds: validation.AnySeeds = 30,
    track: str = "U",
    ties: str = "random",
    root_seed: int = ROOT_SEED,
    label: str | None = None,
    cores: int = 1,
    lockstep: int = LOCKSTEP,
    show: bool = True,
    **parameters: Any,
) -> Runs:
    """Let an agent play an instance; the numbers are those of `befrl run` with the same seeds and root seed.

    mdp         an instance, or the name of a family or preset
    agent       a name of `befrl list agents`, or a subclass of `befrl.agents.base.BaseAgent`, whose parameters are the
                fields of a dataclass `Parameters` inside it; the class is then known by its name, or by the label
    parameters  the agent's parameters
    seeds       how many (30), which ("30-59"), or a list
    track       U: the reward is unknown to the agent; K: it is given the true mean reward
    ties        equal actions: random, or first
    label       the agent's name in tables and figures
    cores       processes; a process plays up to `lockstep` seeds at once, so more of them help with more seeds only
    show        whether to show a progress bar
    """
    (found,) = play(mdp, [(label, agent, parameters)], episodes, seeds, track, ties, root_seed, cores, lockstep, show)
    return found


def play(
    mdp: validation.AnyInstance,
    players: Sequence[tuple[str | None, validation.AnyAgent, Mapping[str, Any]]],
    episodes: int,
    seeds: validation.AnySeeds,
    track: str,
    ties: str,
    root_seed: int,
    cores: int,
    lockstep: int,
    show: bool,
) -> list[Runs]:
    """The runs of several agents with the same seeds; everything is checked before the first of them.

    `players` are (label, agent, parameters).
    """
    chosen, K = validation.read_seeds(seeds), validation.read_episodes(episodes)
    root, width = validation.read_whole("root_seed", root_seed, 0), validation.read_whole("lockstep", lockstep)
    threads = validation.read_whole("cores", cores)
    with one_thread():
        settings = {}
        for label, agent, values in players:
            name = validation.algorithm(agent, validation.read_label(label))
            settings[label or name] = name, dict(values)
            RunSpec.of(None, "", name, settings[label or name][1], K, chosen, track=track, ties=ties)
        instance = validation.read_instance(mdp)
        options = {"track": track, "root_seed": root, "ties": ties}
        specs = {
            label: RunSpec.of(instance, instance.name, name, values, K, chosen, **options)
            for label, (name, values) in settings.items()
        }
        for spec in specs.values():
            agents.specification(instance.model, spec.algorithm, spec.settings[0])
        with progress(sum(spec.steps for spec in specs.values()), show) as tick:
            logs = experiment.run_all(list(specs.values()), width, threads, tick)
        return [
            Runs(run_file.rounded(log), experiment.describe(spec, [label], seconds))
            for (label, spec), (log, seconds) in zip(specs.items(), logs, strict=True)
        ]
