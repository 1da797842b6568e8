"""Shared by the verbs: parsing the words of the command line, and printing.

Verbs import inside their functions, so that `befrl --help` and each job of a workflow load only what they use.
"""

import argparse
import json

from befrl.common.errors import InputError, quoted


def pairs(texts):
    """['x=3', 'reward=bernoulli'] -> {'x': 3, 'reward': 'bernoulli'}; values are not checked here."""
    found = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"--set {text}: write name=value")
        if key in found:
            raise InputError(f"--set {text}: {key} is given twice")
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


def natural(text):
    """The root of random streams: a whole number of 64 bits."""
    return whole(text, least=0, most=2**64 - 1)


def episodes(text):
    """A number of episodes."""
    return whole(text, most=10_000_000)


def trials(text):
    """A number of random trials, or of samples."""
    return whole(text, most=1_000_000)


def processes(text):
    """A number of processes."""
    return whole(text, most=1024)


def target(path):
    """The path of an output file; raise before any work starts if it cannot be written."""
    from befrl.common.storage import check_target

    if path:
        check_target(path)
    return path


def target_folder(path):
    """The path of a folder for tables; raise before any work starts if none can be written there."""
    target(f"{path}/table.csv")
    return path


def write_tables(paths, texts):
    """Write tables {name: text} to the paths {name: path}."""
    from befrl.common import storage

    for name, text in texts.items():
        storage.write_text(paths[name], text)


def show(rows):
    """Print name-value pairs as a small table."""
    width = max(len(str(name)) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {f'{value:.6g}' if isinstance(value, float) else value}")


def provenance(*modules):
    """Code hash and versions, which are stored with a result."""
    from befrl.study.provenance import code_hash, versions

    return {"code": code_hash(*modules), "versions": versions()}
