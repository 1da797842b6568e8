"""Let an agent play a batch of evaluation seeds of a case, in all its settings."""

from befrl import instances
from befrl.common import storage
from befrl.common.errors import unknown
from befrl.experiment import run_file, runs, seeds
from befrl.experiment import settings as agent_settings
from befrl.experiment.spec import RunSpec
from befrl.jobs import check_record, tune
from befrl.study.provenance import made_by


def settings(study, instance, track, agent, batch):
    entry = study.agent(instance, track, agent)
    if batch not in study.batches(instance):
        raise unknown("batch of seeds", batch, study.batches(instance))
    own = [entry["algorithm"], entry["set"], list(entry.get("sweep", {}).items())]
    return [*own, study.case(instance, track)["episodes"], study["root_seed"], study["ties"]]


def modules(study, instance, track, agent, batch):
    return [__name__, *tune.modules(study, instance, track, agent)[1:]]


def make(study, instance, track, agent, batch, threads=1):
    entry, layout = study.agent(instance, track, agent), study.layout
    outcome = tune.outcome(study, instance, track, agent) if "tune" in entry else None
    variants = agent_settings.variants(agent, entry["set"], outcome, entry.get("sweep"))
    options = {"track": track, "root_seed": study["root_seed"], "ties": study["ties"]}
    name, built = instances.load(layout.instance(instance))
    episodes = study.case(instance, track)["episodes"]
    chosen = list(variants.values())
    spec = RunSpec.of(built, name, entry["algorithm"], chosen, episodes, seeds.parse(batch), **options)
    log, seconds = runs.run_rows(spec, study["jobs"]["lockstep"], threads)
    meta = runs.describe(spec, list(variants), seconds) | made_by(*modules(study, instance, track, agent, batch))
    run_file.save(layout.run(instance, track, agent, batch), log, meta)


def files(study, instance, track):
    """The run files of a case; raise if one was made by other code than the present."""
    found = []
    for agent in study.case(instance, track)["agents"]:
        for batch in study.batches(instance):
            path = study.layout.run(instance, track, agent, batch)
            check_record(path, storage.read_meta(path, "run"), *modules(study, instance, track, agent, batch))
            found.append(path)
    return found
