"""Run and test BEF-RLSVI and its rivals on MDPs of the bilinear exponential family.

examples:
  befrl list agents
  befrl instance riverswim --set kernel=cho states=4 horizon=12 --json
  befrl run --instance chain --agent bef-rlsvi --set x=3 --episodes 1000 --seeds 30
  befrl claim C39
  befrl bench
"""

import argparse
import os
import sys

from befrl.cli import verbs
from befrl.common.errors import InputError, NotConverged


class Parser(argparse.ArgumentParser):
    """One sentence and exit code 2 for a wrong command line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


def build_parser():
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog="befrl", description=__doc__, formatter_class=raw)
    subparsers = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name, function, text, example):
        sub = subparsers.add_parser(
            name, help=text, description=text, epilog=f"example:\n  {example}", formatter_class=raw
        )
        sub.set_defaults(function=function)
        return sub

    sub = verb(
        "instance",
        verbs.make_instance,
        "Make an instance: theta*, constants, V*, gap.",
        "befrl instance riverswim --set kernel=cho states=4 horizon=12 --json",
    )
    sub.add_argument("family", help="a family of `befrl list instances`")
    sub.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    sub.add_argument("--name", help="name in the study; the family's by default")
    sub.add_argument("--out", help="npz file to write")
    sub.add_argument("--json", action="store_true", help="print JSON")

    sub = verb(
        "run",
        verbs.run,
        "Run an agent on an instance, many seeds in lock step.",
        "befrl run --instance chain --agent bef-rlsvi --set x=3 --episodes 1000 --seeds 30",
    )
    sub.add_argument("--instance", required=True, help="a family, or an npz file made by `befrl instance`")
    sub.add_argument("--instance-set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    sub.add_argument("--agent", required=True, help="an algorithm of `befrl list agents`")
    sub.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the agent")
    sub.add_argument("--track", default="U", help="U: reward unknown (default); K: true mean reward given")
    sub.add_argument("--episodes", type=episodes, default=1000, help="episodes K (default 1000)")
    sub.add_argument("--seeds", default="30", help="how many (30) or which (30-59); default 30")
    sub.add_argument("--root-seed", type=natural, default=20221005, help="root of all random streams")
    sub.add_argument("--lockstep", type=whole, default=50, help="seeds per group in lock step (default 50)")
    sub.add_argument("--threads", type=whole, default=1, help="processes (default 1); results do not depend on it")
    sub.add_argument("--label", help="name of the variant in the study; the agent's by default")
    sub.add_argument("--out", help="npz file to write")
    sub.add_argument("--quiet", action="store_true", help="no progress bar and no table")
    sub.add_argument("--json", action="store_true", help="print JSON")

    sub = verb(
        "aggregate",
        verbs.aggregate,
        "Tables of one case from its run files.",
        "befrl aggregate --runs results/runs/chain-8/U --labels greedy random --blocks 30-59 --tuning 30 --out tables",
    )
    sub.add_argument("--runs", required=True, help="folder with LABEL/BLOCK.npz")
    sub.add_argument("--labels", nargs="+", required=True, help="variants; AGENT@PARAMETER=VALUE is on a grid")
    sub.add_argument("--blocks", nargs="+", required=True, help="blocks of seeds of variants off the grid")
    sub.add_argument("--grid-blocks", nargs="*", default=[], help="blocks of seeds of variants on a grid")
    sub.add_argument("--tuning", type=natural, default=0, help="seeds below this choose the best of each grid")
    sub.add_argument("--resamples", type=whole, default=2000, help="bootstrap resamples (default 2000)")
    sub.add_argument("--level", type=float, default=0.95, help="level of the intervals (default 0.95)")
    sub.add_argument("--out", required=True, help="folder for summary.csv, curves.csv and paired.csv")

    sub = verb(
        "instances",
        verbs.instances_table,
        "Table of a study's instances.",
        "befrl instances --results results --names chain-8 riverswim-4 --out results/instances.csv",
    )
    sub.add_argument("--results", required=True, help="folder with instances/ and library/")
    sub.add_argument("--names", nargs="+", required=True, help="instances of the study")
    sub.add_argument("--out", required=True, help="csv file to write")

    sub = verb(
        "table1",
        verbs.table1,
        "Table 1 of the paper, measured: its marks beside the numbers of a study.",
        "befrl table1 --results results --cases chain-8_U --scaled chain-8 --out results/table1.csv",
    )
    sub.add_argument("--results", required=True, help="folder with regret/ and library/scaling/")
    sub.add_argument("--cases", nargs="+", required=True, help="instance_track")
    sub.add_argument("--scaled", nargs="*", default=[], help="instances whose seconds were measured at other sizes")
    sub.add_argument("--out", required=True, help="csv file to write")

    sub = verb(
        "published",
        verbs.published_tables,
        "A published experiment: the authors' numbers beside ours.",
        "befrl published li --results results --instances custom-sin --out results/published/li",
    )
    sub.add_argument("source", help="ayoub, cho or li")
    sub.add_argument("--results", required=True, help="folder with instances/ and regret/")
    sub.add_argument("--instances", nargs="+", required=True, help="instances of the study")
    sub.add_argument("--out", required=True, help="folder for values.csv and curves.csv")

    sub = verb(
        "library",
        verbs.library,
        "A study of the library: densities, estimators, exploration or planners.",
        "befrl library densities --instance results/instances/chain-8.npz --set transitions=1000 --out table.csv",
    )
    sub.add_argument("kind", help="exploration, densities, estimators or planners")
    sub.add_argument("--instance", required=True, help="file made by `befrl instance`")
    sub.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="settings, as in the config; lists as JSON")
    sub.add_argument("--root-seed", type=natural, default=20221005, help="root of all random streams")
    sub.add_argument("--out", required=True, help="csv file to write")

    sub = verb("claim", verbs.claim, "Put a claim of the paper to the test.", "befrl claim C39 --trials 200 --json")
    sub.add_argument("id", nargs="+", help="a claim of `befrl list claims`; with --table, json files")
    sub.add_argument("--trials", type=whole, default=200, help="random instances (default 200)")
    sub.add_argument("--seed", type=natural, default=20221005, help="seed of the search")
    sub.add_argument("--out", help="json file to write; with --table, the csv file")
    sub.add_argument("--table", action="store_true", help="put json files of claims together into one csv file")
    sub.add_argument("--json", action="store_true", help="print JSON")

    sub = verb(
        "figure",
        verbs.figure,
        "Draw a figure from tables.",
        "befrl figure regret --tables results/regret/chain-8_U --out figures/regret_chain-8_U",
    )
    sub.add_argument("kind", help="a figure of `befrl list figures`")
    sub.add_argument(
        "--tables", nargs="+", required=True, help="folders made by `befrl aggregate`, or files made by `befrl library`"
    )
    sub.add_argument("--out", required=True, help="path without ending: .svg, .png and .json are written")
    sub.add_argument("--command", default="", help="the command that the report shows beside the figure")
    sub.add_argument("--headline", action="store_true", help="show it first in the report")

    sub = verb(
        "report",
        verbs.report,
        "The one page: everything that a study produced.",
        "befrl report --study config/config.yaml --out results/report.html",
    )
    sub.add_argument("--study", required=True, help="config file, or the config itself as JSON")
    sub.add_argument("--schema", help="schema of the config; config/schema.yaml of the project by default")
    sub.add_argument("--out", required=True, help="html file to write")

    sub = verb("list", verbs.list_things, "What there is.", "befrl list agents --json")
    sub.add_argument("what", choices=("instances", "agents", "estimators", "planners", "claims", "figures"))
    sub.add_argument("--json", action="store_true", help="print JSON")

    sub = verb("bench", verbs.bench, "Measure speed and memory on one core.", "befrl bench --json")
    sub.add_argument("--quick", action="store_true", help="a tenth of the episodes, for a first look")
    sub.add_argument("--json", action="store_true", help="print JSON")
    return parser


def whole(text, least=1):
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"'{text}' is not allowed: it must be a whole number from {least}")
    return int(text)


def episodes(text):
    """As many as the config allows."""
    if whole(text) > 10_000_000:
        raise argparse.ArgumentTypeError(f"'{text}' is not allowed: it must be a whole number from 1 to 10000000")
    return int(text)


def natural(text):
    """A whole number from 0."""
    return whole(text, least=0)


# Verbs whose --out is a folder.
WRITE_FOLDERS = (verbs.aggregate, verbs.published_tables)


def main(argv=None):
    """Entry point: returns the exit code."""
    args = build_parser().parse_args(argv)
    # More BLAS threads would change the last bits of a product, and Snakemake exports the number of a job's threads.
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    try:
        if getattr(args, "out", None) and args.function not in WRITE_FOLDERS:
            from befrl.common.storage import check_target

            check_target(args.out)
        args.function(args)
    except InputError as error:
        print(f"befrl: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except NotConverged as error:
        print(f"befrl: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; that is no error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
