"""The config: what is accepted, what is refused and with which sentence, and the page that documents it.

The random tests are derandomised: they try the same configs every time.
"""

import copy
import dataclasses
import datetime
import functools
import inspect
import json
import math
import re

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from befrl import agents, claims, instances
from befrl.analysis import components
from befrl.cli.words import pairs
from befrl.common.errors import InputError, Refused
from befrl.common.parameters import read
from befrl.experiment import seeds
from befrl.experiment.settings import split, variants
from befrl.experiment.tuning import EVALUATION, Halving
from befrl.study.config import check, load
from helpers import PROJECT

FOLDER = PROJECT / "config"
SCHEMA = yaml.safe_load((FOLDER / "schema.yaml").read_text())
CONFIGS = sorted(set(FOLDER.glob("*.yaml")) - {FOLDER / f"{name}.yaml" for name in ("schema", "agents", "published")})
BASE = {
    "seeds": 3,
    "tuning": {"configurations": 4, "seeds": [2, 4], "kept": [2]},
    "instances": {"small": {"family": "chain", "set": {"bins": 3}}},
    "agents": {
        "ours": {"algorithm": "bef-rlsvi", "tune": {"x": [1, 30], "eta": 2}, "sweep": {"x": [1, 3]}},
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


def keys_of(schema, prefix=""):
    """{dotted key: (its schema, whether it is required)}, user-chosen names as <name>."""
    found = {}
    for key, sub in schema["properties"].items():
        named = sub.get("additionalProperties")
        if "properties" in sub:
            found |= keys_of(sub, f"{prefix}{key}.")
        elif isinstance(named, dict) and "properties" in named:
            found |= keys_of(named, f"{prefix}{key}.<name>.")
        else:
            found[prefix + key] = (sub, key in schema.get("required", ()))
    return found


def documented_default(sub, required):
    """As README.md writes it."""
    if required:
        return "required"
    return json.dumps(sub["default"]) if "default" in sub else "-"


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


def test_every_whole_number_has_a_smallest_and_a_largest_value():
    numbers = [sub for sub in subschemas(SCHEMA) if sub.get("type") == "integer"]
    assert len(numbers) >= 20
    assert all("minimum" in sub and "maximum" in sub for sub in numbers)


def test_every_key_of_the_schema_is_described():
    keys = keys_of(SCHEMA)
    assert {
        "root_seed",
        "study.<name>.agents",
        "components.exploration.episodes",
        "components.planners.features",
    } <= set(keys)
    assert [key for key, (sub, _) in keys.items() if not sub.get("description")] == []


def test_every_component_study_has_its_settings_in_the_schema():
    given = SCHEMA["properties"]["components"]["properties"]
    assert sorted(given) == components.registry.names()
    for kind, sub in given.items():
        wanted = set(list(inspect.signature(components.registry.module(kind).study).parameters)[3:])
        assert set(sub["properties"]) - {"instances"} == wanted


def test_the_page_documents_every_key_with_its_default_and_no_other():
    rows = re.findall(r"^\| `([^`]+)` \| (.+?) \| (.+) \|$", (FOLDER / "README.md").read_text(), flags=re.MULTILINE)
    assert len({key for key, _, _ in rows}) == len(rows)
    defaults = {key: documented_default(*found) for key, found in keys_of(SCHEMA).items()}
    assert {key: default.strip("`") for key, default, _ in rows} == defaults
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
    (("tuning", "seed"), 3, ["tuning", "'seed'", "configurations, seeds, kept"]),
    (("study", "small", "tuning"), {"sed": 3}, ["study.small.tuning", "'sed'", "configurations, seeds, kept"]),
    (("jobs", "cores"), 3, ["jobs", "cores", "threads", "lockstep"]),
    (("statistics", "levels"), 0.9, ["statistics", "levels", "level, coverage"]),
    (("instances", "small", "sets"), {}, ["instances.small", "sets", "family, set"]),
    (("instances", "small", "set", "bin"), 3, ["instances.small.set", "bin", "bins", "horizon"]),
    (("agents", "ours", "grid"), {}, ["agents.ours", "grid", "algorithm, set, tune, sweep"]),
    (("agents", "ours", "set"), {"y": 3}, ["agents.ours.set", "'y'", "scale, x", "eta", "delta"]),
    (("study", "small", "track"), ["U"], ["study.small", "track", "tracks, episodes, seeds, tuning, agents, headline"]),
    (("claims", "trails"), 3, ["claims", "trails", "trials, ids"]),
    (
        ("components", "planner"),
        {},
        [
            "components",
            "'planner'",
            "exploration, densities, estimators, planners, proof, repairs, scaling, theorem, traps, rates",
        ],
    ),
    (
        ("components", "planners"),
        {"instance": []},
        ["components.planners", "'instance'", "instances, features, repetitions"],
    ),
    # unknown names
    (("instances", "small", "family"), "ring", ["instances.small.family", "ring", "chain", "riverswim"]),
    (("agents", "ours", "algorithm"), "dqn", ["agents.ours.algorithm", "dqn", "bef-rlsvi", "greedy"]),
    (("study", "small", "agents"), ["ours", "theirs"], ["study.small.agents", "theirs", "ours, greedy"]),
    (("study", "large"), {"episodes": 5, "agents": ["ours"]}, ["study.large", "large", "small"]),
    (("claims", "ids"), ["C31", "C999"], ["claims.ids", "C999", "choose one of", "C31"]),
    (("agents", "greedy", "set"), {"estimator": "guess"}, ["agents.greedy.set", "'guess'", "ais", "shah"]),
    (("agents", "greedy", "set"), {"planner": "guess"}, ["agents.greedy.set", "'guess'", "exact", "rff"]),
    (("components", "exploration"), {"episodes": {"large": 5}}, ["components.exploration", "'large'", "small"]),
    *(
        (("components", kind), {"instances": ["large"]}, [f"components.{kind}: unknown instance 'large'", "small"])
        for kind in ("densities", "estimators", "planners", "scaling", "theorem", "rates")
    ),
    (("published",), {"nobody": {"a": ["small"]}}, ["published: unknown published source 'nobody'", "ayoub, cho, li"]),
    (("published",), {"cho": {"a": ["small"]}}, ["published.cho: unknown experiment 'a'", "returns, runtime"]),
    (("published",), {"li": {"reward": ["large"]}}, ["published.li.reward", "'large'", "small"]),
    (("published",), {"li": {"reward": ["small"]}}, ["published.li.reward", "study.small.tracks has no K"]),
    (("published",), {"li": {"reward": []}}, ["published.li.reward", "minItems 1"]),
    (("published",), {"li": {}}, ["published.li", "minProperties 1"]),
    (("include",), ["../agents.yaml"], ["include", "'../agents.yaml'", "config/"]),
    (("include",), ["nothing.yaml"], ["nothing.yaml cannot be read"]),
    (("include",), ["smoke.yaml"], ["include: smoke.yaml", "agents, groups"]),
    (("include",), "agents.yaml", ["include", "array"]),
    (("groups",), {"ours": ["greedy"]}, ["groups.ours has the name of an agent"]),
    (("groups",), {"all": []}, ["groups.all", "minItems 1"]),
    (("study", "small", "agents"), ["nobody"], ["study.small.agents", "unknown agent 'nobody'", "ours, greedy"]),
    # pairings that cannot work
    (("agents", "greedy", "algorithm"), "ucrl-mnl", ["study.small.agents", "'greedy'", "finite state space"]),
    (("agents", "greedy", "set"), {"estimator": "gaussian"}, ["study.small.agents", "'greedy'", "'gaussian'", "lds"]),
    (("agents", "ours", "set"), {"planner": "jacobi-anger"}, ["study.small.agents", "'ours'", "'jacobi-anger'"]),
    # out of range
    (("output",), "", ["output", "minLength 1"]),
    *(
        (("output",), name, ["output = ", "a folder of its own in the project"])
        for name in ("a{b}", "-rf", ".git", "src", "src/befrl", "..", "../out", "/tmp/out", "a/../../b", "a b", "$HOME")
    ),
    *(
        (("output",), name, ["output = ", "named with letters, digits"])
        for name in ("x" * 300, "/".join(["x" * 90] * 3), "a\n", "größe", "config/README.md", "results", "a//.b")
    ),
    (("root_seed",), 10**400, ["root_seed = 1000", "...", "maximum 18446744073709551615"]),
    (("seeds",), 1e308, ["seeds = 1", "maximum 1000000"]),
    (("components", "planners"), {"features": [8, 10**400]}, ["components.planners.features.1", "maximum 1000000"]),
    (("components", "estimators"), {"repetitions": 10**12}, ["repetitions = 1000000000000", "maximum 100000"]),
    (("claims", "trials"), 10**9, ["claims.trials", "maximum 1000000"]),
    (("study", "small", "agents"), ["x" * 100_000], ["study.small.agents", "unknown agent"]),
    (("instances", "x" * 101), {"family": "chain"}, ["instances", "pattern"]),
    (("toy",), datetime.date(2026, 1, 1), ["toy", "a text, a number, a list or a mapping"]),
    (("claims", "ids"), {"C31"}, ["claims.ids", "a text, a number, a list or a mapping"]),
    (("root_seed",), -1, ["root_seed", "-1", "minimum 0"]),
    (("seeds",), 1, ["seeds = 1", "minimum 2"]),
    (("seeds",), 10**7, ["seeds = 10000000", "maximum 1000000"]),
    (("study", "small", "seeds"), 1, ["study.small.seeds", "minimum 2"]),
    (("ties",), "last", ["ties = 'last'", "'random', 'first'"]),
    (("tuning", "configurations"), 1, ["tuning.configurations", "minimum 2"]),
    (("tuning", "seeds"), [], ["tuning.seeds", "minItems 1"]),
    (("tuning", "seeds"), [2, 1001], ["tuning.seeds.1", "maximum 1000"]),
    (("tuning", "seeds"), [4, 2], ["tuning.seeds = [4, 2]", "increasing numbers from 1 to 1000"]),
    (("tuning", "kept"), [4], ["tuning.kept = [4]", "decreasing numbers from 1 to 3"]),
    (("tuning", "kept"), [], ["tuning.kept = []", "one fewer than tuning.seeds"]),
    (("study", "small", "tuning"), {"configurations": 4}, ["study.small.tuning", "'seeds' is missing"]),
    (
        ("study", "small", "tuning"),
        {"configurations": 4, "seeds": [1, 2], "kept": [9]},
        ["study.small.tuning.kept = [9]", "from 1 to 3"],
    ),
    (("jobs", "seeds_per_job"), 0, ["jobs.seeds_per_job", "minimum 1"]),
    (("jobs", "threads"), 0, ["jobs.threads", "minimum 1"]),
    (("statistics", "level"), 1, ["statistics.level", "exclusiveMaximum 1"]),
    (("statistics", "level"), 0.0, ["statistics.level", "exclusiveMinimum 0"]),
    (("statistics", "level"), math.nan, ["statistics.level", "nan"]),
    (("statistics", "coverage"), 0, ["statistics.coverage", "minimum 1"]),
    (("instances", "small", "set", "bins"), 1, ["instances.small.set", "bins = 1", "from 2 to 1000"]),
    (("instances", "small", "set", "bins"), 10**400, ["instances.small.set", "bins", "from 2 to 1000"]),
    (("instances", "small", "set", "reward"), "cauchy", ["instances.small.set", "cauchy", "bernoulli"]),
    (("agents", "ours", "sweep"), {"x": [1, -1]}, ["agents.ours.sweep", "x = -1", "from 0 to"]),
    (("agents", "ours", "tune"), {"x": [3, 1]}, ["agents.ours.tune", "x = [3, 1]", "0 < low < high"]),
    (("agents", "ours", "tune"), {"x": [0, 1]}, ["agents.ours.tune.x"]),
    (("agents", "ours", "tune"), {"x": [1, 2], "eta": [1, 1e9]}, ["agents.ours.tune", "eta = 1000000000", "to 1e+06"]),
    (("agents", "ours", "tune"), {"x": 3}, ["agents.ours.tune", "at least one range"]),
    (("study", "small", "episodes"), 1, ["study.small.episodes", "minimum 2"]),
    (("study", "small", "tracks"), ["U", "V"], ["study.small.tracks", "'V'", "'U', 'K'"]),
    (("study", "small", "tracks"), ["U", "U"], ["study.small.tracks", "uniqueItems"]),
    (("claims", "trials"), 0, ["claims.trials", "minimum 1"]),
    (("components", "exploration"), {"episodes": {"small": 0}}, ["components.exploration.episodes.small", "minimum 1"]),
    (("components", "exploration"), {"tuning": 1}, ["components.exploration.tuning", "minimum 2"]),
    (("components", "densities"), {"transitions": 0}, ["components.densities.transitions", "minimum 1"]),
    (("components", "estimators"), {"sizes": [10]}, ["components.estimators.sizes", "minItems 2"]),
    (("components", "estimators"), {"sizes": [10, 0]}, ["components.estimators.sizes.1", "minimum 1"]),
    (("components", "scaling"), {"sizes": [4]}, ["components.scaling.sizes", "minItems 2"]),
    (("components", "rates"), {"seeds": 3}, ["components.rates.seeds", "minimum 4"]),
    (("components", "rates"), {"gaps": 2}, ["components.rates.gaps", "minimum 3"]),
    (("components", "planners"), {"features": [1, 2]}, ["components.planners.features.0", "minimum 2"]),
    (("components", "planners"), {"instances": ["small", "small"]}, ["components.planners.instances", "uniqueItems"]),
    # wrong types
    (("seeds",), None, ["seeds", "integer"]),
    (("seeds",), {"tuning": 2, "evaluation": 3}, ["seeds", "integer"]),
    (("seeds",), "30", ["seeds", "'30'", "integer"]),
    (("seeds",), 2.5, ["seeds", "2.5", "integer"]),
    (("seeds",), True, ["seeds", "integer"]),
    (("tuning",), 3, ["tuning", "object"]),
    (("tuning", "kept"), 3, ["tuning.kept", "array"]),
    (("agents", "ours", "tune"), {"x": ["a", "b"]}, ["agents.ours.tune.x"]),
    (("agents", "ours", "tune"), {"x": [1, 2, 3]}, ["agents.ours.tune.x"]),
    (("instances",), [], ["instances", "object"]),
    (("instances", "small", "family"), ["chain"], ["instances.small.family", "string"]),
    (("instances", "small", "set"), "bins=3", ["instances.small.set", "object"]),
    (("study", "small", "agents"), "ours", ["study.small.agents", "array"]),
    (("study", "small", "headline"), "yes", ["study.small.headline", "boolean"]),
    (("components",), None, ["components", "object"]),
    (("components", "exploration"), {"episodes": ["small"]}, ["components.exploration.episodes", "object"]),
    (("components", "densities"), {"instances": "small"}, ["components.densities.instances", "array"]),
    (("agents", "greedy", "sweep"), {"estimator": ["mle", "ais"]}, ["agents.greedy.sweep.estimator", "number"]),
    # names that could not be file names or parts of one
    (("instances", "a_b"), {"family": "chain"}, ["instances", "a_b", "pattern"]),
    (("agents", "a/b"), {"algorithm": "greedy"}, ["agents", "a/b", "pattern"]),
    (("agents", "a\n"), {"algorithm": "greedy"}, ["agents", "pattern"]),
    # sweeps, ranges and empty studies
    *(
        (("agents", "ours", key), {"y": [1, 2]}, [f"agents.ours.{key}", "'y'", "scale, x", "eta", "delta"])
        for key in ("tune", "sweep")
    ),
    (("agents", "ours", "sweep"), {"x": [1]}, ["agents.ours.sweep.x", "minItems 2"]),
    (("agents", "ours", "sweep"), {"x": [1, 2], "eta": [1, 2]}, ["agents.ours.sweep", "maxProperties 1"]),
    (("agents", "ours", "tune"), {}, ["agents.ours.tune", "minProperties 1"]),
    (("agents", "greedy", "tune"), {"x": [1, 2]}, ["agents.greedy.tune", "'x'", "eta"]),
    (("agents", "greedy", "sweep"), {"x": [1, 2]}, ["agents.greedy.sweep", "'x'", "eta"]),
    (("agents", "ours", "tune"), {"features": [10, 100]}, ["agents.ours.tune", "features = ", "whole number"]),
    (("agents", "ours", "tune"), {"x": [1, 2], "scale": [1, 2]}, ["bef-rlsvi", "x or scale"]),
    (("agents", "ours", "set"), {"scale": 2}, ["bef-rlsvi", "x or scale"]),
    (("agents", "greedy"), {"algorithm": "bef-rlsvi", "set": {"x": 1, "scale": 2}}, ["bef-rlsvi", "x or scale"]),
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
def test_a_sweep_is_of_numbers(values):
    """They are part of labels, stand on a command line and are put in order."""
    parameter = "x" if None in values else "scale"
    assert "agents.ours.sweep" in sentence_of(changed(("agents", "ours", "sweep"), {parameter: values}))


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
    config["seeds"] = 3.0
    config["tuning"] = {"configurations": 4.0, "seeds": [2.0, 4.0], "kept": [2.0]}
    config["jobs"] = {"seeds_per_job": 2.0}
    config["study"]["small"]["episodes"] = 5.0
    config["components"] = {
        "exploration": {"episodes": {"small": 5.0}},
        "estimators": {"instances": ["small"], "sizes": [100.0, 200.0]},
    }
    try:
        study = check(config, SCHEMA)
    except InputError:
        return
    assert type(study["seeds"]) is type(study["jobs"]["seeds_per_job"]) is int
    halving = study.halving("small")
    assert {type(value) for value in (halving.configurations, *halving.seeds, *halving.kept)} == {int}
    assert type(study["study"]["small"]["episodes"]) is int
    assert type(study.component("exploration")["small"]["episodes"]) is int
    assert {type(size) for size in study.component("estimators")["small"]["sizes"]} == {int}


# Component studies.


def test_the_settings_of_component_studies_by_instance():
    given = {
        "exploration": {"episodes": {"small": 7}, "tuning": 3},
        "planners": {"instances": ["small"], "features": [4, 8]},
    }
    study = check(BASE | {"components": given}, SCHEMA)
    assert study.component("exploration") == {"small": {"episodes": 7, "tuning": 3, "evaluation": 20}}
    assert study.component("planners") == {"small": {"features": [4, 8], "repetitions": 30}}
    assert study.component("densities") == study.component("estimators") == {}
    assert study.components() == [("exploration", "small"), ("planners", "small")]
    assert check(BASE, SCHEMA).components() == []
    with pytest.raises(InputError, match="unknown component study 'pies': choose one of exploration, densities"):
        study.component("pies")


def test_groups_stand_for_their_agents_and_included_agents_that_nobody_uses_are_left_out():
    config = BASE | {"include": ["agents.yaml"], "groups": {"mine": ["greedy", "psrl"]}}
    config["study"] = {"small": {"episodes": 5, "agents": ["ours", "mine"]}}
    study = check(copy.deepcopy(config), SCHEMA)
    assert study["study"]["small"]["agents"] == ["ours", "greedy", "psrl"]
    assert set(study["agents"]) == {"ours", "greedy", "psrl"}
    # An agent of the config's own goes before the included one of its name.
    own = config | {"agents": BASE["agents"] | {"psrl": {"algorithm": "psrl", "set": {"tau": 2}}}}
    assert check(copy.deepcopy(own), SCHEMA)["agents"]["psrl"]["set"] == {"tau": 2}
    config["study"]["small"]["agents"] = ["greedy", "mine"]
    assert "agent 'greedy' is named twice" in sentence_of(config)


def test_the_hash_is_of_what_decides_the_results():
    study = check(copy.deepcopy(BASE), SCHEMA)
    same = changed(("study", "small", "agents"), ["greedy", "ours"])
    same |= {"jobs": {"threads": 2, "lockstep": 7, "seeds_per_job": 3}}
    same["agents"]["ours"]["tune"] = {"x": [1.0, 30.0], "eta": 2.0}
    same["instances"]["small"]["set"] = {"bins": 3.0}
    assert check(same, SCHEMA).hash == study.hash
    others = {
        ("root_seed",): 1,
        ("ties",): "first",
        ("seeds",): 4,
        ("tuning", "kept"): [3],
        ("study", "small", "episodes"): 6,
        ("instances", "small", "set"): {},
        ("agents", "ours", "tune"): {"x": [1, 40], "eta": 2},
        ("agents", "ours", "sweep"): {"x": [1, 4]},
    }
    for path, value in others.items():
        assert check(changed(path, value), SCHEMA).hash != study.hash


def test_published_cases_are_left_out_of_the_comparison():
    config = copy.deepcopy(BASE) | {"published": {"ayoub": {"code": ["small"]}}}
    config["study"]["small"]["tracks"] = ["U", "K"]
    study = check(config, SCHEMA)
    assert study.cases() == [("small", "U"), ("small", "K")]
    assert study.compared_cases() == [("small", "U")]
    names = set(study.figures())
    assert {"regret_small_U", "ordering_small_U", "published_ayoub", "table1"} <= names
    assert "regret_small_K" not in names


# Random configs.


def values_of(field):
    """Allowed values of one parameter, as a config writes them."""
    meta = field.metadata
    if meta["kind"] is str:
        return st.sampled_from([*meta["choices"]])
    if meta["kind"] is int:
        return st.integers(meta["low"], meta["high"])
    return st.floats(meta["low"], meta["high"])


def small_values_of(field):
    """The same, sizes up to 20: models are made in order to see which agents work on them."""
    meta = field.metadata
    return st.integers(meta["low"], min(20, meta["high"])) if meta["kind"] is int else values_of(field)


def some_parameter(module, build, kinds=(str, int, float)):
    """A mapping of at most one parameter, of one of these kinds, to what `build` makes of its values."""
    fields = [field for field in dataclasses.fields(module.Parameters) if field.metadata["kind"] in kinds]
    if not fields:
        return st.just({})
    return st.sampled_from(fields).flatmap(lambda f: st.fixed_dictionaries({f.name: build(f)}))


def entry(registry, key, values):
    """An instance or an agent with at most one parameter set."""

    def of(name):
        setting = some_parameter(registry.module(name), values)
        return st.fixed_dictionaries({key: st.just(name)}, optional={"set": setting})

    return st.sampled_from(registry.names()).flatmap(of)


def tuned_agent(name):
    """An agent with a range for a positive number, and a sweep over a number."""

    def sweep(field):
        return st.lists(values_of(field), min_size=2, max_size=4, unique_by=lambda value: f"{value:g}")

    def span(field):
        low = max(field.metadata["low"], 1e-9)
        return st.tuples(st.floats(low, low * 50), st.floats(low * 100, field.metadata["high"])).map(list)

    module = agents.registry.module(name)
    return st.fixed_dictionaries(
        {"algorithm": st.just(name)},
        optional={"tune": some_parameter(module, span, (float,)), "sweep": some_parameter(module, sweep, (int, float))},
    )


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9.-]{0,6}", fullmatch=True)
AGENT = entry(agents.registry, "algorithm", values_of) | st.sampled_from(["bef-rlsvi", "exp-psrl", "exp-ucrl"]).flatmap(
    tuned_agent
)


@functools.lru_cache(maxsize=128)
def model_of(family, values):
    return instances.rebuild(family, json.loads(values), {}).model


def is_possible(entry):
    """Whether an instance can be made: each of its parameters is allowed by itself."""
    try:
        model_of(entry["family"], json.dumps(entry.get("set", {})))
    except InputError:
        return False
    return True


def works_on(config, name, agent):
    """Whether an agent is not refused on an instance."""
    instance, agent = config["instances"][name], config["agents"][agent]
    model = model_of(instance["family"], json.dumps(instance.get("set", {})))
    try:
        agents.specification(model, agent["algorithm"], agents.parameters(agent["algorithm"], agent.get("set", {})))
    except Refused:
        return False
    return True


def components_of(names):
    """Component studies on some instances."""
    some = st.lists(st.sampled_from(names), unique=True)
    sizes = st.lists(st.integers(2, 1000), min_size=2, max_size=4, unique=True)
    return {
        "exploration": st.fixed_dictionaries({"episodes": st.dictionaries(st.sampled_from(names), st.integers(1, 99))}),
        "densities": st.fixed_dictionaries({"instances": some}, optional={"transitions": st.integers(1, 10**6)}),
        "estimators": st.fixed_dictionaries({"instances": some}, optional={"sizes": sizes}),
        "planners": st.fixed_dictionaries({"instances": some, "features": sizes}),
        "theorem": st.fixed_dictionaries({"instances": some}, optional={"decades": st.integers(1, 30)}),
    }


@st.composite
def studies(draw):
    """Small valid configs."""
    instance = entry(instances.registry, "family", small_values_of)
    config = {
        "instances": draw(st.dictionaries(NAMES, instance, min_size=1, max_size=3)),
        "agents": draw(st.dictionaries(NAMES, AGENT, min_size=1, max_size=3)),
    }
    # Parameters of a family may exclude each other, such as those of `jao`.
    assume(all(is_possible(entry) for entry in config["instances"].values()))
    working = {
        name: sorted(agent for agent in config["agents"] if works_on(config, name, agent))
        for name in config["instances"]
    }
    able = [name for name in working if working[name]]
    assume(able)

    def part(name):
        some_agents = st.lists(st.sampled_from(working[name]), min_size=1, unique=True)
        tracks = st.lists(st.sampled_from("UK"), min_size=1, unique=True)
        return st.fixed_dictionaries(
            {"episodes": st.integers(2, 10**6), "agents": some_agents},
            optional={"tracks": tracks, "headline": st.booleans()},
        )

    shown = draw(st.lists(st.sampled_from(able), min_size=1, unique=True))
    config["study"] = draw(st.fixed_dictionaries({name: part(name) for name in shown}))
    halving = st.tuples(st.integers(4, 30), st.integers(1, 3), st.integers(4, 40)).map(
        lambda three: {"configurations": three[0], "seeds": [three[1], three[2]], "kept": [three[0] // 2]}
    )
    for name in shown:
        own = st.fixed_dictionaries({}, optional={"seeds": st.integers(2, 40), "tuning": halving})
        config["study"][name] |= draw(own)
    optional = {
        "seeds": st.integers(2, 40),
        "tuning": halving,
        "ties": st.sampled_from(["random", "first"]),
        "output": st.sampled_from([".", "build/here"]),
        "root_seed": st.integers(0, 2**64 - 1),
        "jobs": st.fixed_dictionaries({}, optional={"seeds_per_job": st.integers(1, 90), "threads": st.integers(1, 9)}),
        "statistics": st.fixed_dictionaries({}, optional={"level": st.floats(0.01, 0.99)}),
        "claims": st.fixed_dictionaries({}, optional={"ids": st.lists(st.sampled_from(claims.names()), unique=True)}),
        "components": st.fixed_dictionaries({}, optional=components_of(sorted(config["instances"]))),
    }
    return config | draw(st.fixed_dictionaries({}, optional=optional))


@fixed
@given(studies())
def test_valid_configs_are_accepted_and_filled_once(config):
    before = copy.deepcopy(config)
    study = check(config, SCHEMA)
    assert config == before
    assert check(study.config, SCHEMA).config == study.config
    assert check(study.config, SCHEMA).hash == study.hash
    assert set(study.config) == set(SCHEMA["properties"]) - {"include", "groups", "plugins"}


@fixed
@given(studies())
def test_batches_partition_the_evaluation_seeds(config):
    study = check(config, SCHEMA)
    for instance, _ in study.cases():
        batches = [seeds.parse(batch) for batch in study.batches(instance)]
        total = study["study"][instance].get("seeds", study["seeds"])
        assert [seed for batch in batches for seed in batch] == list(range(EVALUATION, EVALUATION + total))
        assert all(len(batch) <= study["jobs"]["seeds_per_job"] for batch in batches)
        assert study.halving(instance).seeds[-1] <= EVALUATION


def test_an_instance_may_have_its_own_numbers_of_seeds_and_procedure_of_tuning():
    config = copy.deepcopy(BASE)
    config["instances"]["other"] = config["instances"]["small"]
    own = {"seeds": 7, "tuning": {"configurations": 9, "seeds": [1, 5, 9], "kept": [4, 3]}}
    config["study"]["other"] = config["study"]["small"] | own
    study = check(config, SCHEMA)
    assert study.halving("small") == Halving(4, (2, 4), (2,))
    assert study.halving("other") == Halving(9, (1, 5, 9), (4, 3))
    assert (study.batches("small"), study.batches("other")) == (["1000-1002"], ["1000-1006"])
    assert (study.agent("small", "ours")["tune"], "tune" in study.agent("small", "greedy")) == (
        {"x": [1, 30], "eta": 2},
        False,
    )
    with pytest.raises(InputError, match="unknown agent 'theirs': choose one of ours, greedy"):
        study.agent("small", "theirs")


@fixed
@given(studies())
def test_variants_survive_the_way_through_labels_and_command_lines(config):
    study = check(config, SCHEMA)
    for instance, _ in study.cases():
        for name in study["study"][instance]["agents"]:
            entry = study.agent(instance, name)
            parameters = agents.registry.module(entry["algorithm"]).Parameters
            sweep = entry.get("sweep", {})
            found = variants(name, entry["set"], None, sweep)
            assert len(found) == 1 + sum(map(len, sweep.values()))
            for label, values in found.items():
                assert re.fullmatch(r"[A-Za-z0-9.@=+_-]+", label) and split(label)[0] == name
                words = [f"{key}={value}" for key, value in values.items()]
                assert read(parameters, pairs(words), "") == read(parameters, values, "")
            lists = {**sweep, **{key: span for key, span in entry.get("tune", {}).items()}}
            assert pairs([f"{key}={json.dumps(value)}" for key, value in lists.items()]) == lists


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
    assert all(study.batches(name) and study.halving(name) for name, _ in study.cases())
