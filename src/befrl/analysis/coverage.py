"""Simulated coverage of intervals of a mean, on populations like the regret of many seeds.

Without a known bound no interval covers if a sample has no failed seed; so coverage given a failure is shown too.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from befrl.analysis import columns, intervals, other_intervals
from befrl.common.markdown import markdown_table

COLUMNS = columns.TABLES["coverage"]
SIZES = (10, 30, 50, 100, 200, 500)
LEVELS = (0.90, 0.95)
BATCH = 500  # samples that share their bootstrap weights
CHOSEN, BOUNDED = "chosen", "chosen, bounded"
METHODS = ("student", "johnson", "hall", "percentile", "bca", "bootstrap-t", "sign flips", "split", CHOSEN, BOUNDED)


@dataclass(frozen=True)
class Population:
    """A law: `draw(rng, shape)` gives values and which of them are failures; `most` bounds all values, if known."""

    draw: Callable
    mean: float
    sd: float
    fails: bool = False
    most: float | None = None


def simple(function, mean, sd):
    """A population without failures, from a function of the generator and the shape."""
    return Population(lambda rng, shape: (function(rng, shape), np.zeros(shape, dtype=bool)), mean, sd)


def mixture(*parts, most=None):
    """Log-normal parts, each (share, mean, standard deviation of the logarithm); with a bound, the last one fails."""
    shares, means, log_sds = (np.array(column) for column in zip(*parts, strict=True))
    mean = sum(share * centre for share, centre, _ in parts)
    square = sum(share * centre**2 * np.exp(log_sd**2) for share, centre, log_sd in parts)

    def draw(rng, shape):
        part = np.searchsorted(np.cumsum(shares)[:-1], rng.random(shape), side="right")
        log_sd = log_sds[part]
        values = means[part] * np.exp(log_sd * rng.standard_normal(shape) - log_sd**2 / 2)
        return values, (part == len(parts) - 1) & (most is not None)

    return Population(draw, mean, np.sqrt(square - mean**2), most is not None, most)


def difference(first, second):
    """Paired differences of two independent populations; failures are those of either."""

    def draw(rng, shape):
        (x, x_failed), (y, y_failed) = first.draw(rng, shape), second.draw(rng, shape)
        return x - y, x_failed | y_failed

    return Population(draw, first.mean - second.mean, np.hypot(first.sd, second.sd), first.fails or second.fails)


def shares(whole, a, b):
    """A share of 1 with probability `whole`, otherwise with law Beta(a, b), such as those of optimistic episodes."""

    def draw(rng, shape):
        values = np.where(rng.random(shape) < whole, 1.0, rng.beta(a, b, shape))
        return values, np.zeros(shape, dtype=bool)

    mean = whole + (1 - whole) * a / (a + b)
    square = whole + (1 - whole) * a * (a + 1) / ((a + b) * (a + b + 1))
    return Population(draw, mean, np.sqrt(square - mean**2), most=1.0)


def failures(rate, good=1.0):
    """Most seeds have regret about `good`, a share `rate` of them about 20; above 60 there is next to none."""
    return mixture((1 - rate, good, 0.2), (rate, 20.0, 0.2), most=60.0)


POPULATIONS = {
    "normal": simple(lambda rng, shape: rng.normal(1.0, 0.2, shape), 1.0, 0.2),
    "gamma 1/2": simple(lambda rng, shape: rng.gamma(0.5, 2.0, shape), 1.0, 2**0.5),
    **{f"log-normal {log_sd:g}": mixture((1.0, 1.0, log_sd)) for log_sd in (0.5, 1.0, 1.5)},
    **{f"failures {rate:g} %": failures(rate / 100) for rate in (0.5, 1, 3, 10)},
    "zero or failure 3 %": failures(0.03, good=0.0),
    "wide, failures 5 %": mixture((0.95, 1.0, 0.5), (0.05, 15.0, 0.5), most=150.0),
    "three regimes": mixture((0.6, 1.0, 0.3), (0.3, 3.0, 0.5), (0.1, 20.0, 0.3), most=120.0),
    "difference, equal agents": difference(failures(0.03), failures(0.03)),
    "difference, one fails 3 %": difference(failures(0.03), mixture((1.0, 1.57, 0.5))),
    "share, small": shares(0.0, 0.2, 20.0),
    "share, one in 3 %": shares(0.03, 0.2, 20.0),
    "share, medium": shares(0.0, 2.0, 2.0),
}


def study(repetitions, seed, populations=tuple(POPULATIONS), sizes=SIZES) -> list[dict]:
    """Coverage and width of all methods; a row for each population, n, method and level."""
    rows = []
    for name in populations:
        for n in sizes:
            rng = np.random.default_rng([seed, list(POPULATIONS).index(name), n])
            rows += _rows(name, n, repetitions, rng)
    return rows


def _rows(name, n, repetitions, rng):
    population, found, seen = POPULATIONS[name], {}, []
    for first in range(0, repetitions, BATCH):
        values, failed = population.draw(rng, (n, min(BATCH, repetitions - first)))
        seen.append(failed.any(0))
        for key, result in _evaluate(population, values, failed, rng):
            found.setdefault(key, []).append(result)
    seen = np.concatenate(seen)
    for (method, level), results in found.items():
        covered, above, width = (np.concatenate(column) for column in zip(*results, strict=True))
        guarded = (covered.sum() + 1) / (repetitions + 2)  # keeps the error at coverage 0 or 1 positive
        normal = 2 * ndtri((1 + level) / 2) * population.sd / np.sqrt(n)
        yield {
            "population": name,
            "n": n,
            "method": method,
            "level": level,
            "repetitions": repetitions,
            "coverage": covered.mean(),
            "standard_error": np.sqrt(guarded * (1 - guarded) / repetitions),
            "missed_above": above.mean(),
            "width": np.median(width) / normal,
            "seen": seen.mean() if population.fails else np.nan,
            "coverage_seen": covered[seen].mean() if seen.any() else np.nan,
        }


def _evaluate(population, values, failed, rng):
    """Yield (method, level), (covered, mean above the interval, width)."""
    resamples = other_intervals.Resamples(values, rng)
    sign_flips = other_intervals.sign_flips(values, population.mean, rng)
    for level in LEVELS:
        made = {
            "student": other_intervals.student(values, level),
            "johnson": other_intervals.johnson(values, level),
            "hall": other_intervals.hall(values, level),
            "percentile": resamples.percentile(level),
            "bca": resamples.bca(level),
            "bootstrap-t": resamples.student(level),
            CHOSEN: intervals.mean_interval(values, level),
        }
        if population.most is not None:
            made[BOUNDED] = intervals.bounded_interval(values, level, 0.0, population.most)
        if population.fails and population.most is not None:
            made["split"] = other_intervals.split(values, failed, population.most, level)
        for method, (low, high) in made.items():
            above = high < population.mean
            yield (method, level), (~above & (low <= population.mean), above, high - low)
        nothing = np.full(values.shape[1], np.nan)
        yield ("sign flips", level), (sign_flips > 1 - level, nothing, nothing)


def markdown(rows, level=0.95) -> str:
    """Two tables for the documentation: all methods at some n, and the chosen one at all n."""
    cells = {(row["population"], row["method"], row["n"]): row for row in rows if row["level"] == level}
    sizes = sorted({n for _, _, n in cells})
    shown = [n for n in (30, 100, 200) if n in sizes]
    heads = f"n = {' / '.join(map(str, shown))}"
    compared, of_chosen = [], []
    for name in dict.fromkeys(name for name, _, _ in cells):
        line = {heads: name}
        for method in METHODS:
            found = [cells[name, method, n]["coverage"] for n in shown if (name, method, n) in cells]
            line[method] = " / ".join(map(_percent, found)) or "-"
        compared.append(line)
        line = {"chosen": name}
        for n in sizes:
            row = cells[name, CHOSEN, n]
            seen = "" if np.isnan(row["coverage_seen"]) else f" ({_percent(row['coverage_seen'])})"
            line[f"n = {n}"] = _percent(row["coverage"]) + seen
        ratios = [cells[name, CHOSEN, n]["width"] / cells[name, "student", n]["width"] for n in shown]
        line[f"width / student, {heads}"] = " / ".join(f"{ratio:.2f}" for ratio in ratios)
        of_chosen.append(line)
    tables = (markdown_table(list(lines[0]), [each.values() for each in lines]) for lines in (compared, of_chosen))
    return "\n".join(tables).rstrip()


def _percent(share):
    return f"{100 * share:.0f}"
