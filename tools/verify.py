"""Hold the results of a study against the committed ones, and name what drifted: `make verify`.

python tools/verify.py RESULTS FIGURES REFERENCE      e.g. results figures results/reference

Exit code 0: no drift; 1: drift; 2: there are no results to compare. Every table below REFERENCE is compared with its
namesake below RESULTS, and every figure's JSON below REFERENCE/figures with its namesake in FIGURES, by what it plots.

Where the tolerances come from. On one machine a study has the same bits every time, and the last lines count the files
that are the same to the byte. Another processor or BLAS changes the last bits of exp, log, matrix products and
factorisations. That moves estimates by rounding errors. Where two actions are worth nearly the same, it also turns a
choice, and from there on one (setting, seed) plays another trajectory that is as likely, in the same environment noise.
Measured with the kernels of an older processor (OPENBLAS_CORETYPE=Nehalem NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4"),
100 seeds and 300 episodes on chain-8 and riverswim-4: of nine pairs of an agent and an instance, eight kept all their
trajectories; ucrl-vtr on the chain changed 98 of 100, and its mean moved by a fortieth of its interval. So a new run
may differ from the reference by:

  numbers with an interval   a quarter of the width of their own interval, in the reference: ten times what was
                             measured. If 3 of 100 seeds fail, one more moves the mean by 0.15 of its interval's width.
                             Their own ends and the quantiles beside them: the same.
  shares of seeds            one seed in fifty, and at least one.
  p-values                   0.02.
  slope, optimistic,         0.05: they are averages over trajectories without an interval of their own.
  saturated, tied, changed
  means on tuning seeds      a tenth: they have few seeds and no interval.
  plans                      a hundredth: backward inductions per episode depend on trajectories.
  claims                     the verdict and all texts are the same, except the instance at which a search ended; the
                             worst case, to one part in twenty or a millionth.
  all other numbers          one part in a million: constants and values of instances depend on no trajectory.
  counts, names, roles,      the same. A configuration that wins the tuning by a hair may lose it elsewhere; the table
  chosen settings            then has another setting, and is named here.
  places of agents           may change among agents that the intervals of the reference cannot tell apart. Groups,
                             ranks and rungs follow from other columns and are not compared by themselves.
  figures                    titles, names, legends and the number of points are the same, but for neighbours that
                             change places; points lie within a twentieth of the length of the axis. One seed in a
                             hundred that newly fails moves a mean by a hundredth of the largest regret, and by more
                             on logarithmic axes.
"""

import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from compare_tables import differences, rounding, shown

QUARTER = 0.25
SEEDS_IN_A_HUNDRED = 0.02
OF_AN_AXIS = 0.05
# Numbers with the interval low .. high of their row, or prefix_low .. prefix_high if they have a prefix.
ESTIMATES = {"mean", "difference", "share", "ours", "greedy", "best", "low", "high", "q10", "q50", "q90"}
# Averages over trajectories without an interval of their own: (absolute, relative) tolerance.
AVERAGES = {
    "slope": (0.05, 0.0),
    "optimistic": (0.05, 0.0),
    "saturated": (0.05, 0.0),
    "tied": (0.05, 0.0),
    "changed": (0.05, 0.0),
    "p": (0.02, 0.0),
    "tuning_mean": (0.0, 0.1),
    "first_mean": (0.0, 0.1),
    "plans": (0.0, 0.01),
    "worst_case": (1e-6, 0.05),
}
OF_SEEDS = re.compile(r"failed|share_first_better")
# Columns that follow from others by comparisons that a tie can turn.
FOLLOWING = {"better", "group", "rank", "rung"}
# Columns that are compared in those rows alone in which another column is the same.
IF_SAME = {"better": {"gap", "gap_low", "gap_high", "p"}, "rung": {"mean", "seeds"}}
# Lists of names in the order of their results.
ORDERED = {"legend", "names"}
# Of a claim, the instance at which a search ended: there are many as bad.
SEARCHED = {"instance"}


def allowed(column, table):
    """What the numbers of a column may differ by, row by row."""
    base = column.rpartition("_")[2]
    limit = rounding(column, table)
    if OF_SEEDS.search(column):
        seeds = table["seeds"] if "seeds" in table else np.inf
        limit = np.maximum(limit, np.maximum(SEEDS_IN_A_HUNDRED, 1 / seeds))
    bounds = _interval(column, table)
    if bounds is not None:
        limit = np.maximum(limit, QUARTER * np.nan_to_num(bounds))
    elif column in AVERAGES or base in AVERAGES:
        absolute, relative = AVERAGES.get(column) or AVERAGES[base]
        limit = np.maximum(limit, absolute + relative * np.abs(table[column]))
    elif "rung" in table and column == "mean":
        limit = np.maximum(limit, 0.1 * np.abs(table[column]))
    return limit


def _interval(column, table):
    """The widths of the interval that belongs to a column, or None."""
    prefix, _, base = column.rpartition("_")
    stems = [f"{column}_"]
    if base in ESTIMATES:
        stems.append(f"{prefix}_" if prefix else "")
    for stem in stems:
        if f"{stem}low" in table and f"{stem}high" in table:
            return (table[f"{stem}high"] - table[f"{stem}low"]).to_numpy()
    return None


def table_differences(made, reference):
    """The differences between two tables of a study, beyond the tolerances."""
    if list(made.columns) != list(reference.columns) or len(made) != len(reference):
        return differences(made, reference)
    if "place" in reference:
        keys = [name for name in ("instance", "track", "family", "agent") if name in reference]
        made, reference = (table.sort_values(keys).reset_index(drop=True) for table in (made, reference))
        made = made.assign(place=_places(made, reference))
    for column, dependent in IF_SAME.items():
        if column in reference:
            other = (made[column].fillna("") != reference[column].fillna("")).to_numpy()
            for name in dependent & set(reference.columns):
                made = made.assign(**{name: made[name].mask(other, reference[name])})
    skipped = FOLLOWING | (SEARCHED if "worst_case" in reference else set())
    kept = [column for column in reference if column not in skipped]
    widths = reference  # the tolerances may need columns that are not compared
    return differences(made[kept], reference[kept], lambda column, _: allowed(column, widths))


def _places(made, reference):
    """The places that were made, and the reference's where the agent only passed others that are tied with it."""
    case = [name for name in ("instance", "track", "family") if name in reference]
    apart = {(*map(str, row[:-2]), row[-2]): row[-1] > 0 for row in reference[[*case, "place", "gap_low"]].to_numpy()}
    places = []
    for *names, ours, theirs in zip(
        *(reference[name] for name in case), made["place"], reference["place"], strict=True
    ):
        passed = range(min(ours, theirs) + 1, max(ours, theirs) + 1)
        tied = not any(apart.get((*map(str, names), place), True) for place in passed)
        places.append(theirs if tied else ours)
    return places


def figure_differences(made, reference):
    """The differences between two figures by what they plot, beyond the tolerances."""
    if "plotted" not in made:
        return ["does not say what it plots: older code drew it"]
    a, b = made["plotted"], reference["plotted"]
    found = [] if made["title"] == reference["title"] else [f"title {made['title']!r}, not {reference['title']!r}"]
    found += _words("texts", a, b) + _words("legends", a, b)
    if len(a["axes"]) != len(b["axes"]):
        return [*found, f"{len(a['axes'])} panels, the reference has {len(b['axes'])}"]
    for number, (panel, other) in enumerate(zip(a["axes"], b["axes"], strict=True), start=1):
        name = f"panel {number}" + (f" '{other['title']}'" if other["title"] else "")
        found += [f"{name}: {text}" for text in _panel_differences(panel, other)]
    return found


def _panel_differences(a, b):
    found = [text for key in ("title", "legend", "texts") for text in _words(key, a, b)]
    found += [f"{axis} axis: {text}" for axis in "xy" for key in ("label", "scale", "names")
              for text in _words(key, a[axis], b[axis])]  # fmt: skip
    kinds = [[(each["kind"], each["points"]) for each in panel["artists"]] for panel in (a, b)]
    if found or kinds[0] != kinds[1]:
        return found or ["other lines, bands or markers than in the reference"]
    for ours, theirs in zip(a["artists"], b["artists"], strict=True):
        name = f"{theirs['kind']} '{theirs['label']}'" if theirs["label"] else theirs["kind"]
        for axis in "xy":
            found += [f"{name}: {text}" for text in _point_differences(axis, ours, theirs, b[axis])]
    return found


def _point_differences(axis, ours, theirs, about):
    """Points that differ by more than a share of the axis, in its own scale."""
    low, high = _positions(about["limits"], about["scale"])
    limit = OF_AN_AXIS * abs(high - low)
    pairs = zip(_positions(ours[axis], about["scale"]), _positions(theirs[axis], about["scale"]), strict=True)
    far = [
        n for n, (p, q) in enumerate(pairs) if not (p == q or abs(p - q) <= limit or (math.isnan(p) and math.isnan(q)))
    ]
    return [
        f"{axis} of point {n + 1}: {ours[axis].split()[n]}, the reference has {theirs[axis].split()[n]}" for n in far
    ]


def _positions(numbers, scale):
    values = [float(number) for number in numbers.split()]
    if scale == "log":
        return [math.log10(value) if value > 0 else -math.inf for value in values]
    return values


def _words(key, a, b):
    """The difference between two texts or lists of texts."""
    same = _same(a[key], b[key]) or (key in ORDERED and _neighbours(a[key], b[key]))
    return [] if same else [f"{key} {a[key]!r}, the reference has {b[key]!r}"]


def _neighbours(a, b):
    """Whether two lists have the same texts, each at most one place apart."""
    return sorted(a) == sorted(b) and all(text in b[max(0, n - 1) : n + 2] for n, text in enumerate(a))


def _same(a, b):
    """Equality of texts; shares in per cent may differ like shares of seeds, plus their own rounding."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, str) and isinstance(b, str):
        shares = [re.fullmatch(r"(\d+(?:\.\d+)?) ?%", text) for text in (a, b)]
        if all(shares):
            return abs(float(shares[0][1]) - float(shares[1][1])) <= 100 * SEEDS_IN_A_HUNDRED + 1
    return a == b


def main(results, figures, reference):
    tables = sorted(Path(reference).rglob("*.csv"))
    drawings = sorted(Path(reference, "figures").glob("*.json"))
    if not tables:
        print(f"there are no references below {reference}", file=sys.stderr)
        return 2
    if not any((Path(results) / path.relative_to(reference)).exists() for path in tables):
        print(f"there are no results below {results}: run `make reproduce` first", file=sys.stderr)
        return 2
    drifted = _compare("tables", tables, reference, results, lambda *paths: table_differences(*map(pd.read_csv, paths)))
    drifted |= _compare("figures", drawings, Path(reference, "figures"), figures, lambda a, b: figure_differences(
        json.loads(a.read_text()), json.loads(b.read_text())))  # fmt: skip
    print("Tolerances and where they come from: tools/verify.py")
    return int(drifted)


def _compare(what, paths, reference, folder, compare):
    """Print the differences of some files and how many there are of each kind; whether any drifted."""
    identical = within = drifted = 0
    for path in paths:
        name = path.relative_to(reference)
        again = Path(folder) / name
        if again.exists() and again.read_bytes() == path.read_bytes():
            identical += 1
            continue
        sentences = compare(again, path) if again.exists() else ["not made"]
        shown(Path(folder) / name, sentences)
        drifted += bool(sentences)
        within += not sentences
    print(f"{len(paths)} {what} compared with {reference}: {identical} the same to the byte, {within} within tolerance,"
          f" {drifted} drifted")  # fmt: skip
    return drifted > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
