"""The agents of a comparison in all their forms, read into labels, agents and parameters."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

from befrl.api import tuned
from befrl.api.runs import Runs
from befrl.api.tuned import Tuned
from befrl.api.validation import AnyAgent, AnyInstance, AnySeeds, Player, check_label, read_seeds, shown
from befrl.common.errors import InputError, unknown
from befrl.experiment import settings
from befrl.experiment.tuning import EVALUATION, OWN

BASELINES = ("greedy", "random", "oracle")
TUNED = "@tuned"

AnyPlayer = AnyAgent | Runs | Tuned | tuple[AnyAgent, Mapping[str, Any]]
AnyPlayers = Mapping[str, AnyPlayer] | list[AnyPlayer]


def read(
    agents: AnyPlayers, mdp: AnyInstance, track: str, seeds: AnySeeds, results: str | PathLike[str] | None
) -> tuple[list[Player], dict[str, Runs]]:
    """The agents to play, with baselines, and the existing runs by label."""
    named = _named(agents)
    players: list[Player] = []
    existing: dict[str, Runs] = {}
    for label, each in {**named, **{name: name for name in BASELINES if name not in named}}.items():
        if isinstance(each, Runs):
            existing[label] = each
            continue
        agent: Any
        agent, values = each if isinstance(each, tuple) and len(each) == 2 else (each, {})
        if not isinstance(values, Mapping):
            raise InputError(f"agents: '{label}' is not allowed: write an agent, or (agent, {{parameter: value}})")
        if isinstance(agent, str) and agent.endswith(TUNED):
            agent = _of_study(agent.removesuffix(TUNED), mdp, track, results)
        if isinstance(agent, Tuned):
            _check_seeds(label, seeds)
            agent, values = agent.agent, agent.values | dict(values)
        players += [(name, agent, setting) for name, setting in _sweep(label, dict(values)).items()]
    return players, existing


def _named(agents: Any) -> dict[str, Any]:
    """{label: agent} of the user's agents."""
    if isinstance(agents, list) and agents:
        labels = [_label(each) for each in agents]
        for label in labels:
            if labels.count(label) > 1:
                raise InputError(f"agents: '{label}' is given twice: write a dictionary {{name: agent}}")
        return dict(zip(labels, agents, strict=True))
    if not isinstance(agents, Mapping) or not agents:
        raise InputError("agents is not allowed: it must be a list or a dictionary {name: agent} with at least one")
    for label in agents:
        check_label(label.removesuffix(TUNED) if isinstance(label, str) else label)
    return dict(agents)


def _label(agent: Any) -> str:
    if isinstance(agent, Runs | Tuned):
        return agent.label
    if isinstance(agent, tuple) and agent:
        return _label(agent[0])
    return agent if isinstance(agent, str) else getattr(agent, "__name__", shown(agent))


def _of_study(name: str, mdp: AnyInstance, track: str, results: str | PathLike[str] | None) -> Tuned:
    found = tuned.tuned(mdp, track, results=results)
    if name not in found:
        raise unknown("tuned agent", name, found)
    return found[name]


def _check_seeds(label: str, given: AnySeeds) -> None:
    seeds = read_seeds(given)
    if seeds[0] < EVALUATION or seeds[-1] >= OWN:
        wanted = f"choose seeds from {EVALUATION} on, such as '{EVALUATION}-{EVALUATION + len(seeds) - 1}'"
        raise InputError(f"seeds: '{label}' may have been tuned on some of them: {wanted}")


def _sweep(label: str, values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings by label, one for each value of the parameter that has a list of them."""
    swept = [key for key, value in values.items() if isinstance(value, list)]
    if not swept:
        return {label: values}
    (key, *others), (points, *_) = swept, [values[key] for key in swept]
    if others or not points or not all(type(point) in (int, float) for point in points):
        raise InputError(f"agents: the sweep of '{label}' is not allowed: give one list of numbers, of one parameter")
    found = settings.variants(label, values, None, {key: points})
    return {name: setting for name, setting in found.items() if name != label}
