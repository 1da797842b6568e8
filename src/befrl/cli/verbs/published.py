"""Compare a published experiment with our runs: the authors' numbers beside ours."""

from pathlib import Path

from befrl.cli.words import target, target_folder, write_tables
from befrl.common.errors import InputError

EXAMPLE = "befrl published li --experiments reward=custom-sin --out results/published/li --timings timings.csv"


def arguments(parser):
    parser.add_argument("source", help="ayoub, cho or li")
    parser.add_argument("--output", default=".", help="folder of the study's results/ and figures/")
    parser.add_argument(
        "--experiments", nargs="+", required=True, metavar="NAME=INSTANCES", help="instances by experiment: a=x,y b=z"
    )
    parser.add_argument("--out", required=True, help="folder for values.csv and curves.csv")
    parser.add_argument("--timings", required=True, help="csv file for the measured seconds")


def call(args):
    from befrl.analysis import published
    from befrl.common import tidy
    from befrl.common.layout import Layout

    out, timings = target_folder(args.out), target(args.timings)
    reruns = published.read(args.source, Layout(args.output), _experiments(args.experiments))
    tables = published.tables(args.source, reruns)
    texts = {name: tidy.text(rows, published.COLUMNS) for name, rows in tables.items()}
    write_tables({name: Path(out) / f"{name}.csv" for name in texts} | {"timings": timings}, texts)


def _experiments(texts):
    """['returns=a,b'] -> {'returns': ['a', 'b']}."""
    found = {}
    for text in texts:
        name, equals, instances = text.partition("=")
        if not equals or not instances:
            raise InputError(f"--experiments {text}: write experiment=instance,instance")
        found[name] = instances.split(",")
    return found
