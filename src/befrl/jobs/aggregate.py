"""Make the regret tables of a case from its run files and the outcomes of its tuning."""

from befrl.analysis import aggregation, regret_columns
from befrl.common import storage
from befrl.common.layout import REGRET_TABLES
from befrl.jobs import run, tune

COLUMNS = (*(name.upper() for name in REGRET_TABLES), "TIMINGS")


def settings(study, instance, track):
    study.case(instance, track)
    return [study["statistics"]["level"], [list(getattr(regret_columns, name)) for name in COLUMNS]]


def make(study, instance, track):
    layout = study.layout
    runs = run.files(study, instance, track)
    outcomes = {agent: tune.outcome(study, instance, track, agent) for agent in study.tuned(instance)}
    for table, text in aggregation.aggregate(runs, outcomes, study["statistics"]["level"]).items():
        timings = table == "timings"
        path = layout.regret_timings(instance, track) if timings else layout.regret(table, instance, track)
        storage.write_text(path, text)
