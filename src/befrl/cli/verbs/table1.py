"""Make a measured version of the paper's Table 1: its marks beside the numbers of a study."""

from befrl.cli.words import target
from befrl.common.errors import InputError

EXAMPLE = (
    "befrl table1 --cases chain-8_U --scaled chain-8 --out results/table1.csv --timings results/timings/table1.csv"
)


def arguments(parser):
    parser.add_argument("--output", default=".", help="folder of the study's results/ and figures/")
    parser.add_argument("--cases", nargs="+", required=True, help="cases of the study, as INSTANCE_TRACK")
    parser.add_argument("--scaled", nargs="*", default=[], help="instances with a study of scaling")
    parser.add_argument("--out", required=True, help="csv file to write")
    parser.add_argument("--timings", required=True, help="csv file for the measured seconds")


def call(args):
    from befrl.analysis import table1
    from befrl.common import storage, tidy
    from befrl.common.layout import Layout

    out, timings = target(args.out), target(args.timings)
    layout, cases = Layout(args.output), [_case(text) for text in args.cases]
    storage.write_text(out, tidy.text(table1.rows(layout, cases), table1.COLUMNS))
    storage.write_text(timings, tidy.text(table1.timings(layout, cases, args.scaled), table1.TIMINGS))


def _case(text):
    """'chain-8_U' -> ('chain-8', 'U')."""
    instance, found, track = text.rpartition("_")
    if not found:
        raise InputError(f"--cases {text}: write instance_track, such as chain-8_U")
    return instance, track
