"""Studies of single components, that is of instances, estimators, planners and the cost of agents: one file each.

A study's module has

    TABLES    {name of a table: {column: meaning}}
    TIMINGS   {column: meaning} of its measured seconds, if it measures any
    uses()    names of the modules of agents, estimators and planners that it runs
    study(name, instance, root_seed, ...) -> {name of a table: rows}, with the seconds under "timings"

The further arguments of `study` are its settings in the config, each annotated as a whole number or a list of them.
"""

import inspect

from befrl.common.errors import InputError, guess
from befrl.common.registry import Registry

registry = Registry("component study", __name__, __path__)

ALLOWED = {int: "a whole number from 1", list: "a list of whole numbers from 1"}


def tables(kind) -> dict[str, dict[str, str]]:
    """The columns of each table of a study, with those of its timings if it has any."""
    module = registry.module(kind)
    return module.TABLES | ({"timings": module.TIMINGS} if hasattr(module, "TIMINGS") else {})


def run(kind, name, instance, root_seed, settings) -> dict[str, list[dict]]:
    """The rows of each table of a study; raises if a setting is unknown, missing or out of range."""
    function = registry.module(kind).study
    wanted = dict(list(inspect.signature(function).parameters.items())[3:])
    allowed = ", ".join(wanted)
    for key in settings:
        if key not in wanted:
            what = f"unknown setting '{key}'{guess(key, wanted)}"
            raise InputError(f"component study '{kind}': {what}: allowed are {allowed}")
    for key, argument in wanted.items():
        if key not in settings:
            raise InputError(f"component study '{kind}': the setting '{key}' is missing: it needs {allowed}")
        value, type_ = settings[key], argument.annotation
        numbers = value if isinstance(value, list) else [value]
        whole = bool(numbers) and all(type(number) is int and number >= 1 for number in numbers)
        if not whole or not isinstance(value, type_):
            raise InputError(f"component study '{kind}': {key} = {value!r} is not allowed: it must be {ALLOWED[type_]}")
    return function(name, instance, root_seed, **settings)
