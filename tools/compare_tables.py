"""Fail if tables drift from their reference: text must be the same, and numbers equal to one part in a million.

python tools/compare_tables.py MADE REFERENCE      compares every csv file below REFERENCE with its namesake below MADE

Nothing in these tables is measured by the clock, so that on one machine they are the same to the byte; the last line
counts those that are. Tables of a whole study, made on another machine, are for tools/verify.py.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

RELATIVE, ABSOLUTE = 1e-6, 1e-9
SHOWN = 5  # sentences for each file
NAMED = 4  # columns of text that name a row


def rounding(column, table):
    """What the numbers of a column may differ by: the last of some ten digits."""
    return ABSOLUTE + RELATIVE * np.abs(table[column])


def differences(made, reference, allowed=rounding):
    """The differences between two tables, as sentences; numbers may differ by allowed(column, reference)."""
    if list(made.columns) != list(reference.columns) or len(made) != len(reference):
        return [
            f"{len(made)} rows of {list(made.columns)}, the reference has {len(reference)} of {list(reference.columns)}"
        ]
    found = []
    for column in reference.columns:
        a, b = made[column].reset_index(drop=True), reference[column].reset_index(drop=True)
        if _numbers(a) and _numbers(b):
            limit = np.broadcast_to(allowed(column, reference), len(b))
            same = (np.abs(a - b).to_numpy() <= limit) | (a.isna() & b.isna()) | (a == b)
        else:
            limit, same = None, a.fillna("") == b.fillna("")
        for row in np.flatnonzero(~np.asarray(same)):
            more = "" if limit is None or allowed is rounding else f", allowed is a difference of {limit[row]:.3g}"
            found.append(
                f"{column} in row {row + 1}{_name(reference, row)}: {a[row]}, the reference has {b[row]}{more}"
            )
    return found


def _numbers(column):
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _name(table, row):
    """The first texts of a row, which say what it is about."""
    words = [str(value) for value in table.iloc[row] if isinstance(value, str)][:NAMED]
    return f" ({' '.join(words)})" if words else ""


def shown(name, sentences):
    """Print the first sentences about a file and count the others."""
    for text in sentences[:SHOWN]:
        print(f"{name}: {text}")
    if len(sentences) > SHOWN:
        print(f"{name}: and {len(sentences) - SHOWN} more")


def main(made, reference):
    paths = sorted(Path(reference).rglob("*.csv"))
    if not paths:
        sys.exit(f"no reference tables below {reference}")
    drifted, identical = False, 0
    for path in paths:
        name = path.relative_to(reference)
        again = Path(made) / name
        identical += again.exists() and again.read_bytes() == path.read_bytes()
        sentences = differences(pd.read_csv(again), pd.read_csv(path)) if again.exists() else ["not made"]
        shown(name, sentences)
        drifted |= bool(sentences)
    verdict = "DRIFT" if drifted else "no drift"
    print(f"{len(paths)} tables compared with {reference}, {identical} the same to the byte: {verdict}")
    sys.exit(drifted)


if __name__ == "__main__":
    main(*sys.argv[1:])
