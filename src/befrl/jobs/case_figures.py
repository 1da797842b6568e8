"""Draw all figures of a case in one job, since loading matplotlib takes as long as drawing."""

from befrl import figures
from befrl.common.errors import unknown
from befrl.jobs import figure


def names(study, instance, track):
    """The figures of a case."""
    case, cases = (instance, track), study.compared_cases()
    if case not in cases:
        raise unknown("case", "_".join(case), map("_".join, cases))
    return [name for name, (kind, shown) in study.figures.items() if figures.scope(kind) == "case" and shown == [case]]


def settings(study, instance, track):
    return {name: figure.settings(study, name) for name in names(study, instance, track)}


def modules(study, instance, track):
    return sorted({module for name in names(study, instance, track) for module in figure.modules(study, name)})


def make(study, instance, track):
    for name in names(study, instance, track):
        figure.make(study, name)
