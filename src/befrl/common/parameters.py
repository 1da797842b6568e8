"""Parameters of instances and agents: dataclass fields made by `number`, `integer`, `choice`, `optional` or `scale`."""

import dataclasses
import math

import numpy as np

from befrl.common.errors import InputError, guess

_NUMBERS = {None: math.nan, "theory": 1.0}


def number(default, low, high, text, ridge=False):
    """A real number in [low, high]; `ridge` marks a penalty or a prior, which a fair comparison tunes."""
    return _field(default, text, kind=float, low=low, high=high, ridge=ridge)


def integer(default, low, high, text):
    """An integer in [low, high]."""
    return _field(default, text, kind=int, low=low, high=high)


def choice(default, choices, text):
    """One of the given words, or one of the names of a registry, which may grow."""
    return _field(default, text, kind=str, choices=choices)


def optional(low, high, text, ridge=False, rewards=False):
    """A real number in [low, high], or None; `ridge` as for `number`; `rewards`: of estimated rewards only."""
    return _field(None, text, kind=float, low=low, high=high, ridge=ridge, rewards=rewards)


def scale(text):
    """A multiple of the theoretical constants, or the word `theory`."""
    return _field("theory", text, kind=float, low=0.0, high=1e6, choices=("theory",))


def per_row(settings, seeds: int):
    """The parameters of all rows (setting, seed) of a run as one object; the seeds of a setting are adjacent.

    Numbers become arrays (n,) with NaN for None and 1 for `theory`. Words and integers, which change the shape of the
    computation, must be the same in all settings.
    """
    cls = type(settings[0])
    # The checks of a single setting have been made, and do not apply to arrays.
    stacked = object.__new__(cls)
    for field in _fields(cls):
        values = [getattr(setting, field.name) for setting in settings]
        joint = values[0]
        if field.metadata["kind"] is float:
            joint = np.repeat(np.array([_NUMBERS.get(value, value) for value in values], dtype=float), seeds)
        elif any(value != joint for value in values):
            raise InputError(f"{field.name} must be the same in all settings that run side by side, got {values}")
        object.__setattr__(stacked, field.name, joint)
    return stacked


def given_or(values, default):
    """The values (n,), with the default in place of NaN."""
    return np.where(np.isnan(values), default, values)


def describe(cls) -> list[dict]:
    """Name, default, allowed values and meaning of every parameter of `cls`, and whether it is a ridge."""
    return [
        {"name": field.name, "default": field.default, "allowed": _allowed(field.metadata)}
        | {"text": field.metadata["text"], "ridge": field.metadata.get("ridge", False)}
        for field in _fields(cls)
    ]


def read(cls, values, where: str):
    """Fill the dataclass `cls` from `values`; error messages start with `where`, the origin of the values."""
    fields = {field.name: field for field in _fields(cls)}
    if not isinstance(values, dict):
        raise InputError(f"{where}: expected a mapping of parameters, got {values!r}")
    for key in values:
        if key not in fields:
            allowed = ", ".join(fields) or "none"
            raise InputError(f"{where}: unknown parameter '{key}'{guess(key, fields)}: allowed are {allowed}")
    return cls(**{key: _value(fields[key], value, where) for key, value in values.items()})


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


def _value(field, value, where):
    meta = field.metadata
    if (value is None and field.default is None) or (isinstance(value, str) and value in meta.get("choices", ())):
        return value
    try:
        parsed = math.nan if meta["kind"] is str or isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        parsed = math.nan
    if not (math.isfinite(parsed) and meta["low"] <= parsed <= meta["high"] and parsed == meta["kind"](parsed)):
        raise InputError(f"{where}: {field.name} = {value!r} is not allowed: it must be {_allowed(meta)}")
    return meta["kind"](parsed)


def _allowed(meta):
    if meta["kind"] is str:
        return "one of " + ", ".join(meta["choices"])
    words = "".join(f"{word} or " for word in meta.get("choices", ()))
    noun = "a whole number" if meta["kind"] is int else "a number"
    return f"{words}{noun} from {meta['low']:g} to {meta['high']:g}"
