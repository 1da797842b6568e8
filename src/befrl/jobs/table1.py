"""Make a measured version of the paper's Table 1: its marks beside the numbers of the study."""

from befrl.analysis import table1
from befrl.common import storage, tidy


def settings(study):
    return [study.compared_cases(), list(study.component("scaling")), list(table1.COLUMNS), list(table1.TIMINGS)]


def make(study):
    layout, (cases, scaled, *_) = study.layout, settings(study)
    storage.write_text(layout.table1(), tidy.text(table1.rows(layout, cases), table1.COLUMNS))
    storage.write_text(layout.table1_timings(), tidy.text(table1.timings(layout, cases, scaled), table1.TIMINGS))
