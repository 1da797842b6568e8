"""Print tables of README and the documentation from a study's results: who wins, verdicts, or coverage."""

from befrl.common.defaults import TRACKS
from befrl.common.errors import InputError

EXAMPLE = "befrl findings --results results/reference --cases chain-8_U chain-8_K"


def arguments(parser):
    parser.add_argument("--results", default="results", help="folder of the results (default results)")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--cases", nargs="+", metavar="INSTANCE_TRACK", help="who wins in these cases, such as chain-8_U")
    what.add_argument("--answers", nargs="+", metavar="INSTANCE_TRACK", help="the first lines of README")
    what.add_argument("--ledger", action="store_true", help="how many claims have which verdict")
    what.add_argument("--coverage", action="store_true", help="how often the intervals contain the mean")


def call(args):
    from befrl.analysis import coverage, findings
    from befrl.claims import ledger
    from befrl.common import tidy
    from befrl.common.layout import Layout

    layout = Layout(results=args.results)
    if args.ledger or args.answers:
        table = tidy.read(layout.ledger(), ledger.COLUMNS).astype(object).fillna("").to_dict("records")
    if args.ledger:
        print(ledger.summary(table))
    elif args.coverage:
        print(coverage.markdown(tidy.read(layout.coverage(), coverage.COLUMNS).to_dict("records")))
    elif args.answers:
        print(findings.answers(layout, _cases("answers", args.answers), ledger.headline(table)), end="")
    else:
        print(findings.markdown(layout, _cases("cases", args.cases)), end="")


def _cases(option, names):
    """(instance, track) of each name."""
    cases = [name.rpartition("_")[::2] for name in names]
    wrong = [text for text, case in zip(names, cases, strict=True) if case[1] not in TRACKS]
    if wrong:
        allowed = " or ".join(f"INSTANCE_{track}" for track in TRACKS)
        raise InputError(f"--{option} {wrong[0]} is not allowed: write {allowed}")
    return cases
