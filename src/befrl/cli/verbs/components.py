"""Study one component: laws, estimators, planners, exploration, run time, rates, or the proof of Theorem 1."""

from pathlib import Path

from befrl.cli.words import natural, pairs, target, write_tables
from befrl.common.errors import InputError

EXAMPLE = (
    "befrl components densities --instance results/instances/chain-8.npz --set transitions=1000 "
    "--out results/components/densities/chain-8"
)


def arguments(parser):
    parser.add_argument("kind", help="the study, as in the config: `components.<kind>`")
    parser.add_argument("--instance", required=True, help="file made by `befrl instance`")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="settings, as in the config; lists as JSON")
    parser.add_argument("--root-seed", type=natural, default=20221005, help="root of all random streams")
    parser.add_argument("--out", required=True, help="folder for the study's tables")
    parser.add_argument("--timings", help="csv file for the measured seconds, if the study measures time")


def call(args):
    from befrl import instances
    from befrl.analysis import components
    from befrl.common import tidy

    columns = components.tables(args.kind)
    if "timings" in columns and not args.timings:
        raise InputError(f"--timings is missing: the study '{args.kind}' measures seconds")
    timings = target(args.timings)
    name, instance = instances.load(args.instance)
    tables = components.run(args.kind, name, instance, args.root_seed, pairs(args.set))
    texts = {table: tidy.text(rows, columns[table]) for table, rows in tables.items()}
    write_tables({table: Path(args.out) / f"{table}.csv" for table in texts} | {"timings": timings}, texts)
