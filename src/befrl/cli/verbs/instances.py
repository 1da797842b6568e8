"""Make the table of a study's instances."""

from befrl.cli.words import target

EXAMPLE = "befrl instances --output . --names chain-8 riverswim-4 --explored chain-8 --out results/instances.csv"


def arguments(parser):
    parser.add_argument("--output", default=".", help="folder of the study's results/ and figures/")
    parser.add_argument("--names", nargs="+", required=True, help="instances of the study")
    parser.add_argument("--explored", nargs="*", default=[], help="instances with a study of exploration")
    parser.add_argument("--out", required=True, help="csv file to write")


def call(args):
    from befrl.analysis import instance_table
    from befrl.common import storage, tidy
    from befrl.common.layout import Layout

    out = target(args.out)
    rows = instance_table.rows(Layout(args.output), args.names, args.explored)
    storage.write_text(out, tidy.text(rows, instance_table.COLUMNS))
