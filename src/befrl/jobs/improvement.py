"""Compare the agents over all cases of the study: probabilities of improvement, and significance over all cases."""

from befrl.analysis import aggregation, improvement
from befrl.common import storage, tidy


def settings(study):
    columns = [list(improvement.COLUMNS), list(improvement.SIGNIFICANCE)]
    return [study.compared_cases(), study["statistics"]["level"], *columns]


def make(study):
    layout, level = study.layout, study["statistics"]["level"]
    finals = {}
    for case in study.compared_cases():
        names, batches = study.case(*case)["agents"], study.batches(case[0])
        finals[case] = aggregation.finals(layout.run(*case, agent, batch) for agent in names for batch in batches)
    storage.write_text(layout.improvement(), tidy.text(improvement.rows(finals, level), improvement.COLUMNS))
    rows = improvement.significance(finals, level)
    storage.write_text(layout.significance(), tidy.text(rows, improvement.SIGNIFICANCE))
