"""Tune an agent on a case by successive halving over the tuning seeds."""

from dataclasses import astuple

from befrl import agents, instances
from befrl.common import storage
from befrl.common.errors import InputError
from befrl.experiment import tuning
from befrl.experiment.spec import RunSpec
from befrl.jobs import check_record
from befrl.study.provenance import made_by


def settings(study, instance, track, agent):
    entry = study.agent(instance, track, agent)
    if "tune" not in entry:
        raise InputError(f"agent '{agent}' is not tuned: give agents.{agent}.tune ranges")
    # The order of the ranges decides the configurations that are tried.
    own = [entry["algorithm"], entry["set"], list(entry["tune"].items()), astuple(study.halving(instance))]
    return [*own, study.case(instance, track)["episodes"], study["root_seed"], study["ties"]]


def modules(study, instance, track, agent):
    entry, family = study.agent(instance, track, agent), study.instance(instance)
    chosen = agents.parameters(entry["algorithm"], entry["set"])
    played = instances.modules(family["family"], family["set"]) + agents.modules(entry["algorithm"], chosen)
    return [__name__, *played]


def make(study, instance, track, agent, threads=1):
    entry = study.agent(instance, track, agent)
    episodes = study.case(instance, track)["episodes"]
    name, built = instances.load(study.layout.instance(instance))
    options = {"track": track, "root_seed": study["root_seed"], "ties": study["ties"]}
    spec = RunSpec.of(built, name, entry["algorithm"], entry["set"], episodes, (0,), **options)
    width, halving = study["jobs"]["lockstep"], study.halving(instance)
    outcome = tuning.halve(spec, entry["set"], entry["tune"], halving, width, threads)
    made = made_by(*modules(study, instance, track, agent))
    storage.write_json(study.layout.tuned(instance, track, agent), outcome | made)


def outcome(study, instance, track, agent):
    """The outcome of tuning; raise if it was made by other code than the present."""
    path = study.layout.tuned(instance, track, agent)
    found = tuning.read(path)
    check_record(path, found, *modules(study, instance, track, agent))
    return found
