"""Run and test BEF-RLSVI and its rivals on MDPs of the bilinear exponential family.

examples:
  befrl list agents
  befrl instance riverswim --set kernel=cho states=4 horizon=12 --json
  befrl run --instance chain --agent bef-rlsvi --set x=3 --episodes 1000 --seeds 30
  befrl claim C39
  befrl bench
"""

import argparse
import json
import os
import sys

from befrl.errors import InputError

# Imports of what a verb needs stay inside the verbs: `befrl --help` and each job load only what they use.


class Parser(argparse.ArgumentParser):
    """One sentence and exit code 2 for a wrong command line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


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


def build_parser():
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog="befrl", description=__doc__, formatter_class=raw)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name, function, text, example):
        sub = verbs.add_parser(name, help=text, description=text, epilog=f"example:\n  {example}", formatter_class=raw)
        sub.set_defaults(function=function)
        return sub

    sub = verb(
        "instance",
        make_instance,
        "Make an instance: theta*, constants, V*, gap.",
        "befrl instance riverswim --set kernel=cho states=4 horizon=12 --json",
    )
    sub.add_argument("family", help="a family of `befrl list instances`")
    sub.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    sub.add_argument("--name", help="name in the study; the family's by default")
    sub.add_argument("--out", help="npz file to write")
    sub.add_argument("--json", action="store_true", help="print JSON")

    sub = verb(
        "run",
        run,
        "Run an agent on an instance, many seeds in lock step.",
        "befrl run --instance chain --agent bef-rlsvi --set x=3 --episodes 1000 --seeds 30",
    )
    sub.add_argument("--instance", required=True, help="a family, or an npz file made by `befrl instance`")
    sub.add_argument("--instance-set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    sub.add_argument("--agent", required=True, help="an algorithm of `befrl list agents`")
    sub.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the agent")
    sub.add_argument("--track", default="U", help="U: reward unknown (default); K: true mean reward given")
    sub.add_argument("--episodes", type=episodes, default=1000, help="episodes K (default 1000)")
    sub.add_argument("--seeds", default="30", help="how many (30) or which (30-59); default 30")
    sub.add_argument("--root-seed", type=natural, default=20221005, help="root of all random streams")
    sub.add_argument("--lockstep", type=whole, default=50, help="seeds per group in lock step (default 50)")
    sub.add_argument("--threads", type=whole, default=1, help="processes (default 1); results do not depend on it")
    sub.add_argument("--label", help="name of the variant in the study; the agent's by default")
    sub.add_argument("--out", help="npz file to write")
    sub.add_argument("--quiet", action="store_true", help="no progress bar and no table")
    sub.add_argument("--json", action="store_true", help="print JSON")

    sub = verb(
        "aggregate",
        aggregate,
        "Tables of one case from its run files.",
        "befrl aggregate --runs results/runs/chain-8/U --labels greedy random --blocks 30-59 --tuning 30 --out tables",
    )
    sub.add_argument("--runs", required=True, help="folder with LABEL/BLOCK.npz")
    sub.add_argument("--labels", nargs="+", required=True, help="variants; AGENT@PARAMETER=VALUE is on a grid")
    sub.add_argument("--blocks", nargs="+", required=True, help="blocks of seeds of variants off the grid")
    sub.add_argument("--grid-blocks", nargs="*", default=[], help="blocks of seeds of variants on a grid")
    sub.add_argument("--tuning", type=natural, default=0, help="seeds below this choose the best of each grid")
    sub.add_argument("--resamples", type=whole, default=2000, help="bootstrap resamples (default 2000)")
    sub.add_argument("--level", type=float, default=0.95, help="level of the intervals (default 0.95)")
    sub.add_argument("--out", required=True, help="folder for summary.csv, curves.csv and paired.csv")

    sub = verb("claim", claim, "Put a claim of the paper to the test.", "befrl claim C39 --trials 200 --json")
    sub.add_argument("id", nargs="+", help="a claim of `befrl list claims`; with --table, json files")
    sub.add_argument("--trials", type=whole, default=200, help="random instances (default 200)")
    sub.add_argument("--seed", type=natural, default=20221005, help="seed of the search")
    sub.add_argument("--out", help="json file to write; with --table, the csv file")
    sub.add_argument("--table", action="store_true", help="put json files of claims together into one csv file")
    sub.add_argument("--json", action="store_true", help="print JSON")

    sub = verb(
        "figure",
        figure,
        "Draw a figure from tables.",
        "befrl figure regret --tables results/regret/chain-8_U --out figures/regret_chain-8_U",
    )
    sub.add_argument("kind", help="a figure of `befrl list figures`")
    sub.add_argument("--tables", nargs="+", required=True, help="folders made by `befrl aggregate`")
    sub.add_argument("--out", required=True, help="path without ending: .svg, .png and .json are written")
    sub.add_argument("--command", default="", help="the command that the report shows beside the figure")
    sub.add_argument("--headline", action="store_true", help="show it first in the report")

    sub = verb(
        "report",
        report,
        "The one page: everything that a study produced.",
        "befrl report --study config/config.yaml --out results/report.html",
    )
    sub.add_argument("--study", required=True, help="config file, or the config itself as JSON")
    sub.add_argument("--schema", help="schema of the config; config/schema.yaml of the project by default")
    sub.add_argument("--out", required=True, help="html file to write")

    sub = verb("list", list_things, "What there is.", "befrl list agents --json")
    sub.add_argument("what", choices=("instances", "agents", "claims", "figures"))
    sub.add_argument("--json", action="store_true", help="print JSON")

    sub = verb("bench", bench, "Measure speed and memory on one core.", "befrl bench --json")
    sub.add_argument("--quick", action="store_true", help="a tenth of the episodes, for a first look")
    sub.add_argument("--json", action="store_true", help="print JSON")
    return parser


def whole(text, least=1):
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"'{text}' is not allowed: it must be a whole number from {least}")
    return int(text)


def episodes(text):
    """As many as the config allows."""
    if whole(text) > 10_000_000:
        raise argparse.ArgumentTypeError(f"'{text}' is not allowed: it must be a whole number from 1 to 10000000")
    return int(text)


def natural(text):
    """A whole number from 0."""
    return whole(text, least=0)


def show(rows):
    """Print name-value pairs as a small table."""
    width = max(len(str(name)) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {f'{value:.6g}' if isinstance(value, float) else value}")


def provenance(*modules):
    from befrl.provenance import code_hash, versions

    return {"code": code_hash(*modules), "versions": versions()}


def make_instance(args):
    from befrl import instances

    instance = instances.build(args.family, pairs(args.set))
    name = args.name or args.family
    facts = instances.facts(name, instance)
    if args.out:
        made_by = provenance("befrl.instances", instances.catalogue.module_name(args.family))
        instances.save(args.out, name, instance, made_by)
    if args.json:
        print(json.dumps(facts, indent=2))
    elif not args.out:
        flat = {key: value for key, value in facts.items() if key not in ("parameters", "constants")}
        show([*flat.items(), *facts["parameters"].items(), *facts["constants"].items()])


def run(args):
    from befrl import agents, instances, runfile, runs, seeds
    from befrl.interaction import TRACKS

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
        modules = [instances.catalogue.module_name(instance.family_name), agents.catalogue.module_name(args.agent)]
        runfile.save(args.out, log, meta | provenance("befrl.runs", *modules))
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

    from befrl import statistics

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

    from befrl import aggregation, results

    if any("@" in label for label in args.labels) and not args.grid_blocks:
        raise InputError("--grid-blocks is missing: name the blocks of seeds of the labels with '@', such as 0-59")
    paths = [
        Path(args.runs) / label / f"{block}.npz"
        for label in args.labels
        for block in (args.grid_blocks if "@" in label else args.blocks)
    ]
    tables = aggregation.aggregate(paths, args.tuning, args.resamples, args.level)
    for name, text in tables.items():
        results.write_text(Path(args.out) / f"{name}.csv", text)


def claim(args):
    from befrl import claims, results

    if args.table:
        records = [claims.record(results.read_json(path), path) for path in args.id]
        text = claims.table(records)
        if args.out:
            results.write_text(args.out, text)
        else:
            print(text, end="")
        return
    for name in args.id:
        claims.describe(name)
    if args.out and len(args.id) > 1:
        raise InputError("--out takes one claim at a time")
    records = [claims.evaluate(name, args.trials, args.seed) for name in args.id]
    if args.out:
        results.write_json(args.out, records[0] | provenance("befrl.claims", claims.describe(args.id[0])["module"]))
    if args.json:
        print(json.dumps(records[0] if len(records) == 1 else records, indent=2))
    elif not args.out:
        for record in records:
            keys = ("id", "statement", "verdict", "worst_case", "meaning", "correction", "rule", "seconds")
            show([(key, record[key]) for key in keys if record[key] != ""])


def figure(args):
    from befrl import figures
    from befrl.figures import render

    figures.module_name(args.kind)
    render.render(args.kind, args.tables, args.out, args.command, args.headline)


def report(args):
    from befrl import config
    from befrl.report import assemble

    assemble.write(args.study, args.schema or config.SCHEMA, args.out)


def list_things(args):
    from befrl import agents, claims, figures, instances
    from befrl.parameters import describe

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
    elif args.what == "claims":
        found = [{"name": name, "text": claims.describe(name)["statement"]} for name in claims.names()]
    else:
        found = [{"name": kind, "text": figures.module(kind).__doc__.splitlines()[0]} for kind in figures.kinds()]
    if args.json:
        print(json.dumps(found, indent=2))
        return
    for entry in found:
        print(f"{entry['name']}: {entry['text']}")
        for parameter in entry.get("parameters", ()):
            print(f"    {parameter['name']} = {parameter['default']}: {parameter['text']} ({parameter['allowed']})")


def bench(args):
    from befrl import benchmark

    table = benchmark.measure(quick=args.quick)
    if args.json:
        print(json.dumps(table, indent=2))
    else:
        print(benchmark.text(table))


def main(argv=None):
    """Entry point: returns the exit code."""
    args = build_parser().parse_args(argv)
    # More BLAS threads would change the last bits of a product, and Snakemake exports the number of a job's threads.
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    try:
        if getattr(args, "out", None) and args.function is not aggregate:
            from befrl.results import check_target

            check_target(args.out)
        args.function(args)
    except InputError as error:
        print(f"befrl: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; that is no error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
