"""The regret tables of a case, read back from their files and held against the case."""

import pandas as pd

from befrl.analysis import regret_columns
from befrl.common import tidy
from befrl.common.errors import InputError

COLUMNS = {
    "summary": regret_columns.SUMMARY,
    "curves": regret_columns.CURVES,
    "order": regret_columns.ORDER,
    "timings": regret_columns.TIMINGS,
}


def read(layout, table: str, instance: str, track: str) -> pd.DataFrame:
    """One of the tables of the case (instance, track); raise if it is not of this case."""
    case = (instance, track)
    path = layout.regret_timings(*case) if table == "timings" else layout.regret(table, *case)
    found = tidy.read(path, COLUMNS[table])
    if {*zip(found["instance"].astype(str), found["track"].astype(str), strict=True)} != {case}:
        raise InputError(f"{path}: it is not the table of the case '{instance}_{track}' alone: delete it and run again")
    return found
