"""Tidy tables as CSV files that open everywhere; the meanings of their columns are in `columns.csv` of the results."""

import csv
import io

import pandas as pd

from befrl.common import storage
from befrl.common.errors import InputError
from befrl.common.sentences import quoted

# Columns of names, which may look like numbers.
NAMES = ("name", "instance", "agent", "algorithm", "variant", "setting", "first", "second", "better", "best_agent")


def text(rows, columns) -> str:
    """The rows as CSV with these columns, {name: meaning and unit}."""
    return pd.DataFrame(rows, columns=list(columns)).to_csv(index=False, float_format="%.10g")


def read(path, columns=()) -> pd.DataFrame:
    """Read a table made by `text` and check that it has these columns."""
    content = storage.read_text(path)
    try:
        _check_rows(content)
        table = pd.read_csv(io.StringIO(content))
    except (ValueError, csv.Error) as error:
        reason = storage.one_line(error)
        raise InputError(f"{path}: cannot be read as a befrl table ({reason}): delete it and run again") from None
    missing = [name for name in columns if name not in table]
    if missing:
        raise InputError(f"{path}: not a befrl table, the column '{missing[0]}' is missing: delete it and run again")
    for name in table:
        _check_numbers(path, table[name])
    return table


def _check_rows(content):
    """Raise if a row is shorter than the header, as one that was cut; pandas would fill it up."""
    rows = list(csv.reader(io.StringIO(content)))
    if any(len(row) != len(rows[0]) for row in rows) or not content.endswith("\n"):
        raise ValueError("a row is cut")


def _check_numbers(path, column):
    """Raise if a word stands in a column of numbers."""
    if column.name in NAMES or pd.api.types.is_numeric_dtype(column):
        return
    given = column.dropna()
    number = pd.to_numeric(given, errors="coerce").notna()
    if number.any() and not number.all():
        word = quoted(given[~number].iloc[0])
        raise InputError(f"{path}: damaged, {word} in the column '{column.name}' is no number: delete it and run again")


def joined(left, right, on, what) -> pd.DataFrame:
    """Join each row of `left` with its only match in `right`; error messages call the tables `what`."""
    if right.duplicated(on).any():
        raise InputError(f"{what} cannot be joined: {_key(right[right.duplicated(on)], on)} has several rows")
    table = left.merge(right, on=on, how="left", indicator=True, validate="many_to_one")
    alone = table[table["_merge"] == "left_only"]
    if len(alone):
        raise InputError(f"{what} cannot be joined: {_key(alone, on)} has no row: delete both and run again")
    return table.drop(columns="_merge")


def _key(table, on):
    return ", ".join(f"{name} '{table.iloc[0][name]}'" for name in on)
