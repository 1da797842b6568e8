"""Draw a figure from tables, or several figures that show the same things."""

from befrl.cli.words import pairs
from befrl.common.errors import InputError

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
        "--looks", nargs="+", metavar="NAME=NUMBER", help="numbers of the looks of agents that befrl does not know"
    )


def call(args):
    from befrl import figures
    from befrl.common.storage import check_target
    from befrl.figures.support import render

    for out in args.out:
        for suffix in render.SUFFIXES:
            check_target(f"{out}.{suffix}")
    for kind in args.kind:
        figures.registry.module_name(kind)
    render.render_all(args.kind, args.tables, args.out, args.command, args.headline, numbers(args.looks))


def numbers(texts):
    """The numbers of the looks, by name."""
    found = pairs(texts)
    for name, number in found.items():
        if type(number) is not int or number < 0:
            raise InputError(f"--looks {name}={number}: write NAME=NUMBER, with a whole number from 0")
    return found
