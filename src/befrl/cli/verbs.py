"""The verbs of the command line: each a thin skin over one function of the package.

Imports of what a verb needs stay inside it: `befrl --help` and each job of a workflow load only what they use.
"""

import json
import sys

from befrl.common.errors import InputError


def pairs(texts):
    """['x=3', 'reward=bernoulli'] -> {'x': 3.0, 'reward': 'bernoulli'}; values are checked by who takes them."""
    found = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"--set {text}: write name=value")
        if key in found:
            raise InputError(f"--set {text}: {key} is given twice")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


def show(rows):
    """Print name-value pairs as a small table."""
    width = max(len(str(name)) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {f'{value:.6g}' if isinstance(value, float) else value}")


def provenance(*modules):
    from befrl.study.provenance import code_hash, versions

    return {"code": code_hash(*modules), "versions": versions()}


def make_instance(args):
    from befrl import instances

    instance = instances.build(args.family, pairs(args.set))
    name = args.name or args.family
    facts = instances.facts(name, instance)
    if args.out:
        made_by = provenance("befrl.instances", instances.module_name(args.family))
        instances.save(args.out, name, instance, made_by)
    if args.json:
        print(json.dumps(facts, indent=2))
    elif not args.out:
        flat = {key: value for key, value in facts.items() if key not in ("parameters", "constants")}
        show([*flat.items(), *facts["parameters"].items(), *facts["constants"].items()])


def run(args):
    from befrl import agents, instances
    from befrl.experiment import run_file, runs, seeds
    from befrl.experiment.loop import TRACKS

    if args.track not in TRACKS:
        raise InputError(f"--track {args.track} is not allowed: choose one of {', '.join(TRACKS)}")
    chosen = seeds.parse(args.seeds)
    parameters = agents.parameters(args.agent, pairs(args.set))
    if args.instance.endswith(".npz"):
        if args.instance_set:
            raise InputError("--instance-set goes with a family, not with an instance file")
        name, instance = instances.load(args.instance)
    else:
        name, instance = args.instance, instances.build(args.instance, pairs(args.instance_set))
    common = (args.track, args.episodes, chosen, args.root_seed)
    with progress(args, len(chosen) * args.episodes * instance.horizon) as tick:
        log, seconds = runs.run_seeds(
            name, instance, args.agent, parameters, *common, args.lockstep, args.threads, tick
        )
    meta = runs.describe(name, instance, args.label or args.agent, args.agent, parameters, *common, seconds)
    if args.out:
        modules = [instances.catalogue.module_name(instance.family_name), *agents.modules(args.agent, parameters)]
        run_file.save(args.out, log, meta | provenance("befrl.experiment.runs", *modules))
    print_run(args, log, meta)


def progress(args, total):
    """A progress bar that counts steps, or nothing when nobody watches."""
    from contextlib import contextmanager

    @contextmanager
    def bar():
        if args.quiet or args.json or not sys.stderr.isatty():
            yield None
            return
        from tqdm import tqdm

        with tqdm(total=total, unit="step", unit_scale=True, leave=False) as counter:
            yield counter.update

    return bar()


def print_run(args, log, meta):
    import numpy as np

    from befrl.analysis import statistics

    final = log["regret"].sum(1)
    weights = statistics.resampling_weights(len(final), 2000, np.random.default_rng(args.root_seed))
    low, high = statistics.bootstrap_mean(final, weights, 0.95)
    quantiles = {f"{q:g}": float(np.quantile(final, q)) for q in (0.1, 0.5, 0.9)}
    if args.json:
        summary = {
            **{key: meta[key] for key in ("instance", "instance_parameters", "track", "algorithm", "parameters")},
            "derived": meta["facts"],
            "episodes": meta["episodes"],
            "seeds": meta["seeds"],
            "V_star": meta["optimal_value"],
            "final_regret": final.tolist(),
            "mean": float(final.mean()),
            "interval": [float(low), float(high)],
            "level": 0.95,
            "quantiles": quantiles,
            "seconds": meta["seconds"],
            "steps_per_second": meta["steps_per_second"],
        }
        print(json.dumps(summary, indent=2))
    elif not args.quiet:
        show(
            [
                ("instance", f"{meta['instance']}, track {meta['track']}, V* = {meta['optimal_value']:.6g}"),
                ("agent", f"{meta['label']} {meta['facts'] or ''}".strip()),
                ("episodes x seeds", f"{meta['episodes']} x {len(meta['seeds'])}"),
                ("mean regret", f"{final.mean():.6g}  [{low:.6g}, {high:.6g}] (95 % bootstrap)"),
                ("10, 50, 90 %", "  ".join(f"{value:.6g}" for value in quantiles.values())),
                ("seconds", meta["seconds"]),
                ("steps per second", f"{meta['steps_per_second']:,.0f}"),
            ]
        )


def aggregate(args):
    from pathlib import Path

    from befrl.analysis import aggregation
    from befrl.common import storage

    if any("@" in label for label in args.labels) and not args.grid_blocks:
        raise InputError("--grid-blocks is missing: name the blocks of seeds of the labels with '@', such as 0-59")
    paths = [
        Path(args.runs) / label / f"{block}.npz"
        for label in args.labels
        for block in (args.grid_blocks if "@" in label else args.blocks)
    ]
    tables = aggregation.aggregate(paths, args.tuning, args.resamples, args.level)
    for name, text in tables.items():
        storage.write_text(Path(args.out) / f"{name}.csv", text)


def instances_table(args):
    from befrl.analysis import instance_table
    from befrl.common import storage, tidy

    rows = instance_table.rows(args.results, args.names)
    storage.write_text(args.out, tidy.text(rows, instance_table.COLUMNS))


def table1(args):
    from befrl.analysis import table1 as table
    from befrl.common import storage, tidy

    cases = [_case(text) for text in args.cases]
    storage.write_text(args.out, tidy.text(table.rows(args.results, cases, args.scaled), table.COLUMNS))


def _case(text):
    """'chain-8_U' -> ('chain-8', 'U')."""
    instance, found, track = text.rpartition("_")
    if not found:
        raise InputError(f"--cases {text}: write instance_track, such as chain-8_U")
    return instance, track


def published_tables(args):
    from pathlib import Path

    from befrl.analysis import published
    from befrl.common import storage, tidy

    cases = published.read(args.source, args.results, args.instances)
    for name, rows in published.tables(args.source, cases).items():
        storage.write_text(Path(args.out) / f"{name}.csv", tidy.text(rows, published.COLUMNS))


def library(args):
    from befrl import instances
    from befrl.analysis import components as studies
    from befrl.common import storage, tidy

    module = studies.catalogue.module(args.kind)
    name, instance = instances.load(args.instance)
    rows = studies.rows(args.kind, name, instance, args.root_seed, pairs(args.set))
    storage.write_text(args.out, tidy.text(rows, module.COLUMNS))


def claim(args):
    from befrl import claims
    from befrl.common import storage

    if args.table:
        records = [claims.record(storage.read_json(path), path) for path in args.id]
        text = claims.table(records)
        if args.out:
            storage.write_text(args.out, text)
        else:
            print(text, end="")
        return
    for name in args.id:
        claims.describe(name)
    if args.out and len(args.id) > 1:
        raise InputError("--out takes one claim at a time")
    records = [claims.evaluate(name, args.trials, args.seed) for name in args.id]
    if args.out:
        storage.write_json(args.out, records[0] | provenance("befrl.claims", claims.describe(args.id[0])["module"]))
    if args.json:
        print(json.dumps(records[0] if len(records) == 1 else records, indent=2))
    elif not args.out:
        for record in records:
            keys = ("id", "statement", "verdict", "worst_case", "meaning", "correction", "rule", "seconds")
            show([(key, record[key]) for key in keys if record[key] != ""])


def figure(args):
    from befrl.figures.support import render

    render.render(args.kind, args.tables, args.out, args.command, args.headline)


def report(args):
    from befrl.report import assemble
    from befrl.study import config

    assemble.write(args.study, args.schema or config.SCHEMA, args.out)


def list_things(args):
    from befrl import agents, claims, figures, instances
    from befrl.common.parameters import describe
    from befrl.learning import estimators
    from befrl.planning import planners

    if args.what in ("instances", "agents"):
        catalogue = {"instances": instances.catalogue, "agents": agents.catalogue}[args.what]
        found = [
            {
                "name": name,
                "text": catalogue.summary(name),
                "parameters": describe(catalogue.module(name).Parameters),
            }
            for name in catalogue.names()
        ]
        if args.what == "instances":
            for name, (family, preset) in instances.PRESETS.items():
                setting = " ".join(f"{key}={value}" for key, value in preset.items())
                found.append({"name": name, "text": f"preset: {family} {setting}", "parameters": []})
    elif args.what in ("estimators", "planners"):
        catalogue = {"estimators": estimators.catalogue, "planners": planners.catalogue}[args.what]
        found = [{"name": name, "text": catalogue.summary(name)} for name in catalogue.names()]
    elif args.what == "claims":
        found = [{"name": name, "text": claims.describe(name)["statement"]} for name in claims.names()]
    else:
        found = [{"name": kind, "text": figures.catalogue.summary(kind)} for kind in figures.catalogue.names()]
    if args.json:
        print(json.dumps(found, indent=2))
        return
    for entry in found:
        print(f"{entry['name']}: {entry['text']}")
        for parameter in entry.get("parameters", ()):
            print(f"    {parameter['name']} = {parameter['default']}: {parameter['text']} ({parameter['allowed']})")


def bench(args):
    from befrl.analysis import benchmark

    table = benchmark.measure(quick=args.quick)
    if args.json:
        print(json.dumps(table, indent=2))
    else:
        print(benchmark.text(table))
