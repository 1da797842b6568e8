"""Compare the agents over all cases of the study: probabilities of improvement, and significance over all cases."""

from befrl.analysis import aggregation, improvement
from befrl.common import storage, tidy
from befrl.jobs import run


def settings(study):
    columns = [list(improvement.COLUMNS), list(improvement.SIGNIFICANCE)]
    return [study.compared_cases(), study["statistics"]["level"], *columns]


def make(study):
    layout, level = study.layout, study["statistics"]["level"]
    finals = {case: aggregation.finals(run.files(study, *case)) for case in study.compared_cases()}
    storage.write_text(layout.improvement(), tidy.text(improvement.rows(finals, level), improvement.COLUMNS))
    rows = improvement.significance(finals, level)
    storage.write_text(layout.significance(), tidy.text(rows, improvement.SIGNIFICANCE))
