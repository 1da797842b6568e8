# The study, checked before anything runs, and what the rules share.
import os
import sys

from befrl import figures, jobs, plugins
from befrl.analysis import components
from befrl.common import plugin_variable
from befrl.common.errors import InputError
from befrl.common.layout import PUBLISHED_TABLES, REGRET_TABLES
from befrl.common.sentences import one_line
from befrl.study import config as befrl_config


def stop(error):
    """End the workflow with one sentence and exit code 2, before any job starts."""
    print(one_line(f"befrl: {error}"), file=sys.stderr)
    sys.exit(2)


try:
    # Snakemake has read the files too, but accepts a key that is given twice.
    for path in workflow.configfiles:
        befrl_config.read_yaml(path)
    for source in plugin_variable.read():
        plugins.load(source)
    STUDY = befrl_config.check(
        config,
        home=Path(workflow.configfiles[-1]).parent if workflow.configfiles else ".",
        configfiles=map(os.path.relpath, workflow.overwrite_configfiles),
    )
except InputError as error:
    stop(error)

LAYOUT = STUDY.layout
# The checked study. No rule has it as an input: jobs depend on the part of it that is in their version.
STUDY_FILE = LAYOUT.study()


onstart:
    STUDY.write(STUDY_FILE)


def version(kind, **names):
    """The version of a job: a hash of the part of the study, the code and the packages that decide its result."""

    def found(wildcards):
        try:
            return jobs.version(kind, STUDY, **names, **dict(wildcards.items()))
        except InputError as error:
            stop(error)

    return found


def case_tables(cases, *tables):
    """The regret tables of some cases, with their timings."""
    return [
        *(LAYOUT.regret(table, *case) for case in cases for table in tables),
        *(LAYOUT.regret_timings(*case) for case in cases),
    ]


wildcard_constraints:
    instance="[^/_]+",
    track="[^/_]+",
    agent="[^/]+",
    batch=r"\d+-\d+",
    figure="[^/]+",
    source="[^/]+",
