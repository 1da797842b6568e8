"""The model library put to the test: studies of instances, estimators and planners by themselves, one file each.

A study's module has `COLUMNS`, the meaning of each column of its table, and `study(name, instance, root_seed, ...)`,
which gives the rows; the rest of its arguments are its settings, under the study's name in the config's `library`.
"""

import inspect

from befrl.catalogue import Catalogue
from befrl.errors import InputError

catalogue = Catalogue("library study", __name__, __path__)


def rows(kind, name, instance, root_seed, settings) -> list[dict]:
    """The table of a study, as rows; unknown or missing settings are named."""
    function = catalogue.module(kind).study
    allowed = list(inspect.signature(function).parameters)[3:]
    for key in settings:
        if key not in allowed:
            raise InputError(f"library study '{kind}': unknown setting '{key}': allowed are {', '.join(allowed)}")
    for key in allowed:
        if key not in settings:
            raise InputError(f"library study '{kind}': the setting '{key}' is missing: it needs {', '.join(allowed)}")
    return function(name, instance, root_seed, **settings)
