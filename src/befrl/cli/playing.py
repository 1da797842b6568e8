"""Shared by the verbs that play episodes: their arguments, the instance, and the progress bar."""

from befrl.cli.words import episodes, natural, pairs, processes, whole
from befrl.common.errors import InputError
from befrl.common.progress import progress


def add_run_arguments(parser):
    """The arguments that `run` and `tune` share."""
    parser.add_argument("--instance", required=True, help="a family, or an npz file made by `befrl instance`")
    parser.add_argument("--instance-set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    parser.add_argument("--agent", required=True, help="an algorithm of `befrl list agents`")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the agent")
    parser.add_argument("--track", default="U", help="U: reward unknown (default); K: true mean reward given")
    parser.add_argument("--ties", default="random", help="equal actions: random (default), or first")
    parser.add_argument("--episodes", type=episodes, default=1000, help="episodes K (default 1000)")
    parser.add_argument("--root-seed", type=natural, default=20221005, help="root of all random streams")
    parser.add_argument("--lockstep", type=whole, default=480, help="rows (setting, seed) in lock step (default 480)")
    parser.add_argument("--threads", type=processes, default=1, help="processes (default 1); results do not change")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no table")
    parser.add_argument("--json", action="store_true", help="print JSON")


def read_instance(args):
    """The name and the instance of the arguments."""
    from befrl import instances

    if not args.instance.endswith(".npz"):
        return args.instance, instances.build(args.instance, pairs(args.instance_set))
    if args.instance_set:
        raise InputError("--instance-set goes with a family, not with an instance file")
    return instances.load(args.instance)


def progress_of(args, total):
    """A progress bar that counts steps; none if the output is quiet, JSON or not a terminal."""
    return progress(total, not (args.quiet or args.json))
