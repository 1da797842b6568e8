"""What a user gives: instances, agents, seeds and numbers, checked before anything runs."""

import inspect
import operator
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from befrl import agents, instances
from befrl.agents.base import BaseAgent
from befrl.api.threads import one_thread
from befrl.common.errors import InputError
from befrl.experiment import seeds as seed_ranges
from befrl.model.instance import Instance

# The largest number of episodes that a config allows.
MOST_EPISODES = 10_000_000

AnyInstance = str | Instance
AnyAgent = str | type[BaseAgent]
AnySeeds = int | str | Iterable[int]


def instance(family: str, /, *, name: str | None = None, **parameters: Any) -> Instance:
    """Build an instance of a family or preset of `befrl list instances`.

    `name` is its name in a study, which keys the random streams; by default it is the name of the family or preset.
    """
    if not isinstance(family, str):
        raise InputError(f"family = {shown(family)} is not allowed: it must be the name of an instance")
    with one_thread():
        built = instances.build(family, parameters)
        return built if name is None else built.known_as(name=str(name))


def read_instance(given: AnyInstance) -> Instance:
    """The instance that a user means, with its constants, and free of numbers that were computed elsewhere."""
    if isinstance(given, str):
        return instances.build(given, {})
    if not isinstance(given, Instance):
        raise InputError(
            f"instance = {shown(given)} is not allowed: it must be a name of `befrl list instances`, or an Instance "
            "such as befrl.instance makes"
        )
    fresh = replace(given)
    return fresh if fresh.constants else instances.with_constants(fresh, f"instance '{fresh.name}'")


def algorithm(given: AnyAgent, label: str | None) -> str:
    """The name of the algorithm that a user means; a class is added to the agents, under its label if it has one."""
    if isinstance(given, str):
        agents.registry.module(given)
        return given
    if not isinstance(given, type):
        raise InputError(f"agent = {shown(given)} is not allowed: it must be a name of `befrl list agents` or a class")
    if not issubclass(given, BaseAgent):
        raise InputError(f"agent {given.__name__} is not allowed: it must be a subclass of {_path(BaseAgent)}")
    if inspect.isabstract(given):
        missing = ", ".join(sorted(given.__abstractmethods__))
        raise InputError(f"agent {given.__name__} is not allowed: it must define {missing}")
    parts = SimpleNamespace(Agent=given, Parameters=_parameters(given), __doc__=given.__doc__)
    agents.registry.add(label or given.__name__, parts, replace=True)
    return label or given.__name__


@dataclass(frozen=True)
class NoParameters:
    """The parameters of an agent that has none."""


def _parameters(cls: type) -> type:
    """The class `Parameters` inside an agent's class; or beside it, if the agent's class is called Agent; or none."""
    beside = sys.modules.get(cls.__module__) if cls.__name__ == "Agent" else None
    return getattr(cls, "Parameters", None) or getattr(beside, "Parameters", None) or NoParameters


def read_label(given: str | None) -> str | None:
    """The name of an agent in tables and figures; @ starts the name of a variant."""
    if given is not None and (not isinstance(given, str) or not given or "@" in given):
        raise InputError(f"the name {shown(given)} of an agent is not allowed: it must be a text without @")
    return given


def read_seeds(given: AnySeeds) -> tuple[int, ...]:
    """The seeds that a user means: how many (30), a range as text ("30-59"), or the seeds themselves."""
    if isinstance(given, str):
        return tuple(seed_ranges.parse(given))
    if isinstance(given, Iterable):
        found = tuple(_whole("seeds", seed, 0, None) for seed in given)
        if not found or len(set(found)) < len(found):
            raise InputError("seeds is not allowed: a list of seeds has at least one seed, and each of them once")
        return found
    return tuple(range(_whole("seeds", given, 1, seed_ranges.MOST)))


def read_episodes(given: int) -> int:
    return _whole("episodes", given, 1, MOST_EPISODES)


def read_whole(key: str, given: int, least: int = 1) -> int:
    """A whole number that is at least `least`."""
    return _whole(key, given, least, None)


def _whole(key: str, given: Any, least: int, most: int | None) -> int:
    span = f"from {least}" if most is None else f"from {least} to {most}"
    problem = InputError(f"{key} = {shown(given)} is not allowed: it must be a whole number {span}")
    if isinstance(given, bool):
        raise problem
    try:
        number = operator.index(given)
    except TypeError:
        raise problem from None
    if number < least or (most is not None and number > most):
        raise problem
    return number


def shown(given: Any) -> str:
    """A short text for a message: numbers and words as they are, otherwise the kind of object."""
    return repr(given) if isinstance(given, str | int | float | None) else f"an object of {_path(type(given))}"


def _path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
