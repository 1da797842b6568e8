"""Write the report: one page with everything that the study produced."""

from befrl.analysis import published, regret_columns
from befrl.report import assemble


def settings(study):
    # The page explains columns.
    return [study.hash, regret_columns.SUMMARY, regret_columns.TIMINGS]


def modules(study):
    # The page shows what the modules of published experiments say of their sources.
    return [__name__, *(published.registry.module_name(source) for source in study["published"])]


def make(study):
    assemble.write(study, study.layout.report())
