"""Draw a figure from tables."""

EXAMPLE = (
    "befrl figure regret --tables results/regret/chain-8_U/summary.csv results/regret/chain-8_U/curves.csv "
    "--out figures/regret_chain-8_U"
)


def arguments(parser):
    parser.add_argument("kind", help="a figure of `befrl list figures`")
    parser.add_argument("--tables", nargs="+", required=True, help="the csv files that the figure reads")
    parser.add_argument("--out", required=True, help="path without suffix: .svg, .png and .json are written")
    parser.add_argument("--command", default="", help="the command that the report shows beside the figure")
    parser.add_argument("--headline", action="store_true", help="show the figure first in the report")


def call(args):
    from befrl import figures
    from befrl.common.storage import check_target
    from befrl.figures.support import render

    check_target(args.out)
    figures.catalogue.module_name(args.kind)
    render.render(args.kind, args.tables, args.out, args.command, args.headline)
