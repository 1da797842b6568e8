"""Reading the regret tables of a case from their files."""

import pandas as pd

from befrl.analysis.columns import TABLES
from befrl.common import tidy
from befrl.common.errors import InputError


def read(layout, table: str, instance: str, track: str) -> pd.DataFrame:
    """One of the tables of the case (instance, track); raise if it is not of this case."""
    case = (instance, track)
    path = layout.regret_timings(*case) if table == "timings" else layout.regret(table, *case)
    found = tidy.read(path, TABLES[f"regret/{table}"])
    if {*zip(found["instance"].astype(str), found["track"].astype(str), strict=True)} != {case}:
        raise InputError(f"{path}: it is not the table of the case '{instance}_{track}' alone: delete it and run again")
    return found
