"""Read a study's config and check all of it before any work starts."""

import functools
import json
import math
import os
import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from befrl import agents, claims, instances, plugins
from befrl.analysis import published
from befrl.common import plugin_variable
from befrl.common.errors import InputError, quoted, unknown
from befrl.common.parameters import read
from befrl.experiment import tuning
from befrl.study import schema_text
from befrl.study.home import home
from befrl.study.schema import Config, Included
from befrl.study.study import Study
from befrl.study.yaml_file import read_yaml

OWN = ("config", "docs", "figures", "results", "src", "tests", "tools", "workflow")  # no study may write here


def included() -> Path:
    """The folder of the files that a config may include."""
    return home() / "config"


def load(path) -> Study:
    """Read and check a config file."""
    return check(read_yaml(path), Path(path).parent)


def of_workflow(config, configfiles, named, snakefile) -> Study:
    """The study of a config that Snakemake has read from `configfiles`; the user gave those in `named`."""
    for path in configfiles:
        read_yaml(path)  # Snakemake accepts a key that is given twice
    for source in plugin_variable.read():
        plugins.load(source)
    study = check(config, Path(configfiles[-1]).parent if configfiles else ".", map(os.path.relpath, named))
    used = os.path.relpath(snakefile)
    return study if used == "Snakefile" else replace(study, snakefile=used)


def check(config, home=".", configfiles=()) -> Study:
    """Check a config, fill in its defaults and load its plug-ins, whose paths are relative to `home`.

    The first mistake raises an `InputError` that names the key. `configfiles` are those that the user gave Snakemake.
    """
    if not isinstance(config, dict):
        raise InputError(f"the config must be a mapping with the keys {', '.join(Config.model_fields)}")
    config = schema_text.validated(_with_included(_plain(config)))
    _check_output(config["output"])
    _load_plugins(config.pop("plugins"), home)
    config = _with_groups(config)
    for name, entry in config["instances"].items():
        with within(f"instances.{name}.family: "):
            instances.module_name(entry["family"])
        with within(f"instances.{name}: ", known=f"instances.{name}."):
            instances.check(entry["family"], entry["set"], f"instances.{name}.set")
    for name, entry in config["agents"].items():
        with within(f"agents.{name}.algorithm: "):
            parameters = agents.registry.module(entry["algorithm"]).Parameters
        with within(f"agents.{name}: ", known=f"agents.{name}."):
            read(parameters, entry["set"], f"agents.{name}.set")
            if "tune" in entry:
                tuning.check(entry["algorithm"], entry["set"], entry["tune"], f"agents.{name}.tune")
            for parameter, values in entry.get("sweep", {}).items():
                for value in values:
                    read(parameters, {**entry["set"], parameter: value}, f"agents.{name}.sweep")
    used = {agent for entry in config["study"].values() for agent in entry["agents"]}
    study = Study(config, plugins.sources(), list(map(str, configfiles)))
    for name, entry in config["study"].items():
        with within(f"study.{name}: "):
            study.instance(name)
        for agent in entry["agents"]:
            _check_pairing(config, name, agent)
        if {config["agents"][agent]["algorithm"] for agent in entry["agents"]} == {"oracle"}:
            raise InputError(
                f"study.{name}.agents: there is only the oracle, which has no regret: name another agent, too"
            )
        with within(f"study.{name}." if "tuning" in entry else ""):
            study.halving(name)
    config["agents"] = {name: entry for name, entry in config["agents"].items() if name in used}
    for kind, name in study.components():
        with within(f"components.{kind}: "):
            study.instance(name)
    for source, experiments in config["published"].items():
        with within("published: "):
            module = published.registry.module(source)
        for experiment, names in experiments.items():
            _check_experiment(config, module, f"published.{source}", experiment, names)
    for claim in config["claims"]["ids"]:
        with within("claims.ids: "):
            claims.describe(claim)
    return study


@contextmanager
def within(where, known=None):
    """Start the messages of input errors with the key that holds the wrong value, unless they start with `known`."""
    try:
        yield
    except InputError as error:
        raise type(error)(str(error) if known and str(error).startswith(known) else f"{where}{error}") from None


def _with_included(config):
    """Load the plug-ins of the included files, and add their agents and groups; the config's own take precedence."""
    files = config.get("include", [])
    for name in files if isinstance(files, list) else []:
        folder = included()
        if Path(str(name)).name != name:
            raise InputError(f"include = {name!r} is not allowed: name a file of the folder {folder.name}/")
        with within(f"include: {name}: "):
            part = schema_text.validated(_plain(read_yaml(folder / name)), Included)
        _load_plugins(part["plugins"], folder)
        for key in ("agents", "groups"):
            if isinstance(config.get(key, {}), dict):
                config[key] = part[key] | config.get(key, {})
    return config


def _load_plugins(sources, folder):
    for source in sources:
        with within("plugins: "):
            plugins.load(source, folder)


def _with_groups(config):
    """Replace each group under `study` by its agents."""
    groups = config.pop("groups")
    config.pop("include")
    both = sorted(set(groups) & set(config["agents"]))
    if both:
        raise InputError(f"groups.{both[0]} has the name of an agent: choose another")
    for name, entry in config["study"].items():
        found = [agent for given in entry["agents"] for agent in groups.get(given, [given])]
        for agent in found:
            if agent not in config["agents"]:
                raise InputError(f"study.{name}.agents: {unknown('agent', agent, [*config['agents'], *groups])}")
            if found.count(agent) > 1:
                raise InputError(f"study.{name}.agents: agent '{agent}' is named twice: name it once")
        entry["agents"] = found
    return config


def _check_experiment(config, module, where, experiment, names):
    if experiment not in module.EXPERIMENTS:
        raise InputError(f"{where}: {unknown('experiment', experiment, module.EXPERIMENTS)}")
    for name in names:
        if name not in config["study"]:
            raise InputError(f"{where}.{experiment}: {unknown('instance', name, config['study'])}")
        if module.TRACK not in config["study"][name]["tracks"]:
            raise InputError(f"{where}.{experiment}: study.{name}.tracks has no {module.TRACK}, which the source uses")


def _check_output(output):
    """Raise if results would be written outside the project, or among its own files."""
    parts = Path(output).parts
    if (
        not all(re.fullmatch(r"\w[\w.-]{0,99}", part, re.ASCII) for part in parts)
        or len(output) > 200
        or (parts and parts[0] in OWN)
        or any(Path(*parts[: i + 1]).is_file() for i in range(len(parts)))
    ):
        raise InputError(
            f"output = {quoted(output)} is not allowed: it must be . or a folder of its own in the project, such as "
            "build/mine, named with letters, digits and the signs _ . - and /"
        )


@functools.cache
def _model(family, values):
    return instances.rebuild(*instances.resolve(family, json.loads(values)), {}).model


def _check_pairing(config, name, agent):
    """Raise if an agent, its estimator or its planner cannot work on the instance."""
    entry, given = config["agents"][agent], config["instances"][name]
    model = _model(given["family"], json.dumps(given["set"]))
    with within(f"study.{name}.agents: agent '{agent}': "):
        agents.specification(model, entry["algorithm"], agents.parameters(entry["algorithm"], entry["set"]))


def _plain(value, where="config"):
    """A copy with text as keys (YAML reads some names as numbers) and with 3.0 as 3 (they must have the same hash)."""
    if isinstance(value, dict):
        names = [str(key) for key in value]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{where}: the key {quoted(twice)} is given twice: give it once")
        return {str(key): _plain(item, f"{where}.{key}".removeprefix("config.")) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, where) for item in value]
    if value is not None and not isinstance(value, str | int | float):
        raise InputError(f"{where} = {quoted(value)} is not allowed: it must be a text, a number, a list or a mapping")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where} = {value} is not allowed: it must be a finite number")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
