"""Run and test BEF-RLSVI and its rivals on MDPs of the bilinear exponential family.

examples:
  befrl list agents bef-rlsvi
  befrl instance riverswim --set kernel=cho states=4 horizon=12 --json
  befrl run --instance chain --agent bef-rlsvi --set x=3 --episodes 1000 --seeds 30
  befrl claim C39
  befrl bench
"""

import argparse
import io
import os
import sys
from contextlib import suppress

from befrl.cli import verbs
from befrl.common import plugin_variable
from befrl.common.errors import ContractError, InputError, NotConverged, one_line, unknown

STUDY = ("jinja2", "latex2mathml", "psutil", "pydantic", "snakemake")  # the packages of befrl[study]


class Parser(argparse.ArgumentParser):
    """Reports a wrong command line in one sentence, with exit code 2."""

    def error(self, message):
        self.exit(2, f"{one_line(f'{self.prog}: {message}')}\n")

    def _check_value(self, action, value):
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
    _add_plugin(parser, "plugins")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB")
    for name in verbs.registry.names():
        verb, text = verbs.registry.module(name), verbs.registry.summary(name)
        example = f"example:\n  {verb.EXAMPLE}"
        own = subparsers.add_parser(name, help=text, description=text, epilog=example, formatter_class=raw)
        verb.arguments(own)
        _add_plugin(own, "more_plugins")
    return parser


def _add_plugin(parser, destination):
    """Add the option `--plugin`; it may come before or after the verb, with a separate destination for each place."""
    text = "folder or file with your own components, or an installed package's name for its own; may be repeated"
    parser.add_argument("--plugin", action="append", default=[], dest=destination, metavar="FOLDER", help=text)


def load_plugins(sources):
    """Load the plug-ins of the environment variable and of the command line."""
    sources = [*plugin_variable.read(), *sources]
    if sources:
        from befrl import plugins  # slow to load

        for source in sources:
            plugins.load(source)


def main(argv=None):
    """Run a command line and return its exit code."""
    parser = build_parser()
    if "_ARGCOMPLETE" in os.environ:  # the shell asks for completions
        from befrl.cli import completion

        completion.enable(parser)
    args = parser.parse_args(argv)
    if args.verb is None:
        parser.print_help()
        return 0
    # More BLAS threads would change the last bits of a product, and Snakemake exports the number of a job's threads.
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    os.environ["MPLBACKEND"] = "agg"  # files only
    os.environ["PYTHONSAFEPATH"] = "1"  # worker processes must not import a random.py of the current folder
    try:
        load_plugins([*args.plugins, *args.more_plugins])
        verbs.registry.module(args.verb).call(args)
        sys.stdout.flush()
    except InputError as error:
        return _said(error, 2)
    except (NotConverged, ContractError) as error:
        return _said(error, 1)
    except BrokenPipeError:
        _drop_output()  # the reader has closed the pipe, as `head` does: not an error
    except OSError as error:  # such as a full disk, or too many open files
        _drop_output()
        return _said(f"{error.filename or 'the output'}: {error.strerror}", 1)
    except MemoryError:
        return _said("not enough memory: ask for fewer seeds, episodes or rows in lock step", 1)
    except ModuleNotFoundError as error:
        if error.name not in STUDY:
            raise
        return _said(f"{error.name} is not installed, which studies need: pip install 'befrl[study]'", 2)
    except Exception as error:
        plugins = sys.modules.get("befrl.plugins")
        sentence = plugins and plugins.blame(error)
        if not sentence:
            raise
        return _said(sentence, 1)
    return 0


def _said(error, code):
    print(one_line(f"befrl: {error}"), file=sys.stderr)
    return code


def _drop_output():
    """Discard pending output, which Python would try to write again at exit."""
    with suppress(io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
