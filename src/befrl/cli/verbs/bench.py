"""Measure speed and memory on one core, or print the page of such a measurement."""

import sys

from befrl.cli.words import target, whole

EXAMPLE = "befrl bench --out results/timings/bench.csv"


def arguments(parser):
    parser.add_argument("--quick", action="store_true", help="a tenth of the episodes, for a first look")
    parser.add_argument("--repeats", type=whole, default=1, help="run each speed so many times and keep the best")
    parser.add_argument("--out", help="csv file to write")
    parser.add_argument("--page", metavar="FILE", help="only print the page of a csv file")


def call(args):
    from befrl.analysis import benchmark
    from befrl.common import storage, tidy

    if args.page:
        print(benchmark.page(tidy.read(args.page, benchmark.COLUMNS)), end="")
        return
    out = target(args.out, ".csv")
    rows = benchmark.measure(args.quick, args.repeats, report=_progress)
    print(benchmark.text(rows))
    if out:
        storage.write_text(out, tidy.text(rows, benchmark.COLUMNS))


def _progress(row):
    if sys.stderr.isatty():
        print(f"{row['measure']} {row['instance']} {row['name']} {row['rows']}: {row['value']:,.2f}", file=sys.stderr)
