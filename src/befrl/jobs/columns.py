"""List the columns of all tables with their meanings and units."""

from befrl.common import storage, tidy
from befrl.study import columns


def settings(study):
    return columns.rows()


def modules(study):
    return []  # the list depends only on the meanings, which are in the settings


def make(study):
    storage.write_text(study.layout.columns(), tidy.text(columns.rows(), columns.COLUMNS))
