"""Checks of the user's input: instances, agents, seeds and numbers."""

import inspect
import operator
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from threadpoolctl import threadpool_limits

from befrl import agents, instances
from befrl.agents.base import BaseAgent, NoParameters
from befrl.common.errors import InputError
from befrl.experiment import seeds as seed_ranges
from befrl.model.instance import Instance

AnyInstance = str | Instance
AnyAgent = str | type[BaseAgent]
AnySeeds = int | str | Iterable[int]
Player = tuple[str | None, AnyAgent, Mapping[str, Any]]  # label, agent, parameters


def instance(family: str, /, *, name: str | None = None, **parameters: Any) -> Instance:
    """Build an instance of a family or preset; `name`, by default that of the family, keys the random streams."""
    if not isinstance(family, str):
        raise InputError(f"family = {shown(family)} is not allowed: it must be the name of an instance")
    with threadpool_limits(limits=1):  # more threads change the last bits
        built = instances.build(family, parameters)
        return built if name is None else built.known_as(name=str(name))


def read_instance(given: AnyInstance) -> Instance:
    """The instance with its constants, and without cached values, which may be outdated."""
    if isinstance(given, str):
        return instance(given)
    if not isinstance(given, Instance):
        raise InputError(
            f"instance = {shown(given)} is not allowed: it must be a name of `befrl list instances`, or an Instance "
            "such as befrl.instance makes"
        )
    with threadpool_limits(limits=1):
        fresh = replace(given)
        return fresh if fresh.constants else instances.with_constants(fresh, f"instance '{fresh.name}'")


def check_label(label: Any) -> None:
    """Raise unless a user's name of an agent is allowed.

    @ starts the name of a setting, files have these names, and spreadsheets evaluate what starts with =, + or -.
    """
    if not isinstance(label, str) or not label or {"@", "/"} & set(label) or label[0] in "_=+-":
        wanted = "it must be a text without @ and / that does not start with _, =, + or -"
        raise InputError(f"the name {shown(label)} of an agent is not allowed: {wanted}")


def algorithm(given: AnyAgent, label: str | None) -> str:
    """The name of the algorithm; a class is added to the registry of agents under its label, or its own name."""
    if isinstance(given, str):
        agents.registry.module(given)
        return given
    if not isinstance(given, type):
        raise InputError(f"agent = {shown(given)} is not allowed: it must be a name of `befrl list agents` or a class")
    if not issubclass(given, BaseAgent):
        raise InputError(f"agent {given.__name__} is not allowed: it must be a subclass of befrl.agents.base.BaseAgent")
    if inspect.isabstract(given):
        missing = ", ".join(sorted(given.__abstractmethods__))
        raise InputError(f"agent {given.__name__} is not allowed: it must define {missing}")
    # The parameters are inside the class, or beside it, or a class that it is derived from, if that is called Agent.
    beside = (
        getattr(sys.modules.get(each.__module__), "Parameters", None)
        for each in given.__mro__
        if each.__name__ == "Agent"
    )
    parameters = getattr(given, "Parameters", None) or next(filter(None, beside), NoParameters)
    parts = SimpleNamespace(Agent=given, Parameters=parameters, __doc__=given.__doc__)
    agents.registry.add(label or given.__name__, parts, replace=True)
    return label or given.__name__


def read_seeds(given: AnySeeds) -> tuple[int, ...]:
    """The seeds in ascending order: how many (30), a range as text ("30-59"), or the seeds themselves."""
    if isinstance(given, str):
        return tuple(seed_ranges.parse(given))
    if isinstance(given, Iterable):
        found = tuple(sorted(read_whole("seeds", seed, 0) for seed in given))
        if not found or len(set(found)) < len(found):
            raise InputError("seeds is not allowed: a list of seeds has at least one seed, and each of them once")
        return found
    return tuple(range(read_whole("seeds", given, most=seed_ranges.MOST)))


def read_whole(key: str, given: Any, least: int = 1, most: int | None = None) -> int:
    """A whole number from `least`, to `most` if given."""
    try:
        number = least - 1 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        span = f"from {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"{key} = {shown(given)} is not allowed: it must be a whole number {span}")
    return number


def shown(given: Any) -> str:
    """A short text for a message: numbers and words as they are, otherwise the type of the object."""
    cls = type(given)
    simple = isinstance(given, str | int | float | None)
    return repr(given) if simple else f"an object of {cls.__module__}.{cls.__qualname__}"
