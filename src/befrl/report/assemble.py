"""Reading the files of a study and writing its report."""

import json
from pathlib import Path

from befrl import claims, figures, report
from befrl.analysis import instance_table, published, regret_columns
from befrl.claims.toolbox import ledger
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.study import config, provenance


def read_study(text, schema):
    """The study from the path of a config file, or from the config itself as JSON."""
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
    layout = study.layout
    summaries = {case: tidy.read(layout.regret("summary", *case), regret_columns.SUMMARY) for case in study.cases()}
    records = [_claim(layout.claim(name)) for name in study.claim_ids()]
    costs = [_cost(layout, case) for case in summaries]
    page = report.build(
        config=study.config,
        instances=_instances(layout, study["instances"]),
        summaries=list(summaries.values()),
        costs=costs,
        figures=[_figure(layout, name) for name in study.figures()],
        published=[_published(layout, source) for source in study["published"]],
        claims=records,
        versions=provenance.versions(),
        hashes={"config": study.hash, "code": provenance.code_hash("befrl.cli", *_everything())},
        stages=_stages(costs, records),
    )
    storage.write_text(out, page)


def _instances(layout, names):
    """The facts about each instance, with the answer to whether exploration matters there."""
    table = tidy.read(layout.instances(), instance_table.COLUMNS).set_index("name")
    return [
        storage.read_meta(layout.instance(name), "instance")
        | {"exploration": table.loc[name, list(instance_table.ANSWER)].to_dict()}
        for name in names
    ]


def _cost(layout, case):
    """The timings of a case."""
    return tidy.read(layout.regret_timings(*case), regret_columns.TIMINGS)


def _published(layout, source):
    """The tables of a source's experiments, and what the source is."""
    module = published.catalogue.module(source)
    paths = {"values": layout.published("values", source), "timings": layout.published_timings(source)}
    about = {"source": source, "about": module.__doc__, "citation": module.CITATION}
    return about | {name: tidy.read(path, published.COLUMNS) for name, path in paths.items()}


def _claim(path):
    return ledger.record(storage.read_json(path), path)


def _figure(layout, name):
    return {**storage.read_json(layout.figure("json", name)), "svg": Path(layout.figure("svg", name)).read_text()}


def _stages(costs, records):
    """Wall-clock time of the stages that take most of it, summed over their jobs."""
    return [
        {
            "stage": "runs",
            "jobs": sum(int(cost["batches"].sum()) for cost in costs),
            "seconds": sum(float(cost["wall_seconds"].sum()) for cost in costs),
        },
        {"stage": "claims", "jobs": len(records), "seconds": sum(claim.get("seconds", 0.0) for claim in records)},
    ]


def _everything():
    """The modules that are found by name and not by an import statement."""
    from befrl import agents, instances
    from befrl.analysis import components
    from befrl.learning import estimators
    from befrl.model import rewards
    from befrl.planning import planners

    rooms = (agents, estimators, figures, instances, components, planners, published, rewards)
    catalogues = (room.catalogue for room in rooms)
    found = [catalogue.module_name(name) for catalogue in catalogues for name in catalogue.names()]
    found += [claims.describe(name)["module"] for name in claims.names()]
    return found
