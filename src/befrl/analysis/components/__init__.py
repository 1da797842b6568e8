"""Component studies (of instances, estimators, planners and the cost of agents): one file each. A module has:

    uses()    names of the modules of agents, estimators and planners that it runs
    study(name, instance, root_seed, ...) -> {name of a table: rows}, with measured seconds under "timings"

The further arguments of `study` are its settings in the config, each annotated as a whole number or a list of them.
The columns of its tables are in `analysis/columns.csv`.
"""

import inspect

from befrl.analysis.columns import TABLES
from befrl.common.errors import InputError, guess
from befrl.common.registry import Registry

registry = Registry("component study", __name__, __path__)

ALLOWED = {int: "a whole number from 1", list: "a list of whole numbers from 1"}


def tables(kind) -> dict[str, dict[str, str]]:
    """{column: meaning} of each table of a study, measured seconds last."""
    registry.module_name(kind)  # raises if there is no such study
    return {table.partition("/")[2]: found for table, found in TABLES.items() if table.startswith(f"{kind}/")}


def run(kind, name, instance, root_seed, settings) -> dict[str, list[dict]]:
    """The rows of each table of a study; raise if a setting is unknown, missing or out of range."""
    function = registry.module(kind).study
    wanted = dict(list(inspect.signature(function).parameters.items())[3:])
    where, allowed = f"component study '{kind}'", ", ".join(wanted)
    for key in settings:
        if key not in wanted:
            raise InputError(f"{where}: unknown setting '{key}'{guess(key, wanted)}: allowed are {allowed}")
    for key, argument in wanted.items():
        if key not in settings:
            raise InputError(f"{where}: the setting '{key}' is missing: it needs {allowed}")
        value, type_ = settings[key], argument.annotation
        numbers = value if isinstance(value, list) else [value]
        whole = bool(numbers) and all(type(number) is int and number >= 1 for number in numbers)
        if not whole or not isinstance(value, type_):
            raise InputError(f"{where}: {key} = {value!r} is not allowed: it must be {ALLOWED[type_]}")
    return function(name, instance, root_seed, **settings)
