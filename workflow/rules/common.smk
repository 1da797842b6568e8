# The study, checked before anything runs, and the helpers that several rules share.
import functools
import json
import os
import shlex
import sys

from befrl import agents, claims, figures, instances, plugins
from befrl.analysis import components, published
from befrl.common import plugin_variable, usage
from befrl.common.errors import InputError, unknown
from befrl.common.layout import PUBLISHED_TABLES, REGRET_TABLES, folder
from befrl.common.sentences import one_line
from befrl.figures.support import style
from befrl.study import columns as befrl_columns
from befrl.study import config as befrl_config
from befrl.study.provenance import code_hash

ENVIRONMENT = "../../environment.yml"


def refuse(error):
    """End the workflow with one sentence and exit code 2, before any job starts."""
    print(one_line(f"befrl: {error}"), file=sys.stderr)
    sys.exit(2)


def checked(function):
    """Make bad input to a function of wildcards end the workflow with a sentence instead of a traceback."""

    @functools.wraps(function)
    def guarded(wildcards):
        try:
            return function(wildcards)
        except InputError as error:
            refuse(error)

    return guarded


def untracked(function):
    """A parameter that changes no result: one derived from `input` does not trigger reruns when it changes."""
    return lambda wildcards, input: function(wildcards)


def settings(values):
    """Settings {"x": 3} as words of a command line, x=3; the order of the keys does not matter."""
    return " ".join(
        shlex.quote(f"{key}={value}") for key, value in sorted(values.items())
    )


# Plug-ins are looked up in the folder of the config, or of the last of several.
HOME = Path(workflow.configfiles[-1]).parent if workflow.configfiles else "."

try:
    # Snakemake has read them, too, but takes the last of two equal keys.
    for path in workflow.configfiles:
        befrl_config.read_yaml(path)
    for source in plugin_variable.read():
        plugins.load(source)
    STUDY = befrl_config.check(
        config, befrl_config.read_yaml(befrl_config.SCHEMA), home=HOME
    )
except InputError as error:
    refuse(error)

# Jobs load the same plug-ins, and log their seconds and memory.
plugin_variable.write(plugins.sources())
usage.want()


envvars:
    plugin_variable.NAME,
    usage.NAME,


OUTPUT, LAYOUT = STUDY["output"], STUDY.layout
# The resources that a job requests from a cluster; local rules request none.
RESOURCES = STUDY.resources()
FIGURES = STUDY.figures()


def case_tables(cases, *tables):
    """The regret tables of some cases."""
    return [
        LAYOUT.regret(table, instance, track)
        for instance, track in cases
        for table in tables
    ]


def case_timings(cases):
    return [LAYOUT.regret_timings(instance, track) for instance, track in cases]


wildcard_constraints:
    instance="[^/_]+",
    track="[^/_]+",
    agent="[^/]+",
    batch=r"\d+-\d+",
    claim="[^/]+",
    figure="[^/]+",
    source="[^/]+",
