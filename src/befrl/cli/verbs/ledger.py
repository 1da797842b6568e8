"""Collect the records of claims in one table."""

from befrl.cli.words import target
from befrl.common.errors import InputError

EXAMPLE = "befrl ledger results/claims/C31.json results/claims/C39.json --out results/claims.csv"


def arguments(parser):
    parser.add_argument("records", nargs="*", help="json files made by `befrl claim`")
    parser.add_argument("--out", help="csv file to write (default: print the table)")
    parser.add_argument("--errata", metavar="MD", help="Markdown file to write: the statements that do not hold")
    parser.add_argument("--counts", metavar="CSV", help="print the verdicts of such a table, counted, as Markdown")


def call(args):
    from befrl.claims.toolbox import ledger
    from befrl.claims.toolbox.errata import errata
    from befrl.common import storage, tidy

    if bool(args.records) == bool(args.counts):
        raise InputError("give json files of claims, or --counts with a table of the ledger")
    if args.counts:
        print(ledger.counts(tidy.read(args.counts, ledger.COLUMNS)))
        return
    out, list_of_errata = target(args.out), target(args.errata)
    records = [ledger.read(path) for path in args.records]
    if list_of_errata:
        storage.write_text(list_of_errata, errata(records))
    if out:
        storage.write_text(out, ledger.table(records))
    elif not list_of_errata:
        print(ledger.table(records), end="")
