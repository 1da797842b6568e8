"""Print who wins, who fails and who needs tuning, as the tables that README shows."""

EXAMPLE = "befrl findings --results results/reference --cases chain-8_U chain-8_K"


def arguments(parser):
    parser.add_argument("--results", default="results", help="folder of the results (default results)")
    parser.add_argument("--cases", nargs="+", required=True, metavar="INSTANCE_TRACK", help="cases, such as chain-8_U")


def call(args):
    from befrl.analysis import findings
    from befrl.common.layout import Layout

    cases = [tuple(case.rsplit("_", 1)) for case in args.cases]
    print(findings.markdown(Layout(results=args.results), cases), end="")
