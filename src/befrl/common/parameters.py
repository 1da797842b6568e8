"""Parameters of instances and agents: declared once, checked in one place, set in the config or with `--set`.

A parameter is a dataclass field made by `number`, `integer`, `choice`, `optional` or `scale`; `read` turns a mapping of
user values into the dataclass or raises an `InputError` that names the key and its allowed values.
"""

import dataclasses
import math

import numpy as np

from befrl.common.errors import InputError, guess


def number(default, low, high, text, ridge=False):
    """A real number in [low, high]; `ridge` if it is a penalty or a prior, which a fair comparison tunes."""
    return _field(default, text, kind=float, low=low, high=high, ridge=ridge)


def integer(default, low, high, text):
    """A whole number in [low, high]."""
    return _field(default, text, kind=int, low=low, high=high)


def choice(default, choices, text):
    """One of the given words, or one of the names of a registry, which may grow."""
    return _field(default, text, kind=str, choices=choices)


def optional(low, high, text, ridge=False):
    """A real number in [low, high], or None; `ridge` as for `number`."""
    return _field(None, text, kind=float, low=low, high=high, ridge=ridge)


def scale(text):
    """A multiple of the theory's constants, or the word `theory`."""
    return _field("theory", text, kind=float, low=0.0, high=1e6, choices=("theory",))


def per_row(settings, seeds: int):
    """The parameters of all rows of a run, as one object: the rows of the first setting, then those of the second, ...

    A row is a (setting, seed). Numbers become arrays (n,) with one entry for each row: None is NaN, and the scale
    `theory` is 1. Words and whole numbers shape the computation, so they must be the same in all settings.
    """
    cls = type(settings[0])
    # The checks of a single setting have been made, and do not apply to arrays.
    stacked = object.__new__(cls)
    for field in _fields(cls):
        values = [getattr(setting, field.name) for setting in settings]
        if field.metadata["kind"] is float:
            numbers = [_NUMBERS.get(value, value) for value in values]
            object.__setattr__(stacked, field.name, np.repeat(np.array(numbers, dtype=float), seeds))
        elif any(value != values[0] for value in values):
            raise InputError(f"{field.name} must be the same in all settings that run side by side, got {values}")
        else:
            object.__setattr__(stacked, field.name, values[0])
    return stacked


def given_or(values, default):
    """The values (n,), or the default where none is given."""
    return np.where(np.isnan(values), default, values)


# The words and gaps that numbers of `per_row` stand for.
_NUMBERS = {None: math.nan, "theory": 1.0}


def _field(default, text, **metadata):
    return dataclasses.field(default=default, metadata={"text": text, **metadata})


def _fields(cls):
    if not dataclasses.is_dataclass(cls):
        raise InputError(f"{cls.__name__} of {cls.__module__} must be a dataclass")
    for field in dataclasses.fields(cls):
        if "kind" not in field.metadata:
            raise InputError(
                f"parameter '{field.name}' of {cls.__module__} is a plain field: "
                "declare it with number, integer, choice, optional or scale of befrl.common.parameters"
            )
    return dataclasses.fields(cls)


def describe(cls) -> list[dict]:
    """Name, default, allowed values and meaning of every parameter of `cls`."""
    return [
        {
            "name": f.name,
            "default": f.default,
            "allowed": _allowed(f.metadata),
            "text": f.metadata["text"],
            "ridge": f.metadata.get("ridge", False),
        }
        for f in _fields(cls)
    ]


def read(cls, values, where: str):
    """Fill the dataclass `cls` from `values`; error messages start with `where`, the origin of the values."""
    fields = {f.name: f for f in _fields(cls)}
    if not isinstance(values, dict):
        raise InputError(f"{where}: expected a mapping of parameters, got {values!r}")
    for key in values:
        if key not in fields:
            allowed = ", ".join(fields) or "none"
            raise InputError(f"{where}: unknown parameter '{key}'{guess(key, fields)}: allowed are {allowed}")
    return cls(**{key: _value(fields[key], value, where) for key, value in values.items()})


def _value(field, value, where):
    meta = field.metadata
    problem = InputError(f"{where}: {field.name} = {value!r} is not allowed: it must be {_allowed(meta)}")
    if value is None and field.default is None:
        return None
    if isinstance(value, str) and value in meta.get("choices", ()):
        return value
    if meta["kind"] is str or isinstance(value, bool):
        raise problem
    try:
        parsed = float(value)
    except (TypeError, ValueError, OverflowError):
        raise problem from None
    if not math.isfinite(parsed) or not meta["low"] <= parsed <= meta["high"]:
        raise problem
    if meta["kind"] is int:
        if parsed != int(parsed):
            raise problem
        return int(parsed)
    return parsed


def _allowed(meta):
    words = " or ".join(meta.get("choices", ()))
    if meta["kind"] is str:
        return "one of " + ", ".join(meta["choices"])
    noun = "a whole number" if meta["kind"] is int else "a number"
    span = f"{noun} from {meta['low']:g} to {meta['high']:g}"
    return f"{words} or {span}" if words else span
