"""Tuned settings: of one's own agent by the study's procedure, and those of a study from its tables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from befrl import agents
from befrl.analysis import aggregation, instance_table, regret_columns, regret_tables
from befrl.api.validation import AnyAgent, AnyInstance, algorithm, read_instance, read_whole
from befrl.common import tidy
from befrl.common.defaults import EPISODES, LOCKSTEP, MOST_EPISODES, ROOT_SEED, TIES
from befrl.common.errors import InputError, unknown
from befrl.common.layout import Layout
from befrl.common.progress import progress
from befrl.experiment import tuning
from befrl.experiment.spec import RunSpec
from befrl.model.instance import Instance
from befrl.study.home import home

SAME = 1e-8  # relative precision of the numbers in tables


@dataclass(frozen=True, repr=False)
class Tuned:
    """An agent with tuned values of its parameters, which `befrl.compare` plays like any other agent.

    `table` has all configurations that were tried, and `at_edge` the parameters whose value is at an end of its range.
    Tuning has used seeds below 1000, on which the agent must not be compared.
    """

    agent: AnyAgent
    values: dict[str, Any]
    table: pd.DataFrame
    at_edge: str

    def __post_init__(self) -> None:
        self.table.attrs["meanings"] = regret_columns.TUNING

    @property
    def label(self) -> str:
        """The name of the agent in a comparison that gives it no other."""
        return self.agent if isinstance(self.agent, str) else self.agent.__name__

    def __repr__(self) -> str:
        values = " ".join(f"{key}={value}" for key, value in self.values.items()) or "the defaults"
        edge = f" (at an end of its range: {self.at_edge})" if self.at_edge else ""
        return f"Tuned '{self.label}': {values}{edge}, the best of {len(self.table)} configurations"


def tune(
    mdp: AnyInstance,
    agent: AnyAgent,
    ranges: Mapping[str, Any],
    *,
    episodes: int = EPISODES,
    track: str = "U",
    ties: str = TIES[0],
    root_seed: int = ROOT_SEED,
    procedure: Mapping[str, Any] | None = None,
    cores: int = 1,
    lockstep: int = LOCKSTEP,
    show: bool = True,
    **parameters: Any,
) -> Tuned:
    """Tune an agent on an instance by the procedure of the study (docs/tuning.md): 980 runs in four steps.

    ranges      {parameter: [low, high]}, as `tune` of a config; a number instead of a range stays fixed
    procedure   other numbers of configurations and seeds, as `tuning` of a config: configurations, refined, seeds, kept

    The other arguments are those of `befrl.run`.
    """
    with threadpool_limits(limits=1):  # more threads change the last bits
        name = algorithm(agent, None)
        where, spans = f"the ranges of agent '{name}'", _lists("ranges", ranges)
        agents.parameters(name, parameters)
        tuning.check(name, parameters, spans, where)
        halving = _halving(procedure or {})
        options = {"track": track, "ties": ties, "root_seed": read_whole("root_seed", root_seed, 0)}
        played = read_whole("episodes", episodes, most=MOST_EPISODES)
        width, processes = read_whole("lockstep", lockstep), read_whole("cores", cores)
        spec = RunSpec.of(None, "", name, parameters, played, (0,), **options)
        instance = read_instance(mdp)
        spec = replace(spec, instance=instance, name=instance.name)
        agents.specification(instance.model, name, spec.settings[0])
        if not any(isinstance(span, list) for span in tuning.active(name, spans, track).values()):
            raise InputError(f"{where}: none of them has an effect in track {track}")
        with progress(tuning.steps(halving, played, instance.horizon), show) as tick:
            outcome = tuning.halve(spec, parameters, spans, halving, width, processes, tick)
    number = outcome["chosen"]["tuned"]
    case = {"instance": instance.name, "track": track}
    rows = [case | row for row in aggregation.tried(name, outcome, asdict(spec.settings[0]))]
    values = {**parameters, **outcome["configurations"][number]["values"]}
    table = pd.DataFrame(rows, columns=list(regret_columns.TUNING))
    return Tuned(agent, values, table, ", ".join(tuning.edges(outcome, number)))


def _lists(key: str, given: Any) -> dict[str, Any]:
    """The user's dictionary with lists in place of tuples."""
    if not isinstance(given, Mapping):
        raise InputError(f"{key} is not allowed: it must be a dictionary")
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _halving(given: Mapping[str, Any]) -> tuning.Halving:
    """The procedure with these entries; the others are the study's."""
    entries: dict[str, Any] = asdict(tuning.Halving())
    for key, value in _lists("procedure", given).items():
        if key not in entries:
            raise unknown("entry of procedure", key, entries)
        if isinstance(entries[key], tuple):
            several = value if isinstance(value, list) else [value]
            entries[key] = tuple(read_whole(f"procedure: {key}", each) for each in several)
        else:
            entries[key] = read_whole(f"procedure: {key}", value, 0 if key == "refined" else 2)
    return tuning.Halving(**entries)


def tuned(mdp: AnyInstance, track: str = "U", *, results: str | PathLike[str] | None = None) -> dict[str, Tuned]:
    """The tuned settings of all agents of a study on an instance, by agent.

    `results` is the folder of a study's results; by default those of the study that comes with befrl.
    """
    layout, instance = Layout(results=folder(results)), read_instance(mdp)
    name = _case(instance, track, layout)
    summary = regret_tables.read(layout, "summary", name, track).astype(object).fillna("")  # no setting: the defaults
    tried = regret_tables.read(layout, "tuning", name, track)
    found = {}
    for row in summary[summary["role"] == "tuned"].itertuples():
        table = tried[tried["agent"] == row.agent].reset_index(drop=True)
        values = {key: _value(text) for key, _, text in (each.partition("=") for each in row.setting.split())}
        found[row.agent] = Tuned(row.algorithm, values, table, row.at_edge)
    return found


def folder(results: str | PathLike[str] | None) -> Path:
    """The folder of a study's results; raise if there is none."""
    found = home() / "results" / "reference" if results is None else Path(results)
    if not Path(Layout(results=found).instances()).is_file():
        here = "befrl was installed without the study's tables" if results is None else f"{found} has no instances.csv"
        raise InputError(f"{here}: name a folder with a study's results, such as results")
    return found


def _case(instance: Instance, track: str, layout: Layout) -> str:
    """The name in a study of an instance with the same values, which is played in the track."""
    rows = tidy.read(layout.instances(), instance_table.COLUMNS)
    same = rows[(rows["family"] == instance.family_name) & (rows["horizon"] == instance.horizon)]
    for key in ("optimal_value", "uniform_value"):
        same = same[(same[key] - getattr(instance, key)).abs() <= SAME * abs(getattr(instance, key))]
    names = sorted(same["name"], key=lambda name: name != instance.name)  # its own name first
    found = next((name for name in names if Path(layout.regret("summary", name, track)).is_file()), None)
    if found is None:
        cases = sorted(path.parent.name for path in Path(layout.results).glob("regret/*/summary.csv"))
        why = f"no tuned settings for instance '{instance.name}' with these parameters in track {track}"
        raise InputError(f"{layout.results} has {why}: its cases are {', '.join(cases)}")
    return found


def _value(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
