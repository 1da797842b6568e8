# The study, checked before anything runs, and what the rules share.
import functools
import json
import shlex
import sys

import yaml

from befrl import agents, claims, figures, instances
from befrl import config as befrl_config
from befrl.errors import InputError, unknown
from befrl.provenance import code_hash

ENVIRONMENT = "../../environment.yml"


def refuse(error):
    """One sentence and exit code 2, before any job starts."""
    print(f"befrl: {error}", file=sys.stderr)
    sys.exit(2)


def checked(function):
    """A function of wildcards whose bad input ends the workflow with a sentence instead of a traceback."""

    @functools.wraps(function)
    def guarded(wildcards):
        try:
            return function(wildcards)
        except InputError as error:
            refuse(error)

    return guarded


def settings(values):
    """{'x': 3} as words of a command line: x=3."""
    return " ".join(shlex.quote(f"{key}={value}") for key, value in values.items())


try:
    SCHEMA = yaml.safe_load((Path(workflow.basedir) / "config" / "schema.yaml").read_text())
    STUDY = befrl_config.check(config, SCHEMA)
except InputError as error:
    refuse(error)

RESULTS = (Path(STUDY["output"]) / "results").as_posix()
FIGURES = (Path(STUDY["output"]) / "figures").as_posix()
FIGURE_NAMES = figures.wanted(STUDY.cases())


wildcard_constraints:
    instance="[^/_]+",
    track="[^/_]+",
    variant="[^/]+",
    block=r"\d+-\d+",
    claim="[^/]+",
    figure="[^/]+",
