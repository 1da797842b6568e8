"""Measure how often intervals of a mean contain it, by simulation."""

from befrl.cli.words import natural, target, trials

EXAMPLE = "befrl coverage --repetitions 2000 --out results/coverage.csv"


def arguments(parser):
    parser.add_argument("--repetitions", type=trials, default=2000, help="samples of each kind (default 2000)")
    parser.add_argument("--seed", type=natural, default=20221005, help="seed of the samples")
    parser.add_argument("--out", help="csv file to write; without it the tables of docs/statistics.md are printed")


def call(args):
    from befrl.analysis import coverage
    from befrl.common import storage, tidy

    out = target(args.out)
    rows = coverage.study(args.repetitions, args.seed)
    if out:
        storage.write_text(out, tidy.text(rows, coverage.COLUMNS))
    else:
        print(coverage.markdown(rows))
