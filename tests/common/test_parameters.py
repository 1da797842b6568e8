"""Parameters: allowed values are read, others are rejected with a message that names the key and the allowed values."""

import dataclasses
import math

import numpy as np
import pytest

from befrl import agents, instances
from befrl.common.errors import InputError
from befrl.common.parameters import choice, describe, given_or, integer, number, optional, per_row, read, scale


@dataclasses.dataclass(frozen=True)
class Example:
    sigma: float = number(0.1, 0.0, 1.0, "a number")
    bins: int = integer(8, 2, 10, "an integer")
    law: str = choice("one", ("one", "two"), "a word")
    x: float | None = optional(0.0, 5.0, "a number or nothing")
    scale: float | str = scale("theory or a number")


# {key: (pairs of a value and what it is read as, values that are rejected, the allowed values in the message)}.
CASES = {
    "sigma": ([(0, 0.0), ("1e-3", 1e-3), (1.0, 1.0)], [1.0000001, -1e-300, None], "a number from 0 to 1"),
    "bins": ([(2, 2), ("7", 7), (3.0, 3)], [2.5, 1, 11, 10**400, None], "a whole number from 2 to 10"),
    "law": ([("two", "two")], [1, None], "one of one, two"),
    "x": ([(None, None), (2, 2.0)], [-1, 5.1, "theory"], "a number from 0 to 5"),
    "scale": ([("theory", "theory"), ("0.5", 0.5), (0, 0.0)], [-1, 1e7, None], "theory or a number from 0 to 1e+06"),
}
NEVER = [math.nan, math.inf, -math.inf, "nan", True, [], "three", {}]


@pytest.mark.parametrize("key", CASES)
def test_allowed_values_are_read_and_others_rejected(key):
    good, bad, allowed = CASES[key]
    for value, parsed in good:
        got = getattr(read(Example, {key: value}, "here"), key)
        assert got == parsed
        assert type(got) is type(parsed)
    for value in bad + NEVER:
        with pytest.raises(InputError) as error:
            read(Example, {key: value}, "here")
        assert str(error.value) == f"here: {key} = {value!r} is not allowed: it must be {allowed}"


def test_unknown_keys_and_other_types_are_rejected():
    allowed = r"here: unknown parameter 'sigmo' .*'sigma'.*: allowed are sigma, bins, law, x, scale"
    with pytest.raises(InputError, match=allowed):
        read(Example, {"sigmo": 1}, "here")
    for values in (None, [], "sigma=1"):
        with pytest.raises(InputError, match="expected a mapping"):
            read(Example, values, "here")
    assert read(Example, {}, "here") == Example()


def test_parameters_of_rows_are_arrays_setting_by_setting():
    """None is NaN and `theory` is 1; words and integers stay as they are, and must be the same in all settings."""
    changes = ({}, {"sigma": 0.4, "x": 3}, {"scale": 0})
    rows = per_row([read(Example, {"law": "two"} | values, "here") for values in changes], 2)
    assert isinstance(rows, Example)
    assert np.array_equal(rows.sigma, [0.1, 0.1, 0.4, 0.4, 0.1, 0.1])
    assert np.array_equal(rows.x, [math.nan, math.nan, 3, 3, math.nan, math.nan], equal_nan=True)
    assert np.array_equal(rows.scale, [1, 1, 1, 1, 0, 0])
    assert all(getattr(rows, key).dtype == float for key in ("sigma", "x", "scale"))
    assert (rows.law, rows.bins) == ("two", 8)
    assert np.array_equal(given_or(rows.x, np.arange(6.0)), [0, 1, 3, 3, 4, 5])
    assert np.array_equal(given_or(rows.x, 7.0), [7, 7, 3, 3, 7, 7])
    for key, value in (("law", "two"), ("bins", 9)):
        with pytest.raises(InputError, match=rf"^{key} must be the same in all settings .*{value}"):
            per_row([Example(), read(Example, {key: value}, "here")], 3)


MODULES = [(registry, name) for registry in (agents.registry, instances.registry) for name in registry.names()]


@pytest.mark.parametrize(("registry", "name"), MODULES, ids=[name for _, name in MODULES])
def test_defaults_of_every_component_are_allowed_and_its_numbers_become_arrays(registry, name):
    cls = registry.module(name).Parameters
    described = describe(cls)
    one = read(cls, {row["name"]: row["default"] for row in described}, name)
    assert one == cls()
    assert all(row["text"] and row["allowed"] for row in described)
    assert registry.summary(name).endswith(".")
    rows = per_row([one, one], 3)
    for field in dataclasses.fields(one):
        value = getattr(rows, field.name)
        if field.metadata["kind"] is float:
            assert value.shape == (6,)
            assert len(np.unique(value)) == 1
        else:
            assert value == getattr(one, field.name)
