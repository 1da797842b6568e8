"""Agents that break their contract, in `befrl check` and in a run."""

import re
from functools import partial
from pathlib import Path

from broken_agents import HEAD, IN_A_CHECK, IN_A_RUN
from outcomes import Outcomes
from stock import befrl

FOUND = IN_A_RUN | IN_A_CHECK
RUN = "--instance riverswim --instance-set states=3 horizon=4 --track K --episodes 5 --seeds 2".split()


def file_of(name):
    """A plug-in with the agent of this name; every agent has a file of its own, since plug-ins stay loaded."""
    path = Path(f"broken_{list(FOUND).index(name)}.py")
    path.write_text(HEAD + FOUND[name][0])
    return path


def check(name):
    """The error message of `befrl check`, which must say what is wrong."""
    code, out, err = befrl("check", file_of(name))
    assert code == 1 and re.search(FOUND[name][1], out), f"exit code {code}: {out}{err}"
    return err


def run(name):
    """The error message of a run, which must say what is wrong."""
    path = file_of(name)
    code, _, err = befrl("run", "--plugin", path, "--agent", path.stem.replace("_", "-"), *RUN)
    assert code == 1 and re.search(FOUND[name][1], err), f"exit code {code}: {err}"
    return err


def inject(number):
    """Outcomes of the first broken agents of each kind."""
    checks, runs = Outcomes("broken agents in befrl check", seconds=300), Outcomes("broken agents in a run")
    for name in list(FOUND)[:number]:
        checks.count(name, partial(check, name))
    for name in list(IN_A_RUN)[:number]:
        runs.count(name, partial(run, name))
    return [checks, runs]
