"""Tidy tables as CSV files; the meanings of their columns are in `columns.csv` of the results."""

import csv
import io

import pandas as pd

from befrl.common import storage
from befrl.common.errors import InputError, one_line, quoted

# Columns of names, which may look like numbers.
NAMES = ("name", "instance", "agent", "algorithm", "variant", "setting", "first", "second", "better", "best_agent")


def text(rows, columns) -> str:
    """The rows as CSV with these columns, {name: meaning and unit}."""
    return pd.DataFrame(rows, columns=list(columns)).to_csv(index=False, float_format="%.10g")


def read(path, columns=()) -> pd.DataFrame:
    """Read a table made by `text` and check that it has these columns."""
    content = storage.read_text(path)
    try:
        rows = list(csv.reader(io.StringIO(content)))
        # pandas fills up the rows of a truncated file.
        if any(len(row) != len(rows[0]) for row in rows) or not content.endswith("\n"):
            raise ValueError("a row is cut")
        table = pd.read_csv(io.StringIO(content))
    except (ValueError, csv.Error) as error:
        raise InputError(
            f"{path}: cannot be read as a befrl table ({one_line(error)}): delete it and run again"
        ) from None
    for name in columns:
        if name not in table:
            raise InputError(f"{path}: not a befrl table, the column '{name}' is missing: delete it and run again")
    for name in table:
        _check_numbers(path, table[name])
    return table


def _check_numbers(path, column):
    if column.name in NAMES or pd.api.types.is_numeric_dtype(column):
        return
    given = column.dropna()
    number = pd.to_numeric(given, errors="coerce").notna()
    if number.any() and not number.all():
        word = quoted(given[~number].iloc[0])
        raise InputError(
            f"{path}: damaged, {word} in the column '{column.name}' is not a number: delete it and run again"
        )


def joined(left, right, on, what) -> pd.DataFrame:
    """Join each row of `left` with its only match in `right`; error messages call the tables `what`."""
    table = left.merge(right, on=on, how="left", indicator=True)
    for rows, problem in (
        (right[right.duplicated(on)], "has several rows"),
        (table[table["_merge"] == "left_only"], "has no row: delete both and run again"),
    ):
        if len(rows):
            key = ", ".join(f"{name} '{rows.iloc[0][name]}'" for name in on)
            raise InputError(f"{what} cannot be joined: {key} {problem}")
    return table.drop(columns="_merge")
