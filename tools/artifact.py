"""ARTIFACT.md: our main claims, each with its command, cost and expected value.

python tools/artifact.py check [ROW ...]    make the tables of these rows, by default of the short ones, and compare
python tools/artifact.py update             measure the cost from results/benchmarks, and write the page

A row of artifact.yaml names a number of a table. Its expected value is that of results/reference, and it may differ as
`make verify` allows (verify.py). Exit code of a check: 0 all agree, 1 some differ, 2 a table cannot be made.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

import verify
from befrl.common.markdown import markdown_table

ROOT = Path(__file__).parents[1]
PAGE, COST = ROOT / "ARTIFACT.md", ROOT / "workflow/seconds/artifact.csv"
RESULTS, REFERENCE = ROOT / "results", ROOT / "results/reference"
BLOCK = re.compile(r"<!-- (costs|claims) -->\n.*?<!-- end -->", re.DOTALL)  # the printed tables of the page
SHORT = 3.0  # minutes
ROUNDING = 1e-5  # a tolerance that is not shown
STUDY = "study"  # the row of the costs of everything


def rows() -> list[dict]:
    return yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def costs() -> pd.DataFrame:
    return pd.read_csv(COST, index_col="what")


def value(row, folder):
    """The number or word of a row in the tables below a folder, and how much it may differ."""
    table = pd.read_csv(folder / row["table"])
    found = np.flatnonzero(np.logical_and.reduce([table[name] == wanted for name, wanted in row["row"].items()]))
    if len(found) != 1:
        raise ValueError(f"{folder / row['table']} has {len(found)} rows with {row['row']}, not one")
    cell = table[row["column"]][found[0]]
    if isinstance(cell, str):
        return cell, 0.0
    limit = verify.tolerance(row["column"], table)
    return float(cell), float(np.broadcast_to(limit, len(table))[found[0]])


def text(expected, limit) -> str:
    if isinstance(expected, str):
        return expected
    return f"{expected:.4g}" if limit <= ROUNDING * abs(expected) + ROUNDING else f"{expected:.4g} ± {limit:.2g}"


def page(template) -> str:
    """The page with its tables printed anew."""
    cost = costs()
    short = cost.loc[[row["table"] for row in _one_each(rows()) if _is_short(row, cost)]]
    disk = cost["disk_mb"].dropna()
    tables = {
        "costs": [
            ("cost of", "minutes, one job after another", "MB of memory a job", "MB of disk"),
            ("the short rows below", f"{short['minutes'].sum():.0f}", f"{short['memory_mb'].max():.0f}", ""),
            ("the study", *(f"{cost.loc[STUDY, key]:.0f}" for key in ("minutes", "memory_mb")), f"{disk[STUDY]:.0f}"),
            ("the environment", "", "", f"{disk['environment']:.0f}"),
        ],
        "claims": [("", "claim", "command, and the file that it makes", "minutes", "MB", "expected")],
    }
    for number, row in enumerate(rows(), start=1):
        minutes, memory = cost.loc[row["table"], ["minutes", "memory_mb"]]
        command = f"`make artifact-check ROWS={number}`<br>`results/{row['table']}`"
        line = str(number), row["claim"], command, f"{minutes:.1f}", f"{memory:.0f}", text(*value(row, REFERENCE))
        tables["claims"].append(line)
    printed = {name: markdown_table(head, lines) for name, (head, *lines) in tables.items()}
    return BLOCK.sub(lambda block: f"<!-- {block[1]} -->\n{printed[block[1]]}<!-- end -->", template)


def _is_short(row, cost):
    return cost.loc[row["table"], "minutes"] <= SHORT


def _one_each(some):
    """One row for each table."""
    return {row["table"]: row for row in some}.values()


def measure():
    """Write the minutes and the memory of the jobs behind each table, and the disk space of the study."""
    benchmarks = RESULTS / "benchmarks"
    jobs = {STUDY: list(benchmarks.rglob("*.tsv"))}
    for row in _one_each(rows()):
        command = [sys.executable, "-m", "snakemake", "--dry-run", "--forceall", f"results/{row['table']}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        found = re.findall(r"^ *benchmark: (\S+)", done.stdout + done.stderr, re.MULTILINE)
        jobs[row["table"]] = [ROOT / path for path in found]
    costs = {"environment": (None, None, _megabytes(ROOT / ".venv"))}
    for what, paths in jobs.items():
        measured = pd.concat([pd.read_csv(path, sep="\t", na_values="-") for path in paths])
        disk = _megabytes(RESULTS, ROOT / "figures") if what == STUDY else None
        costs[what] = round(measured["s"].sum() / 60, 2), round(measured["max_rss"].max()), disk
    table = pd.DataFrame.from_dict(costs, orient="index", columns=["minutes", "memory_mb", "disk_mb"])
    table.convert_dtypes().to_csv(COST, index_label="what")


def _megabytes(*folders):
    return round(sum(path.lstat().st_size for folder in folders for path in folder.rglob("*")) / 1e6)


def check(numbers) -> int:
    """Make the tables of some rows with Snakemake, and compare their values with the expected ones."""
    every, cost = dict(enumerate(rows(), start=1)), costs()
    if wrong := [number for number in numbers if number not in map(str, every)]:
        print(f"ROWS={wrong[0]} is not allowed: choose from 1 to {len(every)}", file=sys.stderr)
        return 2
    chosen = {n: row for n, row in every.items() if (str(n) in numbers if numbers else _is_short(row, cost))}
    paths = [f"results/{row['table']}" for row in _one_each(chosen.values())]
    if subprocess.run([sys.executable, "-m", "befrl.study.runner", STUDY, *paths], cwd=ROOT).returncode:
        return 2
    good = 0
    for number, row in chosen.items():
        (made, _), (expected, limit) = value(row, RESULTS), value(row, REFERENCE)
        same = made == expected if isinstance(expected, str) else abs(made - expected) <= limit
        good += same
        shown = made if isinstance(made, str) else f"{made:.4g}"
        print(f"row {number}: {shown}, expected {text(expected, limit)}: {'agrees' if same else 'DIFFERS'}")
    print(f"{good} of {len(chosen)} rows agree")
    return int(good < len(chosen))


def main(words=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("check").add_argument("rows", nargs="*", metavar="ROW")
    verbs.add_parser("update")
    args = parser.parse_args(words)
    if args.verb == "check":
        return check(args.rows)
    measure()
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
