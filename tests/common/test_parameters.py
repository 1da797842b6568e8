"""Parameters: what is allowed passes unchanged, what is not is refused by a sentence that names the key."""

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
    bins: int = integer(8, 2, 10, "a whole number")
    law: str = choice("one", ("one", "two"), "a word")
    x: float | None = optional(0.0, 5.0, "a number or nothing")
    scale: float | str = scale("theory or a number")


GOOD = [
    ("sigma", 0, 0.0),
    ("sigma", "1e-3", 1e-3),
    ("sigma", 1.0, 1.0),
    ("bins", 2, 2),
    ("bins", "7", 7),
    ("bins", 3.0, 3),
    ("law", "two", "two"),
    ("x", None, None),
    ("x", 2, 2.0),
    ("scale", "theory", "theory"),
    ("scale", "0.5", 0.5),
    ("scale", 0, 0.0),
]
BAD = [
    *[(key, value) for key in ("sigma", "bins", "x", "scale") for value in (math.nan, math.inf, -math.inf, "nan")],
    *[(key, value) for key in ("sigma", "bins", "law", "x", "scale") for value in (True, [], "three", {})],
    *[(key, None) for key in ("sigma", "bins", "law", "scale")],
    ("sigma", 1.0000001),
    ("sigma", -1e-300),
    ("bins", 2.5),
    ("bins", 1),
    ("bins", 11),
    ("law", 1),
    ("x", -1),
    ("x", 5.1),
    ("x", "theory"),
    ("scale", -1),
    ("scale", 1e7),
]


@pytest.mark.parametrize(("key", "value", "parsed"), GOOD)
def test_allowed_values_are_read(key, value, parsed):
    got = getattr(read(Example, {key: value}, "here"), key)
    assert got == parsed
    assert type(got) is type(parsed)


@pytest.mark.parametrize(("key", "value"), BAD)
def test_other_values_are_refused_by_name(key, value):
    with pytest.raises(InputError, match=rf"^here: {key} = .* is not allowed: it must be "):
        read(Example, {key: value}, "here")


def test_the_sentence_says_what_is_allowed():
    with pytest.raises(InputError, match=r"bins = 11 .* a whole number from 2 to 10$"):
        read(Example, {"bins": 11}, "here")
    with pytest.raises(InputError, match=r"law = 'three' .* one of one, two$"):
        read(Example, {"law": "three"}, "here")
    with pytest.raises(InputError, match=r"scale = -1 .* theory or a number from 0 to 1e\+06$"):
        read(Example, {"scale": -1}, "here")


def test_unknown_keys_and_other_shapes_are_refused():
    with pytest.raises(
        InputError, match=r"here: unknown parameter 'sigmo' .*'sigma'.*: allowed are sigma, bins, law, x, scale"
    ):
        read(Example, {"sigmo": 1}, "here")
    for values in (None, [], "sigma=1"):
        with pytest.raises(InputError, match="expected a mapping"):
            read(Example, values, "here")


def test_nothing_given_means_defaults():
    assert read(Example, {}, "here") == Example()


# Parameters of many rows.


def test_numbers_of_the_rows_are_arrays_setting_by_setting():
    """None is NaN and `theory` is 1; words and whole numbers stay as they are."""
    settings = [
        read(Example, values, "here")
        for values in ({"law": "two"}, {"law": "two", "sigma": 0.4, "x": 3}, {"law": "two", "scale": 0})
    ]
    rows = per_row(settings, 2)
    assert isinstance(rows, Example)
    assert np.array_equal(rows.sigma, [0.1, 0.1, 0.4, 0.4, 0.1, 0.1])
    assert np.array_equal(rows.x, [math.nan, math.nan, 3, 3, math.nan, math.nan], equal_nan=True)
    assert np.array_equal(rows.scale, [1, 1, 1, 1, 0, 0])
    assert all(getattr(rows, key).dtype == float for key in ("sigma", "x", "scale"))
    assert (rows.law, rows.bins) == ("two", 8)
    assert np.array_equal(given_or(rows.x, np.arange(6.0)), [0, 1, 3, 3, 4, 5])
    assert np.array_equal(given_or(rows.x, 7.0), [7, 7, 3, 3, 7, 7])


@pytest.mark.parametrize(("key", "value"), [("law", "two"), ("bins", 9)])
def test_words_and_whole_numbers_must_agree(key, value):
    with pytest.raises(InputError, match=rf"^{key} must be the same in all settings .*{value}"):
        per_row([Example(), read(Example, {key: value}, "here")], 3)


@pytest.mark.parametrize("algorithm", agents.registry.names())
def test_every_number_of_an_agent_becomes_an_array(algorithm):
    one = agents.parameters(algorithm, {})
    rows = per_row([one, one], 3)
    for field in dataclasses.fields(one):
        value = getattr(rows, field.name)
        if field.metadata["kind"] is float:
            assert value.shape == (6,)
            assert len(np.unique(value)) == 1
        else:
            assert value == getattr(one, field.name)


MODULES = [(registry, name) for registry in (agents.registry, instances.registry) for name in registry.names()]


@pytest.mark.parametrize(("registry", "name"), MODULES, ids=[name for _, name in MODULES])
def test_every_module_declares_parameters_whose_defaults_are_allowed(registry, name):
    cls = registry.module(name).Parameters
    described = describe(cls)
    assert read(cls, {row["name"]: row["default"] for row in described}, name) == cls()
    assert all(row["text"] and row["allowed"] for row in described)
    assert registry.summary(name).endswith(".")


@pytest.mark.parametrize("registry", [agents.registry, instances.registry], ids=["agent", "instance"])
def test_an_unknown_name_is_answered_with_the_known_ones(registry):
    with pytest.raises(InputError, match=f"unknown {registry.kind} 'nobody': .*{registry.names()[-1]}"):
        registry.module("nobody")
