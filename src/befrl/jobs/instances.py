"""Make the table of a study's instances."""

from befrl.analysis import instance_table
from befrl.common import storage, tidy


def settings(study):
    return [study.longest(), list(study.component("exploration")), list(instance_table.COLUMNS)]


def make(study):
    rows = instance_table.rows(study.layout, *settings(study)[:2])
    storage.write_text(study.layout.instances(), tidy.text(rows, instance_table.COLUMNS))
