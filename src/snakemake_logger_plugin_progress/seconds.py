"""Tables of the seconds that jobs took: one row for each job, by its rule and its first output file."""

import csv
import os
from pathlib import Path

COLUMNS = ("rule", "output", "seconds")


def read(path) -> dict[tuple[str, str], float]:
    """{(rule, output): seconds}; empty if there is no such table. A damaged table only costs an estimate."""
    try:
        with open(path, newline="") as file:
            return {(row["rule"], row["output"]): float(row["seconds"]) for row in csv.DictReader(file)}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def write(path, table):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with open(temporary, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        rows.writerows((*key, f"{seconds:.1f}") for key, seconds in sorted(table.items()))
    os.replace(temporary, path)
