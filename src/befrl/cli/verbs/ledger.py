"""Collect the records of claims in one table."""

from befrl.cli.words import target
from befrl.common.errors import InputError

EXAMPLE = "befrl ledger results/claims/C31.json results/claims/C39.json --out results/claims.csv"


def arguments(parser):
    parser.add_argument("records", nargs="*", help="json files made by `befrl claim`")
    parser.add_argument("--out", help="csv file to write (default: print the table)")
    parser.add_argument("--counts", metavar="CSV", help="print the verdicts of such a table, counted, as Markdown")


def call(args):
    from befrl.claims.toolbox import ledger
    from befrl.common import storage, tidy

    if bool(args.records) == bool(args.counts):
        raise InputError("give json files of claims, or --counts with a table of the ledger")
    if args.counts:
        print(ledger.counts(tidy.read(args.counts, ledger.COLUMNS)))
        return
    out = target(args.out)
    text = ledger.table([ledger.record(storage.read_json(path), path) for path in args.records])
    if out:
        storage.write_text(out, text)
    else:
        print(text, end="")
