"""Compare the tables and figures of a study with the committed ones and list the differences: `make verify`.

python tools/verify.py results results/reference --figures figures
python tools/verify.py build/smoke/results tests/reference/smoke --rounding

Every table below REFERENCE is compared with the table of the same name below RESULTS, and with --figures every figure's
JSON below REFERENCE/figures by what it plots. Exit code 0: they agree; 1: they differ; 2: there is nothing to compare.

On one machine a study has the same bits every time, and the last lines count the files that are the same to the byte.
Another processor or BLAS changes the last bits of exp, log, matrix products and factorisations. That changes estimates
by rounding errors. Where two actions have nearly the same value it can change a choice, and from there on one (setting,
seed) follows another trajectory, which is as likely, with the same environment noise. Measured with the kernels of an
older processor (OPENBLAS_CORETYPE=Nehalem NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4"), 100 seeds and 300 episodes on
chain-8 and riverswim-4: eight of nine pairs of an agent and an instance kept all trajectories; ucrl-vtr on the chain
changed 98 of 100, and its mean moved by a fortieth of its interval. So a new run may differ by:

  numbers with an interval   a quarter of the width of their interval in the reference: ten times what was measured. If
                             3 of 100 seeds fail, one more moves the mean by 0.15 of its interval's width. Also the
                             interval's ends and the quantiles beside it.
  shares of seeds            one seed in fifty, and at least one.
  p-values                   0.02.
  slope, optimistic,         0.05: they are averages over trajectories without an interval of their own.
  saturated, tied, changed
  means on tuning seeds      a tenth: they have few seeds and no interval.
  certificates               a twentieth of their sum; a tenth of their first k and of the regret beside them; a fifth
                             of the number of broken ones, and at least one.
  plans                      a hundredth: backward inductions per episode depend on trajectories.
  claims                     verdict and texts are the same, except the instance at which a search ended; the worst
                             case may differ by one part in twenty or a millionth.
  all other numbers          one part in a million: constants and values of instances depend on no trajectory.
  counts, names, roles,      nothing. A configuration that wins the tuning by little may lose it elsewhere; the table
  chosen settings            then has another setting, which is listed.
  places of agents           any order of agents that are not significantly different in the reference. Groups, ranks
                             and rungs follow from other columns and are not compared.
  figures                    titles, names, legends and the number of points are the same, but adjacent entries may
                             change places; points, by a twentieth of their axis.

With --rounding all numbers may differ by one part in a million: for small studies, made on similar machines.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd

SHOWN = 5  # differences shown for each file
NAMED = 4  # texts that name a row
# Numbers with the interval low .. high of their row, or prefix_low .. prefix_high if they have a prefix.
ESTIMATES = {"mean", "difference", "share", "ours", "greedy", "best", "low", "high", "q10", "q50", "q90"}
# (absolute, relative) tolerance of averages over trajectories without an interval of their own.
AVERAGES = dict.fromkeys(("slope", "optimistic", "saturated", "tied", "changed"), (0.05, 0.0)) | {
    "p": (0.02, 0.0),
    "tuning_mean": (0.0, 0.1),
    "first_mean": (0.0, 0.1),
    "plans": (0.0, 0.01),
    "regret": (0.0, 0.1),
    "certified": (0.0, 0.05),
    "certified_share": (0.0, 0.05),
    "first_k": (0.0, 0.1),
    "broken_episodes": (1.0, 0.2),
    "worst_case": (1e-6, 0.05),
}
SHARE_OF_SEEDS = 0.02
SHARE_OF_AXIS = 0.05
# Columns that follow from others by comparisons that a tie can turn.
FOLLOWING = {"better", "group", "rank", "rung"}
# Columns that are compared only in the rows in which another column is the same.
IF_SAME = {"better": {"gap", "gap_low", "gap_high", "p"}, "rung": {"mean", "seeds"}}


def rounding(column, table, relative=1e-6, absolute=1e-9):
    return absolute + relative * np.abs(table[column])


def tolerance(column, table):
    """How much the numbers of a column may differ, row by row; the docstring of this file gives the reasons."""
    prefix, _, base = column.rpartition("_")
    stems = [f"{column}_"] + [f"{prefix}_" if prefix else ""] * (base in ESTIMATES)
    stems = [stem for stem in stems if f"{stem}low" in table and f"{stem}high" in table]
    limits = [rounding(column, table)]
    if re.search("failed|broken|share_first_better", column):
        limits += [SHARE_OF_SEEDS, 1 / table["seeds"] if "seeds" in table else 0.0]
    if stems:
        limits.append(0.25 * np.nan_to_num(table[f"{stems[0]}high"] - table[f"{stems[0]}low"]))
    elif column in AVERAGES or base in AVERAGES:
        absolute, relative = AVERAGES.get(column) or AVERAGES[base]
        limits.append(absolute + relative * np.abs(table[column]))
    elif "rung" in table and column == "mean":
        limits.append(0.1 * np.abs(table[column]))
    return np.maximum.reduce(np.broadcast_arrays(*limits))


def differences(made, reference, allowed=rounding, skipped=()):
    """Sentences about the differences between two tables; numbers may differ by allowed(column, reference)."""
    if list(made.columns) != list(reference.columns) or len(made) != len(reference):
        size = f"{len(made)} rows of {list(made.columns)}"
        return [f"{size}, the reference has {len(reference)} of {list(reference.columns)}"]
    found = []
    for column in reference.columns.difference(skipped, sort=False):
        a, b = made[column], reference[column]
        if all(pd.api.types.is_numeric_dtype(x) and not pd.api.types.is_bool_dtype(x) for x in (a, b)):
            limit = np.broadcast_to(allowed(column, reference), len(b))
            same = (np.abs(a - b) <= limit) | (a.isna() & b.isna()) | (a == b)
            more = [f" (it may differ by {x:.3g})" for x in limit]
        else:
            same, more = a.fillna("") == b.fillna(""), [""] * len(b)
        for row in np.flatnonzero(~same):
            names = " ".join([value for value in reference.iloc[row] if isinstance(value, str)][:NAMED])
            found.append(f"{column} in row {row + 1} ({names}): {a[row]}, the reference has {b[row]}{more[row]}")
    return found


def study_differences(made, reference):
    """The differences between two tables of a study, beyond the tolerances."""
    if list(made.columns) != list(reference.columns) or len(made) != len(reference):
        return differences(made, reference)
    if "place" in reference:
        case = ["instance", "track", "family"]
        made, reference = (table.sort_values([*case, "agent"], ignore_index=True) for table in (made, reference))
        made = made.assign(place=_places(made, reference, case))
    for column, dependent in IF_SAME.items():
        if column in reference:
            other = made[column].fillna("") != reference[column].fillna("")
            for name in dependent & set(reference):
                made[name] = made[name].mask(other, reference[name])
    # Of a claim, the instance at which a search ended is one of many that are as bad.
    skipped = FOLLOWING | ({"instance"} if "worst_case" in reference else set())
    return differences(made, reference, tolerance, skipped)


def _places(made, reference, case):
    """The places made, but the reference's where an agent only passed agents tied with it in the reference."""
    apart = (reference.set_index([*case, "place"])["gap_low"] > 0).to_dict()
    places = []
    for *names, ours, theirs in zip(*(reference[c] for c in case), made["place"], reference["place"], strict=True):
        passed = range(min(ours, theirs) + 1, max(ours, theirs) + 1)
        places.append(ours if any(apart.get((*names, place), True) for place in passed) else theirs)
    return places


def figure_differences(made, reference):
    """The differences between two figures by what they plot, beyond the tolerances."""
    if "plotted" not in made:
        return ["does not say what it plots: older code drew it"]
    a, b = made["plotted"], reference["plotted"]
    found = _words(made, reference, "title") + _words(a, b, "texts", "legends")
    if len(a["axes"]) != len(b["axes"]):
        return [*found, f"{len(a['axes'])} panels, the reference has {len(b['axes'])}"]
    for number, (ours, theirs) in enumerate(zip(a["axes"], b["axes"], strict=True), start=1):
        found += [f"panel {number} '{theirs['title']}': {text}" for text in _panel_differences(ours, theirs)]
    return found


def _panel_differences(a, b):
    found = _words(a, b, "title", "legend", "texts")
    for axis in "xy":
        found += [f"{axis} axis: {text}" for text in _words(a[axis], b[axis], "label", "scale", "names")]
    kinds = [[(each["kind"], each["points"]) for each in panel["artists"]] for panel in (a, b)]
    if found or kinds[0] != kinds[1]:
        return found or ["other lines, bands or markers than in the reference"]
    for ours, theirs in zip(a["artists"], b["artists"], strict=True):
        for axis in "xy":
            low, high = _positions(b[axis]["limits"], b[axis])
            p, q = _positions(ours[axis], b[axis]), _positions(theirs[axis], b[axis])
            close = np.isclose(p, q, rtol=0.0, atol=SHARE_OF_AXIS * abs(high - low), equal_nan=True)
            for n in np.flatnonzero(~close):
                values = f"{ours[axis].split()[n]}, the reference has {theirs[axis].split()[n]}"
                found.append(f"{theirs['kind']} '{theirs['label']}': {axis} of point {n + 1}: {values}")
    return found


def _positions(numbers, axis):
    """Numbers separated by spaces, as positions on an axis."""
    values = np.array(numbers.split(), dtype=float)
    if axis["scale"] == "log":
        with np.errstate(divide="ignore"):
            return np.log10(np.where(values < 0, 0.0, values))
    return values


def _words(a, b, *keys):
    """The differences between texts or lists of texts; adjacent entries of legends and names may change places."""
    found = []
    for key in keys:
        ours, theirs = a[key], b[key]
        same = _same(ours, theirs)
        if not same and key in ("legend", "names"):
            near = (text in theirs[max(0, n - 1) : n + 2] for n, text in enumerate(ours))
            same = sorted(ours) == sorted(theirs) and all(near)
        if not same:
            found.append(f"{key} {ours!r}, the reference has {theirs!r}")
    return found


def _same(a, b):
    """Equality of texts; percentages may differ like shares of seeds, plus their own rounding."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, str) and isinstance(b, str):
        shares = [re.fullmatch(r"(\d+(?:\.\d+)?) ?%", text) for text in (a, b)]
        if all(shares):
            return abs(float(shares[0][1]) - float(shares[1][1])) <= 100 * SHARE_OF_SEEDS + 1
    return a == b


def compare(kind, reference, folder, compared):
    """Print the differences between the tables or figures of two folders and how many agree; return if all do."""
    read, pattern = (pd.read_csv, "**/*.csv") if kind == "tables" else (_read_json, "*.json")
    paths = sorted(reference.glob(pattern))
    identical = within = 0
    for path in paths:
        again = Path(folder) / path.relative_to(reference)
        if again.exists() and again.read_bytes() == path.read_bytes():
            identical += 1
            continue
        found = compared(read(again), read(path)) if again.exists() else ["not made"]
        within += not found
        more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        for text in found[:SHOWN] + more:
            print(f"{again}: {text}")
    agree = identical + within
    print(f"{agree} of {len(paths)} {kind} agree with {reference}: {identical} are the same to the byte")
    return agree == len(paths)


def _read_json(path):
    return json.loads(path.read_text())


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--figures", help="folder of the figures that are compared with REFERENCE/figures")
    parser.add_argument("--rounding", action="store_true", help="numbers may differ by one part in a million")
    args = parser.parse_args(words)
    tables = (path.relative_to(args.reference) for path in args.reference.rglob("*.csv"))
    if not any((args.results / name).exists() for name in tables):
        print(f"no table below {args.results} has a reference below {args.reference}: run `make reproduce` first",
              file=sys.stderr)  # fmt: skip
        return 2
    agree = compare("tables", args.reference, args.results, differences if args.rounding else study_differences)
    if args.figures:
        agree &= compare("figures", args.reference / "figures", args.figures, figure_differences)
    if not args.rounding:
        print("The tolerances and their reasons: tools/verify.py")
    return int(not agree)


if __name__ == "__main__":
    sys.exit(main())
