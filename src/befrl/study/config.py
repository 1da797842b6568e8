"""A study read from its config: checked whole before any work, then asked for its cases, variants and blocks.

A *case* is an (instance, track). An agent has a *variant* at the values it is given (the theory's by default) and
one at each point of its grid, named like `bef-rlsvi@x=3`. Seeds 0 .. tuning-1 choose among the points of a grid, the
seeds after them are what is shown; a *block* is a range of seeds that one job runs, named like `30-59`.
"""

import copy
import functools
import hashlib
import json
import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

from befrl import agents, claims, figures, instances
from befrl.analysis import published
from befrl.common import storage
from befrl.common.errors import InputError, Refused, unknown
from befrl.common.parameters import read
from befrl.experiment import seeds

# The schema is part of the project's folder, beside the configs.
SCHEMA = Path(__file__).parents[3] / "config" / "schema.yaml"


@dataclass(frozen=True)
class Variant:
    """An agent with its parameters; `grid` is the name of the parameter that its grid varies, if it is on one."""

    label: str
    agent: str
    algorithm: str
    values: dict
    grid: str | None = None


@dataclass(frozen=True)
class Study:
    config: dict

    def __getitem__(self, key):
        return self.config[key]

    @property
    def hash(self) -> str:
        return hashlib.sha256(json.dumps(self.config, sort_keys=True).encode()).hexdigest()[:16]

    def cases(self) -> list[tuple[str, str]]:
        return [(instance, track) for instance, entry in self["study"].items() for track in entry["tracks"]]

    def check_case(self, instance, track):
        if instance not in self["study"]:
            raise unknown("instance", instance, self["study"])
        if track not in self["study"][instance]["tracks"]:
            raise unknown("track", track, self["study"][instance]["tracks"])

    def variants(self, instance: str) -> dict[str, Variant]:
        """By label, those of each agent together."""
        found = {}
        for name in self["study"][instance]["agents"]:
            entry = self["agents"][name]
            found[name] = Variant(name, name, entry["algorithm"], entry["set"])
            for parameter, values in entry.get("grid", {}).items():
                for value in values:
                    label = f"{name}@{parameter}={value}"
                    given = {**entry["set"], parameter: value}
                    found[label] = Variant(label, name, entry["algorithm"], given, parameter)
        return found

    def variant(self, instance: str, label: str) -> Variant:
        variants = self.variants(instance)
        if label not in variants:
            raise unknown("agent", label, variants)
        return variants[label]

    def seeds(self, instance: str) -> dict:
        """Numbers of seeds for tuning and evaluation on an instance: its own, or the study's."""
        return self["study"][instance].get("seeds", self["seeds"])

    def blocks(self, instance: str, variant: Variant) -> list[str]:
        """Ranges of seeds; only points of a grid need the tuning seeds."""
        tuning = self.seeds(instance)["tuning"]
        total = tuning + self.seeds(instance)["evaluation"]
        first = 0 if variant.grid else tuning
        size = self["jobs"]["seeds_per_job"]
        cuts = sorted({first, *range(first - first % size + size, total, size), total})
        return [seeds.block(range(a, b)) for a, b in pairwise(cuts)]

    def library(self, kind: str) -> dict[str, dict]:
        """The settings of a library study by instance."""
        if kind not in self["library"]:
            raise unknown("library study", kind, self["library"])
        settings = dict(self["library"][kind])
        if kind == "exploration":
            episodes = settings.pop("episodes")
            return {name: {"episodes": count, **settings} for name, count in episodes.items()}
        return {name: settings for name in settings.pop("instances")}

    def library_tables(self) -> list[tuple[str, str]]:
        """(study, instance) of every table of the library."""
        return [(kind, name) for kind in self["library"] for name in self.library(kind)]

    def compared_cases(self) -> list[tuple[str, str]]:
        """The cases that repeat no published experiment: those of the study's own comparison."""
        repeated = {
            (instance, published.catalogue.module(source).TRACK)
            for source, experiments in self["published"].items()
            for names in experiments.values()
            for instance in names
        }
        return [case for case in self.cases() if case not in repeated]

    def figures(self) -> dict:
        """Every figure by name, as in `figures.wanted`."""
        return figures.wanted(self.compared_cases(), self.library_tables(), self["published"])

    def claim_ids(self) -> list[str]:
        return self["claims"]["ids"] or claims.names()


def read_yaml(path):
    try:
        return yaml.safe_load(Path(path).read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"config {path} cannot be read: {storage.one_line(error)}") from None


def load(path, schema_path) -> Study:
    """Read and check a config file."""
    return check(read_yaml(path), read_yaml(schema_path))


def check(config, schema) -> Study:
    """Fill in the defaults; raise an InputError that names the key at the first thing that is wrong."""
    if not isinstance(config, dict):
        raise InputError(f"the config must be a mapping with the keys {', '.join(schema['properties'])}")
    config = _plain(config)
    errors = sorted(Draft202012Validator(schema).iter_errors(config), key=lambda e: list(map(str, e.absolute_path)))
    if errors:
        raise InputError(_sentence(errors[0]))
    config = with_defaults(config, schema)
    for name, entry in config["instances"].items():
        _named(instances.module_name, entry["family"], f"instances.{name}.family")
        instances.check(entry["family"], entry["set"], f"instances.{name}.set")
    for name, entry in config["agents"].items():
        module = _named(agents.catalogue.module, entry["algorithm"], f"agents.{name}.algorithm")
        read(module.Parameters, entry["set"], f"agents.{name}.set")
        for parameter, values in entry.get("grid", {}).items():
            for value in values:
                read(module.Parameters, {**entry["set"], parameter: value}, f"agents.{name}.grid")
    for name, entry in config["study"].items():
        if name not in config["instances"]:
            raise InputError(f"study.{name}: {unknown('instance', name, config['instances'])}")
        for agent in entry["agents"]:
            if agent not in config["agents"]:
                raise InputError(f"study.{name}.agents: {unknown('agent', agent, config['agents'])}")
            _check_pairing(config, name, agent)
            if "grid" in config["agents"][agent] and not Study(config).seeds(name)["tuning"]:
                where = f"study.{name}.seeds" if "seeds" in entry else "seeds"
                raise InputError(
                    f"{where}.tuning = 0 leaves no seeds to choose from agents.{agent}.grid: it must be 1 or more"
                )
    study = Study(config)
    for kind, name in study.library_tables():
        if name not in config["instances"]:
            raise InputError(f"library.{kind}: {unknown('instance', name, config['instances'])}")
    for source, experiments in config["published"].items():
        module = _named(published.catalogue.module, source, "published")
        track = module.TRACK
        for experiment in experiments:
            if experiment not in module.EXPERIMENTS:
                raise InputError(f"published.{source}: {unknown('experiment', experiment, module.EXPERIMENTS)}")
        for name in (name for names in experiments.values() for name in names):
            if name not in config["study"]:
                raise InputError(f"published.{source}: {unknown('instance', name, config['study'])}")
            if track not in config["study"][name]["tracks"]:
                raise InputError(f"published.{source}: study.{name}.tracks has no {track}, which the source asks for")
    for claim in config["claims"]["ids"]:
        if claim not in claims.names():
            raise InputError(f"claims.ids: {unknown('claim', claim, claims.names())}")
    return study


@functools.cache
def _model(family, values):
    """The model of an instance, made once for all agents that are asked about it."""
    return instances.rebuild(*instances.resolve(family, json.loads(values)), {}).model


def _check_pairing(config, name, agent):
    """An agent, estimator or planner that cannot work on the instance is refused before anything runs."""
    entry, given = config["agents"][agent], config["instances"][name]
    try:
        agents.fit(
            _model(given["family"], json.dumps(given["set"])),
            entry["algorithm"],
            agents.parameters(entry["algorithm"], entry["set"]),
        )
    except Refused as error:
        raise Refused(f"study.{name}.agents: agent '{agent}': {error}") from None


def _plain(value, where="config"):
    """A copy with keys of text, as a name that YAML takes for a number is meant, and only finite numbers."""
    if isinstance(value, dict):
        return {str(key): _plain(item, f"{where}.{key}".removeprefix("config.")) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, where) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where} = {value} is not allowed: it must be a finite number")
    return value


def _named(look_up, name, where):
    """What a name stands for, or the sentence with the key that holds the name."""
    try:
        return look_up(name)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _sentence(error) -> str:
    where = ".".join(map(str, error.absolute_path)) or "config"
    if error.validator == "additionalProperties":
        allowed = error.schema["properties"]
        extra = sorted(set(error.instance) - set(allowed))
        return f"{where}: unknown key '{extra[0]}': allowed are {', '.join(allowed)}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"{where}: the key '{missing[0]}' is missing: required are {', '.join(error.validator_value)}"
    limits = {key: error.schema[key] for key in _LIMITS if key in error.schema}
    allowed = ", ".join(f"{key} {value}" for key, value in limits.items())
    return f"{where} = {error.instance!r} is not allowed: it must have {allowed}"


_LIMITS = (
    *("type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "pattern"),
    *("minLength", "minItems", "uniqueItems", "minProperties", "maxProperties"),
)


def with_defaults(value, schema):
    """The schema's defaults wherever a key is missing, at every depth."""
    if schema.get("type") == "integer":
        return int(value)
    if schema.get("type") == "array" and isinstance(value, list):
        return [with_defaults(item, schema.get("items", {})) for item in value]
    if schema.get("type") != "object" or not isinstance(value, dict):
        return value
    filled = {}
    for key, sub in schema.get("properties", {}).items():
        if key in value:
            filled[key] = with_defaults(value[key], sub)
        elif "default" in sub:
            filled[key] = copy.deepcopy(sub["default"])
        elif sub.get("type") == "object" and "properties" in sub and "required" not in sub:
            filled[key] = with_defaults({}, sub)
    rest = schema.get("additionalProperties")
    for key in value:
        if key not in filled:
            filled[key] = with_defaults(value[key], rest) if isinstance(rest, dict) else value[key]
    return filled
