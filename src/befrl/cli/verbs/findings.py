"""Print who wins, who fails and who needs tuning, as the tables that README shows."""

from befrl.common.errors import InputError

EXAMPLE = "befrl findings --results results/reference --cases chain-8_U chain-8_K"


def arguments(parser):
    parser.add_argument("--results", default="results", help="folder of the results (default results)")
    parser.add_argument("--cases", nargs="+", required=True, metavar="INSTANCE_TRACK", help="cases, such as chain-8_U")


def call(args):
    from befrl.analysis import findings
    from befrl.common.layout import Layout

    wrong = [case for case in args.cases if case[-2:] not in ("_U", "_K")]
    if wrong:
        raise InputError(f"--cases {wrong[0]} is not allowed: write INSTANCE_U or INSTANCE_K")
    cases = [tuple(case.rsplit("_", 1)) for case in args.cases]
    print(findings.markdown(Layout(results=args.results), cases), end="")
