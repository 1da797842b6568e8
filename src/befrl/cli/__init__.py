"""Run and test BEF-RLSVI and its rivals on MDPs of the bilinear exponential family.

examples:
  befrl list agents
  befrl list agents bef-rlsvi
  befrl instance riverswim --set kernel=cho states=4 horizon=12 --json
  befrl run --instance chain --agent bef-rlsvi --set x=3 --episodes 1000 --seeds 30
  befrl claim C39
  befrl bench
"""

import argparse
import os
import sys

from befrl.cli import verbs
from befrl.common.errors import InputError, NotConverged, unknown


class Parser(argparse.ArgumentParser):
    """Reports a wrong command line in one sentence, with exit code 2."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")

    def _check_value(self, action, value):
        """Refuse a word that is none of an argument's choices, with a guess of what was meant."""
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, str(unknown("word", value, action.choices)))


class Version(argparse.Action):
    """Prints the version, which takes too long to look up for every command."""

    def __call__(self, parser, *_):
        from importlib.metadata import PackageNotFoundError, version

        try:
            print("befrl", version("befrl"))
        except PackageNotFoundError:
            parser.error("the version is not known, since befrl is not installed")
        parser.exit()


def build_parser():
    """Build the parser of all verbs; each verb declares its arguments in its own file."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog="befrl", description=__doc__, formatter_class=raw)
    parser.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    subparsers = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name in verbs.catalogue.names():
        verb, text = verbs.catalogue.module(name), verbs.catalogue.summary(name)
        example = f"example:\n  {verb.EXAMPLE}"
        verb.arguments(subparsers.add_parser(name, help=text, description=text, epilog=example, formatter_class=raw))
    return parser


def main(argv=None):
    """Run a command line and return its exit code."""
    args = build_parser().parse_args(argv)
    # More BLAS threads would change the last bits of a product, and Snakemake exports the number of a job's threads.
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    try:
        verbs.catalogue.module(args.verb).call(args)
    except InputError as error:
        print(f"befrl: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except NotConverged as error:
        print(f"befrl: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of the output has closed the pipe, as `head` does: this is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
