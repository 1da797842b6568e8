"""Meaning and unit of every column of every table, from `columns.csv`: {table: {column: meaning}}, in that order."""

import csv
from importlib import resources


def read_data(name) -> list[dict]:
    """The rows of a CSV file in this folder."""
    text = resources.files("befrl.analysis").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


TABLES: dict[str, dict[str, str]] = {}
for _row in read_data("columns.csv"):
    TABLES.setdefault(_row["table"], {})[_row["column"]] = _row["meaning"]
