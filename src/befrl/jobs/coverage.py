"""Measure by simulation how often the intervals of the tables contain the mean."""

from befrl.analysis import coverage
from befrl.common import storage, tidy


def settings(study):
    return [study["statistics"]["coverage"], study["root_seed"], list(coverage.COLUMNS)]


def make(study):
    rows = coverage.study(study["statistics"]["coverage"], study["root_seed"])
    storage.write_text(study.layout.coverage(), tidy.text(rows, coverage.COLUMNS))
