"""Draw a figure from tables, or several figures that show the same things."""

from befrl.cli.words import pairs
from befrl.common.errors import InputError, unknown

EXAMPLE = (
    "befrl figure regret --tables results/regret/chain-8_U/summary.csv results/regret/chain-8_U/curves.csv "
    "--out figures/regret_chain-8_U"
)


def arguments(parser):
    parser.add_argument("kind", nargs="+", help="a figure of `befrl list figures`, or several")
    parser.add_argument(
        "--tables", nargs="+", required=True, help="the csv files that each figure reads, in this order"
    )
    parser.add_argument(
        "--out",
        nargs="+",
        required=True,
        help="for each figure a path without suffix: .svg, .png and .json are written",
    )
    parser.add_argument("--command", nargs="+", default=[], help="the command that the report shows beside each figure")
    parser.add_argument(
        "--headline", nargs="+", default=[], metavar="KIND", help="figures that come first in the report"
    )
    parser.add_argument(
        "--agents", nargs="+", metavar="NAME=ALGORITHM", help="agents of the study, by which new ones have their styles"
    )


def call(args):
    from befrl import figures
    from befrl.common.storage import check_target
    from befrl.figures.support import render

    for out in args.out:
        for suffix in render.SUFFIXES:
            check_target(f"{out}.{suffix}")
    counts = [len(figures.registry.module(kind).TABLES) for kind in args.kind]
    things, left = divmod(len(args.tables), sum(counts))
    if left:
        tables = "; ".join(", ".join(figures.registry.module(kind).TABLES) for kind in args.kind)
        raise InputError(f"figure '{' '.join(args.kind)}' takes one file for each of its tables: {tables}")
    if len(args.out) != len(args.kind) or len(args.command) not in (0, len(args.kind)):
        raise InputError(f"give --out, and --command if any, once for each of {', '.join(args.kind)}")
    for headline in args.headline:
        if headline not in args.kind:
            raise unknown("headline", headline, args.kind)
    paths, agents = iter(args.tables), {name: str(value) for name, value in pairs(args.agents).items()}
    commands = args.command or [""] * len(args.kind)
    for kind, count, out, command in zip(args.kind, counts, args.out, commands, strict=True):
        own = [next(paths) for _ in range(things * count)]
        render.render(kind, own, out, command, kind in args.headline, agents)
