"""The schema: its files, and the error message for every key that is unknown, out of range or of a wrong type."""

import functools
import inspect
import json
import re

import pytest
from jsonschema import Draft202012Validator

from befrl.analysis import components
from befrl.common.errors import quoted
from befrl.study import schema_text
from helpers import PROJECT
from small_study import BASE, changed, error_of

FOLDER = PROJECT / "config"
SCHEMA = schema_text.SCHEMA
NAMED = {"study.<name>": "study.small", "instances.<name>": "instances.small", "agents.<name>": "agents.ours"}
KEYS = {
    functools.reduce(lambda text, name: text.replace(*name), NAMED.items(), key): sub
    for key, (sub, _) in schema_text.keys().items()
}
# A procedure of tuning needs all its keys.
OWN_TUNING = changed("study.small.tuning", {"configurations": 4, "seeds": [1, 2], "kept": [2]})


def subschemas(schema):
    yield schema
    for value in schema.values():
        for sub in value if isinstance(value, list) else [value]:
            if isinstance(sub, dict):
                yield from subschemas(sub)


def of_type(*kinds):
    return [key for key, sub in KEYS.items() if sub["type"] in kinds]


def message(key, value):
    """The error message for a value, which must start with the key and the value."""
    text = error_of(changed(key, value, OWN_TUNING))
    assert text.startswith(f"{key} = {quoted(value)} is not allowed: "), text
    return text.partition(" is not allowed: ")[2]


@pytest.mark.parametrize("path", schema_text.files(FOLDER), ids=lambda path: path.name)
def test_generated_file_is_current(path):
    assert path.read_text() == schema_text.files(FOLDER)[path]


def test_readme_documents_every_key_once_with_its_default():
    rows = re.findall(r"^\| `([^`]+)` \| (.+?) \| (.+) \|$", (FOLDER / "README.md").read_text(), flags=re.MULTILINE)
    documented = {key: default.strip("`") for key, default, _ in rows}
    assert len(documented) == len(rows) and all(len(meaning) > 10 for _, _, meaning in rows)
    assert {"output", "study.<name>.agents", "components.rates.gaps", "claims.ids"} <= set(documented)
    for key, (sub, required) in schema_text.keys().items():
        default = "-" if sub.get("default") is None else json.dumps(sub["default"])
        assert documented.pop(key) == ("required" if required else default)
    assert documented == {}


def test_json_schema_is_valid_closed_and_bounded():
    """Its defaults obey it, mappings with fixed keys take no other, and whole numbers have bounds."""
    Draft202012Validator.check_schema(SCHEMA)
    parts = list(subschemas(SCHEMA))
    defaults = [sub for sub in parts if "default" in sub]
    assert len(defaults) > 50
    for sub in defaults:
        Draft202012Validator(sub | {"$defs": SCHEMA["$defs"]}).validate(sub["default"])
    closed = [sub for sub in parts if sub.get("type") == "object" and "properties" in sub]
    assert len(closed) > 15 and all(sub["additionalProperties"] is False for sub in closed)
    numbers = [sub for sub in parts if sub.get("type") == "integer"]
    assert len(numbers) > 30 and all({"minimum", "maximum"} <= set(sub) for sub in numbers)
    Draft202012Validator(SCHEMA).validate(BASE)


def test_components_have_the_settings_of_their_functions():
    given = SCHEMA["$defs"]["Components"]["properties"]
    assert sorted(given) == components.registry.names()
    for kind, sub in given.items():
        settings = SCHEMA["$defs"][sub["$ref"].rpartition("/")[2]]["properties"]
        wanted = list(inspect.signature(components.registry.module(kind).study).parameters)[3:]
        assert set(settings) - {"instances"} == set(wanted)


@pytest.mark.parametrize("key", of_type("integer"))
def test_whole_number_out_of_range_or_of_wrong_type_is_answered_with_its_range(key):
    low, high = KEYS[key]["minimum"], KEYS[key]["maximum"]
    for value in (low - 1, high + 1, 10**400, low + 0.5, str(low), True, [low], {"a": low}):
        assert message(key, value) == f"it must be a whole number from {low} to {high}"


@pytest.mark.parametrize("key", of_type("array"))
def test_list_of_wrong_length_type_or_with_equal_items_is_answered_with_what_it_may_hold(key):
    sub, item, least = KEYS[key], KEYS[key]["items"], KEYS[key].get("minItems", 0)
    count = {0: "", 1: "one or more ", 2: "2 or more "}[least] + ("different " if "uniqueItems" in sub else "")
    kind = f"whole numbers from {item['minimum']} to {item['maximum']}" if item["type"] == "integer" else "texts"
    kind = f"words out of {', '.join(item['enum'])}" if "enum" in item else kind
    expected = f"it must be a list of {count}{'non-empty ' if 'minLength' in item else ''}{kind}"
    valid = item["enum"][0] if "enum" in item else item.get("minimum", "agents.yaml")
    wrong = [valid, {"a": valid}, *([[valid] * (least - 1)] if least else [])]
    wrong += [[valid, valid]] if "uniqueItems" in sub and key != "include" else []
    assert {message(key, value) for value in wrong} == {expected}
    for bad in (item["minimum"] - 1, item["maximum"] + 1, "a", True) if item["type"] == "integer" else ():
        text = error_of(changed(key, [item["minimum"], bad], OWN_TUNING))
        assert text == f"{key}.1 = {bad!r} is not allowed: it must be a {kind.replace('numbers', 'number')}"


@pytest.mark.parametrize("key", of_type("object", "string", "boolean"))
def test_other_values_of_wrong_type_are_answered_with_the_right_one(key):
    words = {"object": "a mapping", "string": ("a text", "a non-empty text", "choose "), "boolean": "true or false"}
    for value in (3, ["a", "b"], "text" if KEYS[key]["type"] == "boolean" else 0.5):
        assert message(key, value).removeprefix("it must be ").startswith(words[KEYS[key]["type"]])


SECTIONS = ["tuning", "jobs", "statistics", "claims", "components", "instances.small", "agents.ours", "study.small"]
SECTIONS += ["study.small.tuning", *(f"components.{kind}" for kind in components.registry.names())]


@pytest.mark.parametrize("section", SECTIONS)
def test_unknown_key_is_answered_with_the_known_ones_and_a_guess(section):
    known = [key.removeprefix(f"{section}.").split(".")[0] for key in KEYS if key.startswith(f"{section}.")]
    first, allowed = known[0], ", ".join(dict.fromkeys(known))
    text = error_of(changed(f"{section}.{first}x", 3, OWN_TUNING))
    assert text == f"{section}: unknown key '{first}x' (did you mean '{first}'?): allowed are {allowed}"
    if section != "study.small.tuning":
        assert error_of(changed(section, 3)).endswith(f"it must be a mapping with the keys {allowed}")
