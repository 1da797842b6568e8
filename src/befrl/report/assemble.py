"""Reading the files of a study and writing its report."""

from befrl import claims, figures, instances, report
from befrl.analysis import findings, instance_table, published, regret_tables
from befrl.claims import ledger
from befrl.common import instance_facts, storage, tidy
from befrl.common.errors import InputError
from befrl.study import provenance

FIGURE = dict.fromkeys(("name", "title", "caption", "command"), str)
FIGURE |= {"measured": bool, "seeds": int | float | None, "section": str, "lead": int, "plotted": dict}


def write(study, out):
    """Build the report of a study from its files and write it to `out`."""
    layout = study.layout
    summaries = {case: regret_tables.read(layout, "summary", *case) for case in study.cases()}
    records = [ledger.read(layout.claim(name), name) for name in study.claim_ids()]
    costs = [regret_tables.read(layout, "timings", *case) for case in summaries]
    page = report.build(
        config=study.config,
        answers=_answers(study, records),
        instances=_instances(layout, study["instances"]),
        summaries=list(summaries.values()),
        costs=costs,
        figures=[_figure(layout, name) | {"tables": _drawn_from(study, name)} for name in study.figures],
        published=[_published(layout, source) for source in study["published"]],
        claims=records,
        versions=provenance.machine() | provenance.versions(),
        hashes={"config": study.hash, "code": provenance.code_hash("befrl.cli", *_everything())},
        stages=_stages(costs, records),
    )
    storage.write_text(out, page)


def _answers(study, records):
    """The sentences that open README, over all cases that have the agents that they compare."""
    compared = {"bef-rlsvi", "greedy"}
    cases = [case for case in study.compared_cases() if compared <= set(study.tuned(case[0]))]
    cases = [case for case in cases if "random" in study.case(*case)["agents"]]
    if not cases or ("traps", findings.TRAP) not in study.components():
        return []
    lines = findings.answer_lines(study.layout, cases, ledger.counterexample(records))
    return [*lines, findings.instead(study.layout, cases)]


def _instances(layout, names):
    path, found = layout.instances(), []
    rows = {str(row["name"]): row for row in tidy.read(path, instance_table.COLUMNS).to_dict("records")}
    for name in names:
        if name not in rows:
            raise InputError(f"{path}: there is no row of '{name}': delete it and run again")
        answer = {key: rows[name][key] for key in instance_table.ANSWER}
        found.append(instance_facts.read(layout.instance(name), name) | {"exploration": answer})
    return found


def _published(layout, source):
    module = published.registry.module(source)
    paths = {"values": layout.published("values", source), "timings": layout.published_timings(source)}
    about = {"source": source, "about": module.ABOUT, "citation": module.CITATION}
    return about | {name: tidy.read(path, published.COLUMNS) for name, path in paths.items()}


def _figure(layout, name):
    path = layout.figure("json", name)
    about = storage.read_json(path)
    storage.require(path, about, "the description of a figure", FIGURE)
    if about["name"] != name:
        raise InputError(f"{path}: it describes '{about['name']}', not '{name}': delete it and run again")
    return {**about, "svg": storage.read_text(layout.figure("svg", name))}


def _drawn_from(study, name):
    return figures.tables(study.layout, *study.figure(name))


def _stages(costs, records):
    """Wall-clock time of the longest stages, summed over their jobs."""
    jobs = sum(int(cost["batches"].sum()) for cost in costs)
    seconds = sum(float(cost["wall_seconds"].sum()) for cost in costs)
    claimed = sum(claim.get("seconds", 0.0) for claim in records)
    return [
        {"stage": "runs", "jobs": jobs, "seconds": seconds},
        {"stage": "claims", "jobs": len(records), "seconds": claimed},
    ]


def _everything():
    """The modules that are found by name and not by an import statement."""
    from befrl import agents
    from befrl.analysis import components
    from befrl.learning import estimators
    from befrl.model import rewards
    from befrl.planning import planners

    packages = (agents, estimators, figures, instances, components, planners, published, rewards)
    found = [package.registry.module_name(name) for package in packages for name in package.registry]
    return found + [f"befrl.claims.sections.{section}" for section in claims.by_section()]
