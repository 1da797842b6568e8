"""Arguments, parsing and printing shared by the verbs, which import inside functions to keep `befrl --help` fast."""

import argparse
import json
from functools import partial

from befrl.common.defaults import EPISODES, MOST_EPISODES, ROOT_SEED, TIES, TRACKS
from befrl.common.errors import InputError, quoted

FORMAT = 1  # of the output of --json


def pairs(texts, option="--set"):
    """['x=3', 'reward=bernoulli'] -> {'x': 3, 'reward': 'bernoulli'}; values are not checked here."""
    found = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"{option} {text}: write name=value")
        if key in found:
            raise InputError(f"{option} {text}: {key} is given twice")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


def whole(text, least=1, most=1_000_000_000):
    """A whole number from `least` to `most`."""
    if not text.isdecimal() or len(text) > len(str(most)) or not least <= int(text) <= most:
        allowed = f"a whole number from {least} to {most}"
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not allowed: it must be {allowed}")
    return int(text)


natural = partial(whole, least=0, most=2**64 - 1)  # root seeds
episodes = partial(whole, most=MOST_EPISODES)
trials = partial(whole, most=1_000_000)
processes = partial(whole, most=1024)


def target(path, ending=""):
    """The path of an output file; raise before any work starts if it cannot be written, or has another ending."""
    from befrl.common.storage import check_target

    if path:
        check_target(path)
        if not path.endswith(ending):
            raise InputError(f"--out {path}: the name of the file must end in {ending}")
    return path


def print_json(**content):
    """Print JSON, with a format number that grows when a key is renamed or removed."""
    print(json.dumps({"format": FORMAT, **content}, indent=2))


def show(rows):
    """Print name-value pairs as a small table."""
    width = max(len(str(name)) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {f'{value:.6g}' if isinstance(value, float) else value}")


def add_run_arguments(parser):
    """The arguments that `run`, `compare` and `tune` share."""
    tracks = "; ".join(f"{track}: {words}" for track, words in TRACKS.items())
    default = next(iter(TRACKS))
    parser.add_argument("--episodes", type=episodes, default=EPISODES, help=f"episodes K (default {EPISODES})")
    parser.add_argument("--track", default=default, help=f"{tracks} (default {default})")
    parser.add_argument("--ties", default=TIES[0], help=f"which of equal actions is played: {' or '.join(TIES)}")
    parser.add_argument("--root-seed", type=natural, default=ROOT_SEED, help="root of all random streams")
    parser.add_argument("--cores", type=processes, default=1, help="processes (default 1); results do not depend on it")
    parser.add_argument("--json", action="store_true", help="print JSON, without a progress bar")


def add_seeds(parser):
    """The argument `--seeds`, which `tune` does not have."""
    parser.add_argument("--seeds", default="30", help="how many (30) or which (30-59); default 30")


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


def read_instance(given, values, option):
    """The name and the instance of a family with its parameters (the words of `option`), or of a file."""
    from befrl import instances

    if not given.endswith(".npz"):
        return given, instances.build(given, pairs(values))
    if values:
        raise InputError(f"{option} goes with a family, not with an instance file")
    return instances.load(given)
