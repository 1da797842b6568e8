# The study, checked before anything runs, and what the rules share.
import functools
import json
import shlex
import sys

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
    STUDY = befrl_config.check(config, befrl_config.read_yaml(befrl_config.SCHEMA))
except InputError as error:
    refuse(error)

RESULTS = (Path(STUDY["output"]) / "results").as_posix()
FIGURES = (Path(STUDY["output"]) / "figures").as_posix()
FIGURE_NAMES = figures.wanted(STUDY.cases())


# Instances.


@checked
def instance_entry(wildcards):
    if wildcards.instance not in STUDY["instances"]:
        raise unknown("instance", wildcards.instance, STUDY["instances"])
    return STUDY["instances"][wildcards.instance]


def instance_code(wildcards):
    family = instance_entry(wildcards)["family"]
    return code_hash("befrl.instances", instances.module_name(family))


# Runs.


@checked
def variant(wildcards):
    STUDY.check_case(wildcards.instance, wildcards.track)
    found = STUDY.variant(wildcards.instance, wildcards.variant)
    blocks = STUDY.blocks(found)
    if wildcards.block not in blocks:
        raise unknown("block of seeds", wildcards.block, blocks)
    return found


def run_code(wildcards):
    family = STUDY["instances"][wildcards.instance]["family"]
    algorithm = variant(wildcards).algorithm
    return code_hash(
        "befrl.runs",
        "befrl.seeds",
        instances.module_name(family),
        agents.catalogue.module_name(algorithm),
    )


# Regret.


@checked
def case_variants(wildcards):
    STUDY.check_case(wildcards.instance, wildcards.track)
    return list(STUDY.variants(wildcards.instance).values())


def case_runs(wildcards):
    return [
        f"{RESULTS}/runs/{wildcards.instance}/{wildcards.track}/{variant.label}/{block}.npz"
        for variant in case_variants(wildcards)
        for block in STUDY.blocks(variant)
    ]


def case_blocks(on_grid):
    """The blocks of the variants on a grid, or off it, as words of a command line."""

    def words(wildcards):
        found = [v for v in case_variants(wildcards) if (v.grid is not None) == on_grid]
        return " ".join(STUDY.blocks(found[0])) if found else ""

    return words


# Claims.


@checked
def claim_code(wildcards):
    return code_hash("befrl.claims", claims.describe(wildcards.claim)["module"])


# Figures.


@checked
def figure_cases(wildcards):
    return figures.parse(wildcards.figure, STUDY.cases())[1]


def figure_kind(wildcards):
    return FIGURE_NAMES[wildcards.figure][0]


def figure_folders(wildcards):
    return [
        f"{RESULTS}/regret/{instance}_{track}"
        for instance, track in figure_cases(wildcards)
    ]


def figure_headline(wildcards):
    """The regret figures of the study's headline instances open the report."""
    cases = figure_cases(wildcards)
    first = (
        figure_kind(wildcards) == "regret" and STUDY["study"][cases[0][0]]["headline"]
    )
    return "--headline" if first else ""


wildcard_constraints:
    instance="[^/_]+",
    track="[^/_]+",
    variant="[^/]+",
    block=r"\d+-\d+",
    claim="[^/]+",
    figure="[^/]+",
