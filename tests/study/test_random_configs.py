"""Random configs: valid ones are accepted and lose nothing, anything else is rejected. The same ones every time."""

import copy
import dataclasses
import json
import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from befrl import agents, claims, instances
from befrl.cli.words import pairs
from befrl.common.errors import InputError, Refused
from befrl.common.parameters import read
from befrl.experiment import seeds
from befrl.experiment.settings import split, variants
from befrl.experiment.tuning import EVALUATION
from befrl.study import schema_text
from befrl.study.config import check
from small_study import changed, error_of

fixed = settings(derandomize=True, deadline=None, database=None, max_examples=40)
of = st.fixed_dictionaries
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9.-]{0,6}", fullmatch=True)
SIZES = st.lists(st.integers(2, 1000), min_size=2, max_size=4, unique=True)
HALVING = st.builds(
    lambda count, first, last: {"configurations": count, "seeds": [first, last], "kept": [count // 2]},
    *(st.integers(4, 30), st.integers(1, 3), st.integers(4, 40)),
)


def values_of(field):
    """Allowed values of a parameter; sizes up to 20, because models are built."""
    kind, low, high = (field.metadata.get(key) for key in ("kind", "low", "high"))
    if kind is str:
        return st.sampled_from([*field.metadata["choices"]])
    return st.integers(low, min(20, high)) if kind is int else st.floats(low, high)


def points_of(field):
    return st.lists(values_of(field), min_size=2, max_size=4, unique_by=lambda value: f"{value:g}")


def range_of(field):
    low = max(field.metadata["low"], 1e-9)
    return st.tuples(st.floats(low, low * 50), st.floats(low * 100, field.metadata["high"])).map(list)


def component(registry, name, key, tuned=()):
    """An instance or an agent with at most one parameter set; some agents are also tuned or swept."""
    parameters = dataclasses.fields(registry.module(name).Parameters)

    def one(build, *kinds):
        found = [of({each.name: build(each)}) for each in parameters if each.metadata["kind"] in kinds]
        return st.one_of(found) if found else st.just({})

    plain = of({key: st.just(name)}, optional={"set": one(values_of, str, int, float)})
    both = {"tune": one(range_of, float), "sweep": one(points_of, int, float)}
    return plain | of({key: st.just(name)}, optional=both) if name in tuned else plain


@st.composite
def studies(draw):
    """A valid config, and its study."""
    families, algorithms = instances.registry.names(), agents.registry.names()
    tuned = ("bef-rlsvi", "exp-psrl", "exp-ucrl")
    instance = st.sampled_from(families).flatmap(lambda name: component(instances.registry, name, "family"))
    agent = st.sampled_from([*algorithms, *tuned]).flatmap(
        lambda name: component(agents.registry, name, "algorithm", tuned)
    )
    config = {
        "instances": draw(st.dictionaries(NAMES, instance, min_size=1, max_size=2)),
        "agents": draw(st.dictionaries(NAMES, agent, min_size=1, max_size=2)),
    }
    some = st.lists(st.sampled_from(sorted(config["instances"])), unique=True)
    tracks, own = (
        st.lists(st.sampled_from("UK"), min_size=1, unique=True),
        {"seeds": st.integers(2, 40), "tuning": HALVING},
    )
    case = of(
        {"episodes": st.integers(2, 10**6), "agents": st.just(sorted(config["agents"]))},
        optional=own | {"tracks": tracks, "headline": st.booleans()},
    )
    components = {
        "exploration": some.map(lambda names: {"episodes": dict.fromkeys(names, 9)}),
        "densities": of({"instances": some}, optional={"transitions": st.integers(1, 10**6)}),
        "planners": of({"instances": some}, optional={"features": SIZES}),
    }
    optional = own | {
        "ties": st.sampled_from(["random", "first"]),
        "output": st.sampled_from([".", "build/here"]),
        "root_seed": st.integers(0, 2**64 - 1),
        "jobs": of({}, optional={"seeds_per_job": st.integers(1, 90), "threads": st.integers(1, 9)}),
        "statistics": of({"level": st.floats(0.01, 0.99)}),
        "claims": of({"ids": st.lists(st.sampled_from(claims.names()), unique=True)}),
        "components": of({}, optional=components),
    }
    config |= draw(of({"study": of(dict.fromkeys(config["instances"], case))}, optional=optional))
    try:
        # Parameters of a family may exclude each other ...
        for entry in config["instances"].values():
            instances.check(entry["family"], entry.get("set", {}), "")
    except InputError:
        assume(False)
    try:
        return config, check(config)
    except Refused:
        # ... and not every agent works on every instance.
        assume(False)


@fixed
@given(studies())
def test_valid_config_is_accepted_and_filled_once(pair):
    """Batches divide the evaluation seeds; labels are file names; values survive the way through a command line."""
    config, study = pair
    before = copy.deepcopy(config)
    assert check(config) == study and config == before
    assert (check(study.config).config, check(study.config).hash) == (study.config, study.hash)
    assert set(study.config) == set(schema_text.SCHEMA["properties"]) - {"include", "groups", "plugins"}
    for name, _ in study.cases():
        batches, total = list(map(seeds.parse, study.batches(name))), study["study"][name].get("seeds", study["seeds"])
        assert [seed for batch in batches for seed in batch] == list(range(EVALUATION, EVALUATION + total))
        assert all(len(batch) <= study["jobs"]["seeds_per_job"] for batch in batches)
        assert study.halving(name).seeds[-1] <= EVALUATION
    for name, entry in study["agents"].items():
        parameters, sweep = agents.registry.module(entry["algorithm"]).Parameters, entry.get("sweep", {})
        found = variants(name, entry["set"], None, sweep)
        assert len(found) == 1 + sum(map(len, sweep.values()))
        for label, values in found.items():
            assert re.fullmatch(r"[A-Za-z0-9.@=+_-]+", label) and split(label)[0] == name
            words = [f"{key}={value}" for key, value in values.items()]
            assert read(parameters, pairs(words), "") == read(parameters, values, "")
        lists = sweep | entry.get("tune", {})
        assert pairs([f"{key}={json.dumps(value)}" for key, value in lists.items()]) == lists


def leaves(value, path=()):
    """Paths of everything that is no mapping, items of lists too; and of mappings that are empty."""
    if isinstance(value, dict) and value:
        for key, sub in value.items():
            yield from leaves(sub, (*path, key))
        return
    yield path
    if isinstance(value, list):
        yield from ((*path, i) for i in range(len(value)))


WORDS = sorted({word for key in schema_text.keys() for word in key.split(".")})
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["U", "chain"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner),
    max_leaves=8,
)


@fixed
@given(JSON)
def test_anything_but_a_config_is_rejected(value):
    error_of(value)


@fixed
@given(studies(), st.sampled_from([-1e300, [[]], {"no such key": 0}]), JSON, st.data())
def test_wrong_leaf_is_rejected_and_any_value_anywhere_is_rejected_or_valid(pair, wrong, value, data):
    config = pair[1].config
    path = data.draw(st.sampled_from(sorted(leaves(config), key=str)))
    error_of(changed(path, wrong, config))
    config = changed(path[: data.draw(st.integers(1, len(path)))], value, config)
    try:
        study = check(config)
    except InputError:
        return
    assert Draft202012Validator(schema_text.SCHEMA).is_valid(config)
    assert all(study.batches(name) and study.halving(name) for name, _ in study.cases())
