# The study, checked before anything runs, and what the rules share.
import shlex
import sys

from befrl import figures, jobs
from befrl.analysis import components
from befrl.common.errors import InputError, one_line
from befrl.common.layout import PUBLISHED_TABLES, REGRET_TABLES
from befrl.study.config import of_workflow


def stop(error):
    """End the workflow with one sentence and exit code 2, before any job starts."""
    print(one_line(f"befrl: {error}"), file=sys.stderr)
    sys.exit(2)


try:
    STUDY = of_workflow(
        config,
        workflow.configfiles,
        workflow.overwrite_configfiles,
        workflow.main_snakefile,
    )
except InputError as error:
    stop(error)

LAYOUT = STUDY.layout
# The prefix of a `module:` of another workflow, which Snakemake puts before all paths of the rules.
PREFIX = workflow.modifier.path_modifier.prefix or ""
# The checked study. No rule has it as an input: jobs depend on the part of it that is in their version.
STUDY_FILE = PREFIX + LAYOUT.study()
# Not a variable in the shell commands, because those of a module do not see the variables of this file.
JOB = f"python -P -m befrl job --study {shlex.quote(STUDY_FILE)}"


def write_study():
    """Write the study for the jobs, with the folder in which they find their files."""
    STUDY.within(PREFIX).write(STUDY_FILE)


onstart:
    write_study()


# Snakemake ignores what a module does on start.
if not workflow.modifier.is_main_snakefile() and not workflow.dryrun:
    write_study()


def checked(function):
    """Make bad input to a function of wildcards end the workflow with a sentence."""

    def guarded(wildcards):
        try:
            return function(wildcards)
        except InputError as error:
            stop(error)

    return guarded


def version(kind, **names):
    """The version of a job: a hash of the part of the study, the code and the packages that decide its result."""
    return checked(
        lambda wildcards: jobs.version(kind, STUDY, **names, **dict(wildcards.items()))
    )


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
