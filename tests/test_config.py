"""The config: what is accepted, what is refused and with which sentence, and the page that documents it.

The random tests are derandomised: they try the same configs every time.
"""

import copy
import dataclasses
import json
import math
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from befrl import agents, claims, instances, seeds
from befrl.config import check, load, with_defaults
from befrl.errors import InputError
from befrl.parameters import read
from befrl.verbs import pairs

FOLDER = Path(__file__).resolve().parents[1] / "config"
SCHEMA = yaml.safe_load((FOLDER / "schema.yaml").read_text())
CONFIGS = sorted(set(FOLDER.glob("*.yaml")) - {FOLDER / "schema.yaml"})
BASE = {
    "seeds": {"tuning": 2, "evaluation": 3},
    "instances": {"small": {"family": "chain", "set": {"bins": 3}}},
    "agents": {
        "ours": {"algorithm": "bef-rlsvi", "grid": {"x": [1, 3]}},
        "greedy": {"algorithm": "greedy"},
    },
    "study": {"small": {"episodes": 5, "agents": ["ours", "greedy"]}},
    "claims": {"ids": ["C31"]},
}
fixed = settings(derandomize=True, deadline=None, database=None, max_examples=60)


def changed(path, value):
    """BASE with one entry replaced or added."""
    config = copy.deepcopy(BASE)
    entry = config
    for key in path[:-1]:
        entry = entry.setdefault(key, {}) if isinstance(entry, dict) else entry[key]
    entry[path[-1]] = value
    return config


def sentence_of(config):
    """The sentence by which a config is refused: one line."""
    with pytest.raises(InputError) as refusal:
        check(config, SCHEMA)
    text = str(refusal.value)
    assert text and "\n" not in text
    return text


def subschemas(schema):
    yield schema
    for sub in schema.get("properties", {}).values():
        yield from subschemas(sub)
    for key in ("additionalProperties", "items"):
        if isinstance(schema.get(key), dict):
            yield from subschemas(schema[key])


def documented_keys(schema, prefix=""):
    """{dotted key: default as README.md writes it}, user-chosen names as <name>."""
    found = {}
    for key, sub in schema["properties"].items():
        named = sub.get("additionalProperties")
        if "properties" in sub:
            found |= documented_keys(sub, f"{prefix}{key}.")
        elif isinstance(named, dict) and "properties" in named:
            found |= documented_keys(named, f"{prefix}{key}.<name>.")
        elif key in schema.get("required", ()):
            found[prefix + key] = "required"
        else:
            found[prefix + key] = json.dumps(sub["default"]) if "default" in sub else "-"
    return found


# The files.


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_config_is_accepted(path):
    study = load(path, FOLDER / "schema.yaml")
    assert study.cases() and study.claim_ids()


def test_there_is_a_study_a_toy_and_a_cluster_size():
    assert {path.name for path in CONFIGS} >= {"config.yaml", "smoke.yaml", "full.yaml"}


def test_the_schema_is_a_schema_and_its_defaults_obey_it():
    Draft202012Validator.check_schema(SCHEMA)
    defaults = [sub for sub in subschemas(SCHEMA) if "default" in sub]
    assert len(defaults) > 5
    for sub in defaults:
        Draft202012Validator(sub).validate(sub["default"])


def test_no_object_with_fixed_keys_takes_others():
    closed = [sub for sub in subschemas(SCHEMA) if "properties" in sub]
    assert len(closed) >= 8
    assert all(sub["additionalProperties"] is False for sub in closed)


def test_every_leaf_of_the_schema_is_described():
    leaves = [sub for sub in subschemas(SCHEMA) if "type" in sub and sub["type"] not in ("object", "array")]
    items = ({"type": "string"}, {"type": "number"})
    assert all(sub.get("description") for sub in leaves if sub not in items)


def test_the_page_documents_every_key_with_its_default_and_no_other():
    rows = re.findall(r"^\| `([^`]+)` \| (.+?) \| (.+) \|$", (FOLDER / "README.md").read_text(), flags=re.MULTILINE)
    assert len({key for key, _, _ in rows}) == len(rows)
    assert {key: default.strip("`") for key, default, _ in rows} == documented_keys(SCHEMA)
    assert all(meaning.strip() for _, _, meaning in rows)


@pytest.mark.parametrize("content", [None, b"\x86\x00\xff", b"a: [1,", b"just text", b""])
def test_a_file_that_is_no_config_is_refused(tmp_path, content):
    path = tmp_path / "study.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as refusal:
        load(path, FOLDER / "schema.yaml")
    assert str(path) in str(refusal.value) or "mapping" in str(refusal.value)


# Bad input: the key and what is allowed.

BAD = [
    # unknown keys, at each level
    (("sedes",), {}, ["sedes", "seeds", "instances", "claims"]),
    (("seeds", "tunning"), 3, ["seeds", "tunning", "tuning", "evaluation"]),
    (("jobs", "cores"), 3, ["jobs", "cores", "threads", "lockstep"]),
    (("statistics", "levels"), 0.9, ["statistics", "levels", "level", "resamples"]),
    (("instances", "small", "sets"), {}, ["instances.small", "sets", "family, set"]),
    (("instances", "small", "set", "bin"), 3, ["instances.small.set", "bin", "bins", "horizon"]),
    (("agents", "ours", "grids"), {}, ["agents.ours", "grids", "algorithm, set, grid"]),
    (("agents", "ours", "set"), {"y": 3}, ["agents.ours.set", "'y'", "scale, x, eta, delta"]),
    (("study", "small", "track"), ["U"], ["study.small", "track", "tracks, episodes, agents, headline"]),
    (("claims", "trails"), 3, ["claims", "trails", "trials, ids"]),
    # unknown names
    (("instances", "small", "family"), "ring", ["instances.small.family", "ring", "chain", "riverswim"]),
    (("agents", "ours", "algorithm"), "dqn", ["agents.ours.algorithm", "dqn", "bef-rlsvi", "greedy"]),
    (("study", "small", "agents"), ["ours", "theirs"], ["study.small.agents", "theirs", "ours, greedy"]),
    (("study", "large"), {"episodes": 5, "agents": ["ours"]}, ["study.large", "large", "small"]),
    (("claims", "ids"), ["C31", "C999"], ["claims.ids", "C999", "choose one of", "C31"]),
    # out of range
    (("output",), "", ["output", "minLength 1"]),
    (("root_seed",), -1, ["root_seed", "-1", "minimum 0"]),
    (("seeds", "tuning"), -1, ["seeds.tuning", "minimum 0"]),
    (("seeds", "evaluation"), 1, ["seeds.evaluation", "minimum 2"]),
    (("seeds", "evaluation"), 10**7, ["seeds.evaluation", "maximum 1000000"]),
    (("jobs", "seeds_per_job"), 0, ["jobs.seeds_per_job", "minimum 1"]),
    (("jobs", "threads"), 0, ["jobs.threads", "minimum 1"]),
    (("statistics", "level"), 1, ["statistics.level", "exclusiveMaximum 1"]),
    (("statistics", "level"), 0.0, ["statistics.level", "exclusiveMinimum 0"]),
    (("statistics", "level"), math.nan, ["statistics.level", "nan"]),
    (("statistics", "resamples"), 99, ["statistics.resamples", "minimum 100"]),
    (("instances", "small", "set", "bins"), 1, ["instances.small.set", "bins = 1", "from 2 to 1000"]),
    (("instances", "small", "set", "bins"), 10**400, ["instances.small.set", "bins", "from 2 to 1000"]),
    (("instances", "small", "set", "reward"), "cauchy", ["instances.small.set", "cauchy", "bernoulli"]),
    (("agents", "ours", "grid"), {"x": [1, -1]}, ["agents.ours.grid", "x = -1", "from 0 to"]),
    (("study", "small", "episodes"), 1, ["study.small.episodes", "minimum 2"]),
    (("study", "small", "tracks"), ["U", "V"], ["study.small.tracks", "'V'", "'U', 'K'"]),
    (("study", "small", "tracks"), ["U", "U"], ["study.small.tracks", "uniqueItems"]),
    (("claims", "trials"), 0, ["claims.trials", "minimum 1"]),
    # wrong types
    (("seeds",), None, ["seeds", "object"]),
    (("seeds", "tuning"), "30", ["seeds.tuning", "'30'", "integer"]),
    (("seeds", "tuning"), 2.5, ["seeds.tuning", "2.5", "integer"]),
    (("seeds", "tuning"), True, ["seeds.tuning", "integer"]),
    (("instances",), [], ["instances", "object"]),
    (("instances", "small", "family"), ["chain"], ["instances.small.family", "string"]),
    (("instances", "small", "set"), "bins=3", ["instances.small.set", "object"]),
    (("study", "small", "agents"), "ours", ["study.small.agents", "array"]),
    (("study", "small", "headline"), "yes", ["study.small.headline", "boolean"]),
    # names that could not be file names or parts of one
    (("instances", "a_b"), {"family": "chain"}, ["instances", "a_b", "pattern"]),
    (("agents", "a/b"), {"algorithm": "greedy"}, ["agents", "a/b", "pattern"]),
    (("agents", "a\n"), {"algorithm": "greedy"}, ["agents", "pattern"]),
    # grids and empty studies
    (("agents", "ours", "grid"), {"y": [1, 2]}, ["agents.ours.grid", "'y'", "scale, x, eta, delta"]),
    (("agents", "ours", "grid"), {"x": [1]}, ["agents.ours.grid.x", "minItems 2"]),
    (("agents", "ours", "grid"), {"x": [1, 2], "eta": [1, 2]}, ["agents.ours.grid", "maxProperties 1"]),
    (("agents", "greedy", "grid"), {"x": [1, 2]}, ["agents.greedy.grid", "'x'", "eta"]),
    (("agents", "ours", "set"), {"scale": 2}, ["bef-rlsvi", "x or scale"]),
    (("agents", "greedy"), {"algorithm": "bef-rlsvi", "set": {"x": 1, "scale": 2}}, ["bef-rlsvi", "x or scale"]),
    (("seeds", "tuning"), 0, ["seeds.tuning = 0", "agents.ours.grid", "1 or more"]),
    (("study",), {}, ["study", "minProperties 1"]),
    (("study", "small", "agents"), [], ["study.small.agents", "minItems 1"]),
    (("instances",), {}, ["instances", "minProperties 1"]),
]


def test_the_base_of_the_bad_configs_is_good():
    assert check(BASE, SCHEMA).cases() == [("small", "U")]


@pytest.mark.parametrize(("path", "value", "words"), BAD, ids=[f"{'.'.join(row[0])}={row[1]!r:.20}" for row in BAD])
def test_bad_input_is_answered_with_the_key_and_what_is_allowed(path, value, words):
    text = sentence_of(changed(path, value))
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize("key", ["instances", "agents", "study"])
def test_a_missing_part_is_named(key):
    config = {name: value for name, value in BASE.items() if name != key}
    assert f"'{key}' is missing" in sentence_of(config)


@pytest.mark.parametrize("values", [[1, "1"], [1, "theory"], [1, None]], ids=["text", "word", "nothing"])
def test_a_grid_is_of_numbers(values):
    """They name files, stand on a command line and are put in order."""
    parameter = "x" if None in values else "scale"
    assert "agents.ours.grid" in sentence_of(changed(("agents", "ours", "grid"), {parameter: values}))


@pytest.mark.parametrize("value", [None, [], "text", 3, True])
def test_what_is_no_mapping_is_refused(value):
    assert "mapping" in sentence_of(value)


def test_keys_of_mixed_types_are_refused():
    """YAML has keys that are numbers, dates or nothing."""
    sentence_of({**BASE, 1: 2, None: 3, "more": 4})


def test_a_name_that_yaml_reads_as_a_number_is_refused_or_made_text():
    """`1: {family: chain}`; names become parts of file names, which are texts."""
    config = {**BASE, "instances": {1: {"family": "chain"}}, "study": {1: BASE["study"]["small"]}}
    try:
        study = check(config, SCHEMA)
    except InputError:
        return
    assert study.cases() == [("1", "U")]


def test_whole_numbers_written_with_a_point_are_refused_or_made_whole():
    config = copy.deepcopy(BASE)
    config["seeds"] = {"tuning": 2.0, "evaluation": 3.0}
    config["jobs"] = {"seeds_per_job": 2.0}
    config["study"]["small"]["episodes"] = 5.0
    try:
        study = check(config, SCHEMA)
    except InputError:
        return
    assert {type(value) for value in (*study["seeds"].values(), *study["jobs"].values())} == {int}
    assert type(study["study"]["small"]["episodes"]) is int


# Random configs.


def values_of(field):
    """Allowed values of one parameter, as a config writes them."""
    meta = field.metadata
    if meta["kind"] is str:
        return st.sampled_from(meta["choices"])
    if meta["kind"] is int:
        return st.integers(meta["low"], meta["high"])
    return st.floats(meta["low"], meta["high"])


def some_parameter(module, build):
    """A mapping of at most one parameter to what `build` makes of its values."""
    fields = dataclasses.fields(module.Parameters)
    if not fields:
        return st.just({})
    return st.sampled_from(fields).flatmap(lambda f: st.fixed_dictionaries({f.name: build(f)}))


def entry(catalogue, key):
    """An instance or an agent with at most one parameter set."""

    def of(name):
        setting = some_parameter(catalogue.module(name), values_of)
        return st.fixed_dictionaries({key: st.just(name)}, optional={"set": setting})

    return st.sampled_from(catalogue.names()).flatmap(of)


def grid_agent(name):
    def grid(field):
        return st.lists(values_of(field), min_size=2, max_size=4, unique=True)

    return st.fixed_dictionaries(
        {"algorithm": st.just(name), "grid": some_parameter(agents.catalogue.module(name), grid)}
    )


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9.-]{0,6}", fullmatch=True)
AGENT = entry(agents.catalogue, "algorithm") | st.sampled_from(["bef-rlsvi", "exp-psrl", "exp-ucrl"]).flatmap(
    grid_agent
)


@st.composite
def studies(draw):
    """Small valid configs."""
    config = {
        "instances": draw(st.dictionaries(NAMES, entry(instances.catalogue, "family"), min_size=1, max_size=3)),
        "agents": draw(st.dictionaries(NAMES, AGENT, min_size=1, max_size=3)),
    }
    some_agents = st.lists(st.sampled_from(sorted(config["agents"])), min_size=1, unique=True)
    part = st.fixed_dictionaries(
        {"episodes": st.integers(2, 10**6), "agents": some_agents},
        optional={
            "tracks": st.lists(st.sampled_from("UK"), min_size=1, unique=True),
            "headline": st.booleans(),
        },
    )
    config["study"] = draw(st.dictionaries(st.sampled_from(sorted(config["instances"])), part, min_size=1))
    config["seeds"] = {"tuning": draw(st.integers(1, 40)), "evaluation": draw(st.integers(2, 40))}
    optional = {
        "output": st.sampled_from([".", "build/here"]),
        "root_seed": st.integers(0, 2**64),
        "jobs": st.fixed_dictionaries({}, optional={"seeds_per_job": st.integers(1, 90), "threads": st.integers(1, 9)}),
        "statistics": st.fixed_dictionaries({}, optional={"level": st.floats(0.01, 0.99)}),
        "claims": st.fixed_dictionaries({}, optional={"ids": st.lists(st.sampled_from(claims.names()), unique=True)}),
    }
    return config | draw(st.fixed_dictionaries({}, optional=optional))


@fixed
@given(studies())
def test_valid_configs_are_accepted_and_filled_once(config):
    before = copy.deepcopy(config)
    study = check(config, SCHEMA)
    assert config == before
    assert with_defaults(study.config, SCHEMA) == study.config
    assert check(study.config, SCHEMA).hash == study.hash
    assert set(study.config) == set(SCHEMA["properties"])


@fixed
@given(studies())
def test_blocks_partition_the_seeds_that_a_variant_needs(config):
    study = check(config, SCHEMA)
    tuning, evaluation = study["seeds"]["tuning"], study["seeds"]["evaluation"]
    for instance, _ in study.cases():
        for variant in study.variants(instance).values():
            blocks = [seeds.parse(block) for block in study.blocks(variant)]
            covered = [seed for block in blocks for seed in block]
            assert covered == list(range(0 if variant.grid else tuning, tuning + evaluation))
            assert all(len(block) <= study["jobs"]["seeds_per_job"] for block in blocks)


@fixed
@given(studies())
def test_variants_survive_the_way_through_file_names_and_command_lines(config):
    study = check(config, SCHEMA)
    for instance, _ in study.cases():
        variants = study.variants(instance)
        grids = [study["agents"][name].get("grid", {}) for name in study["study"][instance]["agents"]]
        assert len(variants) == len(grids) + sum(len(values) for grid in grids for values in grid.values())
        for label, variant in variants.items():
            assert re.fullmatch(r"[A-Za-z0-9.@=+_-]+", label)
            parameters = agents.catalogue.module(variant.algorithm).Parameters
            words = [f"{key}={value}" for key, value in variant.values.items()]
            assert read(parameters, pairs(words), "") == read(parameters, variant.values, "")


def leaves(value, path=()):
    """Paths of everything that is no mapping, members of lists too; and of mappings that are empty."""
    if isinstance(value, dict) and value:
        for key, sub in value.items():
            yield from leaves(sub, (*path, key))
        return
    yield path
    if isinstance(value, list):
        yield from ((*path, i) for i in range(len(value)))


def replaced(config, path, value):
    config = copy.deepcopy(config)
    inner = config
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return config


@fixed
@given(studies(), st.data())
def test_one_invalid_leaf_is_refused(config, data):
    """-1e300, a list of a list and a mapping of an unknown key are invalid at every leaf there is."""
    config = check(config, SCHEMA).config
    path = data.draw(st.sampled_from(sorted(leaves(config), key=str)))
    bad = data.draw(st.sampled_from([-1e300, [[]], {"no such key": 0}]))
    sentence_of(replaced(config, path, bad))


SCHEMA_WORDS = sorted({key for sub in subschemas(SCHEMA) for key in sub.get("properties", {})})
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["U", "chain", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(SCHEMA_WORDS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=8,
)


@fixed
@given(JSON)
def test_anything_at_all_is_refused_with_a_sentence(value):
    sentence_of(value)


@fixed
@given(studies(), JSON, st.data())
def test_anything_anywhere_is_accepted_or_refused(config, value, data):
    path = data.draw(st.sampled_from(sorted(leaves(config), key=str)))
    cut = data.draw(st.integers(1, len(path)))
    config = replaced(config, path[:cut], value)
    try:
        study = check(config, SCHEMA)
    except InputError as error:
        assert str(error)
        return
    assert Draft202012Validator(SCHEMA).is_valid(config)
    assert all(study.blocks(variant) for name, _ in study.cases() for variant in study.variants(name).values())
