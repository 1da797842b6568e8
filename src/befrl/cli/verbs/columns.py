"""List the columns of all tables with their meanings and units."""

from befrl.cli.words import target

EXAMPLE = "befrl columns --out results/columns.csv"


def arguments(parser):
    parser.add_argument("--out", help="csv file to write (default: print the table)")


def call(args):
    from befrl.common import storage, tidy
    from befrl.study import columns

    out, text = target(args.out), tidy.text(columns.rows(), columns.COLUMNS)
    if out:
        storage.write_text(out, text)
    else:
        print(text, end="")
