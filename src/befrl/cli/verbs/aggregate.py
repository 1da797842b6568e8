"""Make the regret tables of run files, such as those of `befrl run` and `befrl.gym.play`."""

from befrl.cli.words import target
from befrl.common.defaults import LEVEL

EXAMPLE = "befrl aggregate --runs runs --agents greedy q-learning --batches 0-29 --out tables --timings timings.csv"


def arguments(parser):
    parser.add_argument("--runs", required=True, help="folder with the run files AGENT/BATCH.npz")
    parser.add_argument("--agents", nargs="+", required=True, help="names of the agents")
    parser.add_argument("--batches", nargs="+", required=True, help="batches of seeds of all agents")
    parser.add_argument("--level", type=float, default=LEVEL, help=f"level of the intervals (default {LEVEL})")
    parser.add_argument(
        "--out", required=True, help="folder for the tables: summary, curves, paired, order, certificates, ..."
    )
    parser.add_argument("--timings", required=True, help="csv file for the measured seconds")


def call(args):
    from befrl.analysis import aggregation
    from befrl.common import storage

    timings, _ = target(args.timings), target(f"{args.out}/summary.csv")
    runs = [f"{args.runs}/{agent}/{batch}.npz" for agent in args.agents for batch in args.batches]
    for name, text in aggregation.aggregate(runs, {}, args.level).items():
        storage.write_text(timings if name == "timings" else f"{args.out}/{name}.csv", text)
