"""Compare a published experiment with the study's runs: the authors' numbers beside ours."""

from befrl.analysis import published
from befrl.common import storage, tidy


def settings(study, source):
    study.repeated(source)
    return [study["published"][source], list(published.COLUMNS)]


def modules(study, source):
    return [__name__, published.registry.module_name(source)]


def make(study, source):
    layout = study.layout
    reruns = published.read(source, layout, study["published"][source])
    for table, rows in published.tables(source, reruns).items():
        path = layout.published_timings(source) if table == "timings" else layout.published(table, source)
        storage.write_text(path, tidy.text(rows, published.COLUMNS))
