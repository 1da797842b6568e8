"""Gathering what a study made, and writing the page."""

import json
from pathlib import Path

from befrl import claims, figures, report
from befrl.analysis import instance_table, published
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.study import config, provenance


def read_study(text, schema):
    """The study from a file's path or from the config itself as JSON."""
    if not text.lstrip().startswith("{"):
        return config.load(text, schema)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"--study is neither a config file nor JSON: {error}") from None
    return config.check(value, config.read_yaml(schema))


def write(text, schema, out):
    """Build the report of a study from its files and write it to `out`."""
    study = read_study(text, schema)
    root = Path(study["output"])
    cases = study.cases()
    page = report.build(
        config=study.config,
        instances=_instances(study, root),
        summaries=[_summary(root / f"results/regret/{i}_{t}") for i, t in cases],
        figures=[_figure(root / "figures" / name) for name in study.figures()],
        published=[_published(root, source) for source in study["published"]],
        claims=[_claim(root / f"results/claims/{name}.json") for name in study.claim_ids()],
        versions=provenance.versions(),
        hashes={"config": study.hash, "code": provenance.code_hash("befrl.cli", *_everything())},
        timings=_timings(study, root),
    )
    storage.write_text(out, page)


def _instances(study, root):
    """What is known about each instance, with the answer to whether exploration matters there."""
    table = tidy.read(root / "results/instances.csv", instance_table.COLUMNS).set_index("name")
    return [
        storage.read_meta(root / f"results/instances/{name}.npz", "instance")
        | {"exploration": table.loc[name, list(instance_table.ANSWER)].to_dict()}
        for name in study["instances"]
    ]


def _summary(folder):
    """The summary of a case, with the seconds beside it."""
    summary = tidy.read(folder / "summary.csv", tidy.SUMMARY)
    timings = tidy.read(folder / "timings.csv", tidy.TIMINGS)
    return summary.merge(timings[["variant", "seconds_per_episode"]], on="variant", how="left")


def _published(root, source):
    """What an experiment's authors report, and the values beside it."""
    module = published.catalogue.module(source)
    table = tidy.read(root / f"results/published/{source}/values.csv", published.COLUMNS)
    return {"source": source, "about": module.__doc__, "citation": module.CITATION, "values": table}


def _claim(path):
    return claims.record(storage.read_json(path), path)


def _figure(path):
    return {**storage.read_json(f"{path}.json"), "svg": Path(f"{path}.svg").read_text()}


def _everything():
    """Modules that are found by name and so by no import statement."""
    from befrl import agents, instances
    from befrl.analysis import components
    from befrl.learning import estimators
    from befrl.planning import planners

    catalogues = (c.catalogue for c in (agents, estimators, instances, components, planners, published))
    found = [catalogue.module_name(name) for catalogue in catalogues for name in catalogue.names()]
    found += [claims.describe(name)["module"] for name in claims.names()]
    return found + [figures.module_name(kind) for kind in figures.kinds()]


def _timings(study, root):
    """Seconds of the stages that do the work, added up over their jobs."""
    runs = [
        storage.read_meta(root / f"results/runs/{instance}/{track}/{label}/{block}.npz", "run")["seconds"]
        for instance, track in study.cases()
        for label, variant in study.variants(instance).items()
        for block in study.blocks(instance, variant)
    ]
    checks = [_claim(root / f"results/claims/{name}.json")["seconds"] for name in study.claim_ids()]
    return [
        {"stage": "runs", "jobs": len(runs), "seconds": sum(runs)},
        {"stage": "claims", "jobs": len(checks), "seconds": sum(checks)},
    ]
