"""Make the regret tables of one case, an (instance, track), from its run files."""

from pathlib import Path

from befrl.cli.words import natural, target, whole, write_tables
from befrl.common.errors import InputError

EXAMPLE = (
    "befrl aggregate --runs results/runs/chain-8/U --labels greedy random --batches 30-59 --tuning 30 "
    "--out tables --timings timings.csv"
)


def arguments(parser):
    parser.add_argument("--runs", required=True, help="folder with LABEL/BATCH.npz")
    parser.add_argument("--labels", nargs="+", required=True, help="variants; AGENT@PARAMETER=VALUE for a grid point")
    parser.add_argument("--batches", nargs="+", required=True, help="batches of seeds of the variants off the grid")
    parser.add_argument("--grid-batches", nargs="*", default=[], help="batches of seeds of the variants on a grid")
    parser.add_argument("--tuning", type=natural, default=0, help="tuning seeds, which select the best grid point")
    parser.add_argument("--resamples", type=whole, default=2000, help="bootstrap resamples (default 2000)")
    parser.add_argument("--level", type=float, default=0.95, help="level of the intervals (default 0.95)")
    parser.add_argument("--out", required=True, help="folder for summary.csv, curves.csv, paired.csv and order.csv")
    parser.add_argument("--timings", required=True, help="csv file for the measured seconds")


def call(args):
    from befrl.analysis import aggregation
    from befrl.common.layout import run_below
    from befrl.experiment.settings import split

    on_grid = {label: split(label)[1] is not None for label in args.labels}
    if any(on_grid.values()) and not args.grid_batches:
        raise InputError("--grid-batches is missing: name the batches of seeds of the labels with '@', such as 0-59")
    paths = {"timings": target(args.timings)}
    runs = [
        run_below(args.runs, label, batch)
        for label in args.labels
        for batch in (args.grid_batches if on_grid[label] else args.batches)
    ]
    tables = aggregation.aggregate(runs, args.tuning, args.resamples, args.level)
    write_tables({name: Path(args.out) / f"{name}.csv" for name in tables} | paths, tables)
