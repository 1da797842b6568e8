"""Random configs: valid ones are accepted and lose nothing, anything else is rejected. The same ones every time."""

import copy
import dataclasses
import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from befrl import agents, claims, instances
from befrl.common.errors import InputError, Refused
from befrl.experiment import seeds
from befrl.experiment.settings import split, variants
from befrl.experiment.tuning import EVALUATION
from befrl.study import schema_text
from befrl.study.config import check
from small_study import changed, error_of

fixed = settings(derandomize=True, deadline=None, database=None, max_examples=40)
of = st.fixed_dictionaries
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9.-]{0,6}", fullmatch=True)
TUNED = ("bef-rlsvi", "exp-psrl", "exp-ucrl")


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


def component(registry, key, name):
    """An instance or an agent with at most one parameter set; some agents are tuned or swept instead."""

    def one(build, *kinds):
        parameters = dataclasses.fields(registry.module(name).Parameters)
        found = [of({each.name: build(each)}) for each in parameters if each.metadata["kind"] in kinds]
        return st.one_of(found) if found else st.just({})

    plain = of({key: st.just(name)}, optional={"set": one(values_of, str, int, float)})
    both = {"tune": one(range_of, float), "sweep": one(points_of, int, float)}
    return plain | of({key: st.just(name)}, optional=both) if name in TUNED else plain


def some(registry, key, *more):
    entry = st.sampled_from([*registry.names(), *more]).flatmap(lambda name: component(registry, key, name))
    return st.dictionaries(NAMES, entry, min_size=1, max_size=2)


@st.composite
def studies(draw):
    """A valid config, and its study."""
    config = {"instances": draw(some(instances.registry, "family"))}
    config["agents"] = draw(some(agents.registry, "algorithm", *TUNED))
    assume({entry["algorithm"] for entry in config["agents"].values()} != {"oracle"})
    own = {
        "seeds": st.integers(2, 40),
        "tuning": st.integers(4, 30).map(lambda n: {"configurations": n, "seeds": [n // 4, n], "kept": [n // 2]}),
    }
    case = of(
        {"episodes": st.integers(2, 10**6), "agents": st.just(sorted(config["agents"]))},
        optional=own | {"tracks": st.sampled_from([["U"], ["K"], ["K", "U"]])},
    )
    of_study = own | {
        "ties": st.sampled_from(["random", "first"]),
        "root_seed": st.integers(0, 2**64 - 1),
        "jobs": of({}, optional={"seeds_per_job": st.integers(1, 90), "threads": st.integers(1, 9)}),
        "statistics": of({"level": st.floats(0.01, 0.99)}),
        "claims": of({"ids": st.lists(st.sampled_from(claims.names()), unique=True)}),
        "components": st.just({"planners": {"instances": sorted(config["instances"])}}),
    }
    config |= draw(of({"study": of(dict.fromkeys(config["instances"], case))}, optional=of_study))
    try:
        for entry in config["instances"].values():
            instances.check(entry["family"], entry.get("set", {}), "")
    except InputError:
        assume(False)  # parameters of a family may exclude each other
    try:
        return config, check(config)
    except Refused:
        assume(False)  # not every agent works on every instance


@fixed
@given(studies())
def test_valid_config_is_accepted_and_filled_once(pair):
    """Batches divide the evaluation seeds; labels of variants are different, and file names."""
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
        labels = variants(name, entry["set"], None, entry.get("sweep"))
        assert len(labels) == 1 + sum(map(len, entry.get("sweep", {}).values()))
        assert all(re.fullmatch(r"[A-Za-z0-9.@=+_-]+", label) and split(label)[0] == name for label in labels)


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
TEXTS = st.sampled_from([*WORDS, "U", "chain"]) | st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner),
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
