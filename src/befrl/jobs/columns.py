"""List the columns of all tables with their meanings and units."""

from befrl.common import storage, tidy
from befrl.study import columns


def settings(study):
    return columns.rows()


def modules(study):
    # The list depends on the meanings alone, and every module with a table has some.
    return []


def make(study):
    storage.write_text(study.layout.columns(), tidy.text(columns.rows(), columns.COLUMNS))
