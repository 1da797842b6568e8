"""How often intervals of a mean contain it: a simulation on populations like the regret of many seeds.

A population is a mixture of log-normal parts, or another law with the same interface. Its last part are failed seeds,
where there are any. A sample without a failure says nothing about them, and no interval without a known bound can cover
then; so coverage is also given among the samples that contain a failure.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from befrl.analysis import intervals, other_intervals

SIZES = (10, 30, 50, 100, 200, 500)
LEVELS = (0.90, 0.95)
# Samples that share their bootstrap weights.
BATCH = 500
CHOSEN, BOUNDED = "chosen", "chosen, bounded"
METHODS = {
    "student": "Student's t",
    "johnson": "Johnson's shifted t",
    "hall": "Hall's transformed t",
    "percentile": "percentile bootstrap",
    "bca": "BCa bootstrap",
    "bootstrap-t": "bootstrap-t",
    "sign flips": "test by random signs: coverage is how often it accepts the mean",
    "split": "Clopper-Pearson for the share of failures, t for the means of the two parts, with a known bound",
    CHOSEN: "the wider of Student's t and Gaffke's bound with the largest value seen",
    BOUNDED: "the same with a known bound",
}
COLUMNS = {
    "population": "law of a seed's value, see docs/statistics.md",
    "n": "number of seeds in a sample",
    "method": "; ".join(f"{name}: {meaning}" for name, meaning in METHODS.items()),
    "level": "nominal coverage of the interval",
    "repetitions": "number of samples",
    "coverage": "share of the samples whose interval contains the mean",
    "standard_error": "Monte-Carlo standard error of the coverage",
    "missed_above": "share of the samples whose interval lies below the mean; empty for a test",
    "width": "median width, divided by that of a normal interval with known standard deviation; empty for a test",
    "seen": "share of the samples with a failure among their seeds; empty if the population has none",
    "coverage_seen": "coverage among these samples; empty if there are none",
}


@dataclass(frozen=True)
class Mixture:
    """Log-normal parts, each (share, mean, standard deviation of the logarithm); `most` bounds all values."""

    parts: tuple
    most: float | None = None

    @property
    def mean(self):
        return sum(share * mean for share, mean, _ in self.parts)

    @property
    def sd(self):
        square = sum(share * mean**2 * np.exp(log_sd**2) for share, mean, log_sd in self.parts)
        return np.sqrt(square - self.mean**2)

    @property
    def fails(self):
        return self.most is not None

    def draw(self, rng, shape):
        """Values, and which of them are of the last part."""
        shares, means, log_sds = (np.array(column) for column in zip(*self.parts, strict=True))
        part = np.searchsorted(np.cumsum(shares)[:-1], rng.random(shape), side="right")
        log_sd = log_sds[part]
        return means[part] * np.exp(log_sd * rng.standard_normal(shape) - log_sd**2 / 2), part == len(shares) - 1


@dataclass(frozen=True)
class Law:
    """A population without failures, from a function of the generator and the shape."""

    function: object
    mean: float
    sd: float
    fails = False
    most = None

    def draw(self, rng, shape):
        return self.function(rng, shape), np.zeros(shape, dtype=bool)


@dataclass(frozen=True)
class Difference:
    """Paired differences of two independent mixtures; failures are those of either."""

    first: Mixture
    second: Mixture
    most = None

    @property
    def mean(self):
        return self.first.mean - self.second.mean

    @property
    def sd(self):
        return np.hypot(self.first.sd, self.second.sd)

    @property
    def fails(self):
        return self.first.fails or self.second.fails

    def draw(self, rng, shape):
        (x, x_failed), (y, y_failed) = self.first.draw(rng, shape), self.second.draw(rng, shape)
        return x - y, (x_failed & self.first.fails) | (y_failed & self.second.fails)


def failures(rate, good=1.0):
    """Most seeds have regret about `good`, a share `rate` of them about 20; none can exceed 60, as good as surely."""
    return Mixture(((1 - rate, good, 0.2), (rate, 20.0, 0.2)), most=60.0)


POPULATIONS = {
    "normal": Law(lambda rng, shape: rng.normal(1.0, 0.2, shape), 1.0, 0.2),
    "gamma 1/2": Law(lambda rng, shape: rng.gamma(0.5, 2.0, shape), 1.0, 2**0.5),
    **{f"log-normal {log_sd:g}": Mixture(((1.0, 1.0, log_sd),)) for log_sd in (0.5, 1.0, 1.5)},
    **{f"failures {rate:g} %": failures(rate / 100) for rate in (0.5, 1, 3, 10)},
    "zero or failure 3 %": failures(0.03, good=0.0),
    "wide, failures 5 %": Mixture(((0.95, 1.0, 0.5), (0.05, 15.0, 0.5)), most=150.0),
    "three regimes": Mixture(((0.6, 1.0, 0.3), (0.3, 3.0, 0.5), (0.1, 20.0, 0.3)), most=120.0),
    "difference, equal agents": Difference(failures(0.03), failures(0.03)),
    "difference, one fails 3 %": Difference(failures(0.03), Mixture(((1.0, 1.57, 0.5),))),
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
    seen = np.concatenate(seen) if population.fails else np.zeros(repetitions, dtype=bool)
    for (method, level), results in found.items():
        covered, above, width = (np.concatenate(column) for column in zip(*results, strict=True))
        coverage = covered.mean()
        # One success and one failure more keep the error of 0 or 1 positive.
        guarded = (covered.sum() + 1) / (repetitions + 2)
        normal = 2 * ndtri((1 + level) / 2) * population.sd / np.sqrt(n)
        yield {
            "population": name,
            "n": n,
            "method": method,
            "level": level,
            "repetitions": repetitions,
            "coverage": coverage,
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
            made["split"] = other_intervals.split(values, failed, population.most, level)
            made[BOUNDED] = intervals.mean_interval(values, level, least=0.0, most=population.most)
        for method, (low, high) in made.items():
            above = high < population.mean
            yield (method, level), (~above & (low <= population.mean), above, high - low)
        nothing = np.full(values.shape[1], np.nan)
        yield ("sign flips", level), (sign_flips > 1 - level, nothing, nothing)


def markdown(rows, level=0.95) -> str:
    """Two tables for the documentation: all methods at some n, and the chosen one at all n."""
    cells = {(row["population"], row["method"], row["n"]): row for row in rows if row["level"] == level}
    names = list(dict.fromkeys(name for name, _, _ in cells))
    sizes = sorted({n for _, _, n in cells})
    shown = [n for n in (30, 100, 200) if n in sizes]

    def coverages(name, method):
        if (name, method, shown[0]) not in cells:
            return "-"
        return " / ".join(_percent(cells[name, method, n]["coverage"]) for n in shown)

    def chosen(name, n):
        row = cells[name, CHOSEN, n]
        seen = "" if np.isnan(row["coverage_seen"]) else f" ({_percent(row['coverage_seen'])})"
        return _percent(row["coverage"]) + seen

    def widths(name):
        ratios = [np.divide(*(cells[name, method, n]["width"] for method in (CHOSEN, "student"))) for n in shown]
        return " / ".join(f"{ratio:.2f}" for ratio in ratios)

    heads = f"n = {' / '.join(map(str, shown))}"
    compared = [[name, *(coverages(name, method) for method in METHODS)] for name in names]
    of_chosen = [[name, *(chosen(name, n) for n in sizes), widths(name)] for name in names]
    return "\n\n".join(
        [
            _table([heads, *METHODS], compared),
            _table(["chosen", *(f"n = {n}" for n in sizes), f"width / student, {heads}"], of_chosen),
        ]
    )


def _percent(share):
    return f"{100 * share:.0f}"


def _table(heads, lines):
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *lines))
