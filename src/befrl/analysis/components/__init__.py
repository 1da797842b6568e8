"""The model library put to the test: studies of instances, estimators and planners by themselves, one file each.

A study's module has `COLUMNS`, the meaning of each column of its table, and `study(name, instance, root_seed, ...)`,
which gives the rows; the rest of its arguments are its settings, under the study's name in the config's `library`:
each a whole number, or a list of such, as its annotation says.
"""

import inspect

from befrl.common.catalogue import Catalogue
from befrl.common.errors import InputError

catalogue = Catalogue("library study", __name__, __path__)

ALLOWED = {int: "a whole number from 1", list: "a list of whole numbers from 1"}


def rows(kind, name, instance, root_seed, settings) -> list[dict]:
    """The table of a study, as rows; settings that are unknown, missing or out of range are named."""
    function = catalogue.module(kind).study
    wanted = dict(list(inspect.signature(function).parameters.items())[3:])
    allowed = ", ".join(wanted)
    for key in settings:
        if key not in wanted:
            raise InputError(f"library study '{kind}': unknown setting '{key}': allowed are {allowed}")
    for key, argument in wanted.items():
        if key not in settings:
            raise InputError(f"library study '{kind}': the setting '{key}' is missing: it needs {allowed}")
        value, type_ = settings[key], argument.annotation
        numbers = value if isinstance(value, list) else [value]
        whole = bool(numbers) and all(type(number) is int and number >= 1 for number in numbers)
        if not whole or not isinstance(value, type_):
            raise InputError(f"library study '{kind}': {key} = {value!r} is not allowed: it must be {ALLOWED[type_]}")
    return function(name, instance, root_seed, **settings)
