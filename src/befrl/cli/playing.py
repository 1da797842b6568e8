"""Arguments and the instance of the verbs that play episodes."""

from befrl.cli.words import episodes, natural, pairs, processes
from befrl.common.defaults import EPISODES, ROOT_SEED, TIES, TRACKS
from befrl.common.errors import InputError


def add_arguments(parser, cores):
    """The arguments that `run` and `compare` share; `cores` is the name of the option for processes."""
    tracks = "; ".join(f"{track}: {words}" for track, words in TRACKS.items())
    default = next(iter(TRACKS))
    parser.add_argument("--episodes", type=episodes, default=EPISODES, help=f"episodes K (default {EPISODES})")
    parser.add_argument("--seeds", default="30", help="how many (30) or which (30-59); default 30")
    parser.add_argument("--track", default=default, help=f"{tracks} (default {default})")
    parser.add_argument("--ties", default=TIES[0], help=f"which of equal actions is played: {' or '.join(TIES)}")
    parser.add_argument("--root-seed", type=natural, default=ROOT_SEED, help="root of all random streams")
    parser.add_argument(cores, type=processes, default=1, help="processes (default 1); results do not depend on it")
    parser.add_argument("--json", action="store_true", help="print JSON, without a progress bar")


def read_instance(given, values, option):
    """The name and the instance of a family with its parameters (the words of `option`), or of a file."""
    from befrl import instances

    if not given.endswith(".npz"):
        return given, instances.build(given, pairs(values))
    if values:
        raise InputError(f"{option} goes with a family, not with an instance file")
    return instances.load(given)
