"""Write the report: one page with everything that a study produced."""

from befrl.cli.words import target

EXAMPLE = "befrl report --study config/config.yaml --out results/report.html"


def arguments(parser):
    parser.add_argument("--study", required=True, help="config file, or the config itself as JSON")
    parser.add_argument("--schema", help="schema of the config (default: the project's config/schema.yaml)")
    parser.add_argument("--out", required=True, help="html file to write")


def call(args):
    from befrl.report import assemble
    from befrl.study import config

    assemble.write(args.study, args.schema or config.SCHEMA, target(args.out))
