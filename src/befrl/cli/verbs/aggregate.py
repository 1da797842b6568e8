"""Make the regret tables of one case, an (instance, track), from its run files and the outcomes of its tuning."""

from pathlib import Path

from befrl.cli.words import target, target_folder, write_tables
from befrl.common.errors import InputError

EXAMPLE = (
    "befrl aggregate --runs results/runs/chain-8/U --agents greedy random --batches 1000-1099 --out tables "
    "--timings timings.csv"
)


def arguments(parser):
    parser.add_argument("--runs", required=True, help="folder with AGENT/BATCH.npz and AGENT/tuning.json")
    parser.add_argument("--agents", nargs="+", required=True, help="names of the agents")
    parser.add_argument("--tuned", nargs="*", default=[], help="the agents among them that were tuned")
    parser.add_argument("--batches", nargs="+", required=True, help="batches of seeds of all agents")
    parser.add_argument("--level", type=float, default=0.95, help="level of the intervals (default 0.95)")
    parser.add_argument("--out", required=True, help="folder for the tables: summary, curves, paired, order and tuning")
    parser.add_argument("--timings", required=True, help="csv file for the measured seconds")


def call(args):
    from befrl.analysis import aggregation
    from befrl.common.layout import run_below, tuned_below
    from befrl.experiment import tuning

    strange = [agent for agent in args.tuned if agent not in args.agents]
    if strange:
        raise InputError(f"--tuned {strange[0]} is not one of the --agents {', '.join(args.agents)}")
    out, paths = target_folder(args.out), {"timings": target(args.timings)}
    runs = [run_below(args.runs, agent, batch) for agent in args.agents for batch in args.batches]
    outcomes = {agent: tuning.read(tuned_below(args.runs, agent)) for agent in args.tuned}
    tables = aggregation.aggregate(runs, outcomes, args.level)
    write_tables({name: Path(out) / f"{name}.csv" for name in tables} | paths, tables)
