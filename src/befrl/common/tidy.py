"""Tidy tables as CSV files that open everywhere; the meanings of their columns are in `columns.csv` of the results."""

import pandas as pd

from befrl.common import storage
from befrl.common.errors import InputError


def text(rows, columns) -> str:
    """The rows as CSV with these columns, {name: meaning and unit}."""
    return pd.DataFrame(rows, columns=list(columns)).to_csv(index=False, float_format="%.10g")


def read(path, columns=()) -> pd.DataFrame:
    """Read a table made by `text` and check that it has these columns."""
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        reason = storage.one_line(error)
        raise InputError(f"{path}: cannot be read as a befrl table ({reason}): delete it and run again") from None
    missing = [name for name in columns if name not in table]
    if missing:
        raise InputError(f"{path}: not a befrl table, the column '{missing[0]}' is missing: delete it and run again")
    return table


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
