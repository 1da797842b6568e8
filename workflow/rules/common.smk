# The study, checked before anything runs, and what the rules share.
import functools
import json
import shlex
import sys

from befrl import agents, claims, figures, instances
from befrl.analysis import components, published
from befrl.common.errors import InputError, unknown
from befrl.study import config as befrl_config
from befrl.study.provenance import code_hash

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
FIGURE_NAMES = STUDY.figures()


# Instances.


@checked
def instance_entry(wildcards):
    if wildcards.instance not in STUDY["instances"]:
        raise unknown("instance", wildcards.instance, STUDY["instances"])
    return STUDY["instances"][wildcards.instance]


def instance_code(wildcards):
    entry = instance_entry(wildcards)
    return code_hash("befrl.instances", *instances.modules(entry["family"], entry["set"]))


# Runs.


@checked
def variant(wildcards):
    STUDY.check_case(wildcards.instance, wildcards.track)
    found = STUDY.variant(wildcards.instance, wildcards.variant)
    blocks = STUDY.blocks(wildcards.instance, found)
    if wildcards.block not in blocks:
        raise unknown("block of seeds", wildcards.block, blocks)
    return found


def run_code(wildcards):
    entry = STUDY["instances"][wildcards.instance]
    found = variant(wildcards)
    parameters = agents.parameters(found.algorithm, found.values)
    return code_hash(
        "befrl.experiment.runs",
        "befrl.experiment.seeds",
        *instances.modules(entry["family"], entry["set"]),
        *agents.modules(found.algorithm, parameters),
    )


# Library.


@checked
def library_settings(wildcards):
    by_instance = STUDY.library(wildcards.kind)
    if wildcards.instance not in by_instance:
        raise unknown("instance", wildcards.instance, by_instance)
    return by_instance[wildcards.instance]


def library_code(wildcards):
    entry = STUDY["instances"][wildcards.instance]
    catalogues = (agents.catalogue, *agents.PARTS.values())
    return code_hash(
        "befrl.analysis.components",
        components.catalogue.module_name(wildcards.kind),
        *instances.modules(entry["family"], entry["set"]),
        *(part.module_name(name) for part in catalogues for name in part.names()),
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
        for block in STUDY.blocks(wildcards.instance, variant)
    ]


def case_blocks(on_grid):
    """The blocks of the variants on a grid, or off it, as words of a command line."""

    def words(wildcards):
        found = [v for v in case_variants(wildcards) if (v.grid is not None) == on_grid]
        return " ".join(STUDY.blocks(wildcards.instance, found[0])) if found else ""

    return words


# Published experiments.


@checked
def published_instances(wildcards):
    if wildcards.source not in STUDY["published"]:
        raise unknown("published source", wildcards.source, STUDY["published"])
    return STUDY["published"][wildcards.source]


def published_inputs(wildcards):
    names = published_instances(wildcards)
    track = published.catalogue.module(wildcards.source).TRACK
    return [
        path
        for name in names
        for path in (
            f"{RESULTS}/instances/{name}.npz",
            *(
                f"{RESULTS}/regret/{name}_{track}/{table}.csv"
                for table in ("summary", "curves", "timings")
            ),
        )
    ]


# Claims.


@checked
def claim_code(wildcards):
    return code_hash("befrl.claims", claims.describe(wildcards.claim)["module"])


# Figures.


@checked
def figure_entry(wildcards):
    if wildcards.figure not in FIGURE_NAMES:
        raise unknown("figure", wildcards.figure, FIGURE_NAMES)
    return FIGURE_NAMES[wildcards.figure]


def figure_kind(wildcards):
    return figure_entry(wildcards)[0]


def figure_tables(wildcards):
    """What its scope asks for: folders of cases, tables of a library study or of an experiment, or one table."""
    kind, shown = figure_entry(wildcards)
    match figures.scope(kind):
        case "library":
            return [f"{RESULTS}/library/{kind}/{name}.csv" for name in shown]
        case "published":
            return [
                f"{RESULTS}/published/{source}/{table}.csv"
                for source in shown
                for table in ("values", "curves")
            ]
        case "table":
            return [f"{RESULTS}/{name}.csv" for name in shown]
        case _:
            return [f"{RESULTS}/regret/{instance}_{track}" for instance, track in shown]


def figure_inputs(wildcards):
    if figures.scope(figure_kind(wildcards)) not in ("case", "study"):
        return figure_tables(wildcards)
    return [
        f"{folder}/{table}.csv"
        for folder in figure_tables(wildcards)
        for table in ("summary", "curves", "paired")
    ]


def figure_headline(wildcards):
    """Table 1 and the regret figures of the study's headline instances open the report."""
    kind, shown = figure_entry(wildcards)
    first = kind == "table1" or (
        kind in ("ordering", "regret") and STUDY["study"][shown[0][0]]["headline"]
    )
    return "--headline" if first else ""


wildcard_constraints:
    instance="[^/_]+",
    track="[^/_]+",
    variant="[^/]+",
    block=r"\d+-\d+",
    claim="[^/]+",
    figure="[^/]+",
    kind="[^/]+",
    source="[^/]+",
