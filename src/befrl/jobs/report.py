"""Write the report: one page with everything that the study produced."""

from befrl.analysis import published, regret_columns
from befrl.report import assemble


def settings(study):
    return [study.hash, regret_columns.SUMMARY, regret_columns.TIMINGS]  # the page explains these columns


def modules(study):
    # The page shows texts from the modules of the published experiments.
    return [__name__, *(published.registry.module_name(source) for source in study["published"])]


def make(study):
    assemble.write(study, study.layout.report())
