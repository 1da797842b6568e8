"""Compare agents on an instance: mean regret, intervals, failures and paired differences."""

import json

from befrl.cli.words import add_run_arguments, pairs, print_json, read_instance
from befrl.common.errors import InputError

EXAMPLE = "befrl compare chain --set bins=8 --agents bef-rlsvi:x=10 exp-psrl --seeds 30 --plot regret.png"


def arguments(parser):
    parser.add_argument("instance", help="a family, a preset, or an npz file made by `befrl instance`")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    parser.add_argument(
        "--agents",
        nargs="+",
        required=True,
        metavar="AGENT[:NAME=VALUE,...]",
        help="algorithms of `befrl list agents` with their parameters; greedy, random and oracle run too",
    )
    add_run_arguments(parser)
    parser.add_argument("--plot", metavar="FILE", help="png, svg or pdf file to draw")


def call(args):
    from befrl.api.comparison import compare
    from befrl.api.drawing import check_path

    agents = read_agents(args.agents)
    if args.plot:
        check_path(args.plot)
    options = {key: getattr(args, key) for key in ("episodes", "seeds", "track", "ties", "root_seed", "cores")}
    _, instance = read_instance(args.instance, args.set, "--set")
    compared = compare(instance, agents, show=not args.json, **options)
    table = compared.table()
    if args.plot:
        compared.plot(args.plot)
    if args.json:
        print_json(agents=json.loads(table.to_json(orient="records")))
    else:
        print(shown(compared, table))


def read_agents(texts):
    """['a:x=1', 'b'] -> {'a': ('a', {'x': 1}), 'b': ('b', {})}; an agent in several settings has them in its name."""
    names = [text.partition(":")[0] for text in texts]
    found = {}
    for text, name in zip(texts, names, strict=True):
        label = text if names.count(name) > 1 else name
        if label in found:
            raise InputError(f"--agents {text}: is given twice")
        values = text.partition(":")[2]
        found[label] = name, pairs(values.split(",") if values else [])
    return found


def shown(compared, table):
    """The comparison as text: intervals in brackets, failures in per cent."""
    lines = [["agent", "setting", "mean regret", "", "median", "failed", "minus the best", "", "seconds"]]
    for row in table.itertuples():
        # One seed has no interval.
        regret, paired = (
            f"[{low:.4g}, {high:.4g}]" if low == low else ""
            for low, high in ((row.low, row.high), (row.difference_low, row.difference_high))
        )
        numbers = [f"{row.median:.4g}", f"{row.failed:.0%}", f"{row.difference:.4g}", paired, f"{row.seconds:.1f}"]
        lines.append([row.agent, row.setting, f"{row.mean:.4g}", regret, *numbers])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([f"{compared}, 95 % intervals", *body])
