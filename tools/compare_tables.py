"""Fail if tables drift from their reference: text must be the same, and numbers equal to one part in a million.

python tools/compare_tables.py MADE REFERENCE      compares every csv file below REFERENCE with its namesake below MADE

Nothing in these tables is measured by the clock, so that on one machine they are the same to the byte; the last line
counts those that are.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

RELATIVE, ABSOLUTE = 1e-6, 1e-9


def differences(made, reference):
    """The differences between two tables, as sentences."""
    a, b = (pd.read_csv(path, comment="#") for path in (made, reference))
    if list(a.columns) != list(b.columns) or len(a) != len(b):
        return [f"{len(a)} rows of {list(a.columns)}, the reference has {len(b)} of {list(b.columns)}"]
    found = []
    for column in b.columns:
        if pd.api.types.is_numeric_dtype(b[column]) and pd.api.types.is_numeric_dtype(a[column]):
            same = np.isclose(a[column], b[column], rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
        else:
            same = (a[column].fillna("") == b[column].fillna("")).to_numpy()
        if not same.all():
            row = int(np.flatnonzero(~same)[0])
            found.append(f"{column} in row {row + 1}: {a[column][row]}, the reference has {b[column][row]}")
    return found


def main(made, reference):
    paths = sorted(Path(reference).rglob("*.csv"))
    if not paths:
        sys.exit(f"no reference tables below {reference}")
    drifted, identical = False, 0
    for path in paths:
        name = path.relative_to(reference)
        again = Path(made) / name
        identical += again.exists() and again.read_bytes() == path.read_bytes()
        for text in differences(again, path) if again.exists() else ["not made"]:
            drifted = True
            print(f"{name}: {text}")
    verdict = "DRIFT" if drifted else "no drift"
    print(f"{len(paths)} tables compared with {reference}, {identical} the same to the byte: {verdict}")
    sys.exit(drifted)


if __name__ == "__main__":
    main(*sys.argv[1:])
