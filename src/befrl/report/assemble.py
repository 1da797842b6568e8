"""Gathering what a study made, and writing the page."""

import json
from pathlib import Path

import yaml

from befrl import aggregation, config, figures, provenance, report, results
from befrl.errors import InputError


def read_study(text, schema):
    """The study from a file's path or from the config itself as JSON."""
    if not text.lstrip().startswith("{"):
        return config.load(text, schema)
    try:
        return config.check(json.loads(text), yaml.safe_load(Path(schema).read_text()))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"--study is neither a config file nor JSON: {error}") from None


def write(text, schema, out):
    """Build the report of a study from its files and write it to `out`."""
    study = read_study(text, schema)
    root = Path(study["output"])
    cases = study.cases()
    page = report.build(
        config=study.config,
        instances=[results.read_meta(root / f"results/instances/{name}.npz", "instance") for name in study["study"]],
        summaries=[aggregation.read_table(root / f"results/regret/{i}_{t}/summary.csv") for i, t in cases],
        figures=[_figure(root / "figures" / name) for name in figures.wanted(cases)],
        claims=[results.read_json(root / f"results/claims/{name}.json") for name in study.claim_ids()],
        versions=provenance.versions(),
        hashes={"config": study.hash, "code": provenance.code_hash("befrl.cli", *_everything())},
        timings=_timings(study, root),
    )
    results.write_text(out, page)


def _figure(path):
    return {**results.read_json(f"{path}.json"), "svg": Path(f"{path}.svg").read_text()}


def _everything():
    """Modules that are found by name and so by no import statement."""
    from befrl import agents, claims, instances

    found = [c.module_name(name) for c in (agents.catalogue, instances.catalogue) for name in c.names()]
    found += [claims.describe(name)["module"] for name in claims.names()]
    return found + [figures.module_name(kind) for kind in figures.kinds()]


def _timings(study, root):
    """Seconds of the stages that do the work, added up over their jobs."""
    runs = [
        results.read_meta(root / f"results/runs/{instance}/{track}/{label}/{block}.npz", "run")["seconds"]
        for instance, track in study.cases()
        for label, variant in study.variants(instance).items()
        for block in study.blocks(variant)
    ]
    claims = [results.read_json(root / f"results/claims/{name}.json")["seconds"] for name in study.claim_ids()]
    return [
        {"stage": "runs", "jobs": len(runs), "seconds": sum(runs)},
        {"stage": "claims", "jobs": len(claims), "seconds": sum(claims)},
    ]
