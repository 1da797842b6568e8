"""Tuning by successive halving: the same number of configurations for every agent, over stated ranges, in two rounds.

An agent's `tune` has a range [low, high] for each parameter that its author would tune, or a fixed number. All
configurations of `design` play some tuning seeds for the full number of episodes, and so do configurations around the
best of them (`around`): a first design has fewer values of each parameter the more parameters there are, and the second
round evens that out. The best of both rounds continue with more seeds, and so on (Karnin, Koren, Somekh 2013; here over
seeds alone: shorter runs would favour agents that explore too little), until the last ones have played enough seeds to
show a rare failure.

In the first rung every configuration has seeds of its own. Configurations that explore too little fail on the same
seeds, so that on common seeds all of them would be lucky together and take all places of the next rung. From then on
the configurations share their seeds, and only these count: configurations are ranked by the mean plus half its standard
error, since failures that have not been seen are more likely where regrets vary. No tuning seed is used in the
evaluation. `docs/tuning.md` has the measured loss of this procedure and of others.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from befrl import agents
from befrl.common import storage
from befrl.common.defaults import CONFIGURATIONS, KEPT, REFINED, TUNING_SEEDS
from befrl.common.errors import InputError
from befrl.experiment import runs

EVALUATION = 1000  # the first evaluation seed, whatever the number of tuning seeds
OWN = 1_000_000_000  # the first of the seeds that only one configuration plays
CENTRES = 3  # configurations of the first round around which the second one is placed
CHOSEN = ("tuned", "median", "worst")  # median and worst of the first round show how much tuning an agent needs
OUTCOME = {"instance": str, "track": str, "algorithm": str, "tune": dict, "seeds": list, "configurations": list}
OUTCOME |= {"regrets": dict, "chosen": dict}
CONFIGURATION = {"values": dict, "rung": int, "seeds": int, "mean": int | float, "first_mean": int | float}


@dataclass(frozen=True)
class Halving:
    """The procedure: `configurations` at first, `refined` ones around the best of them, `seeds` of each rung in total,
    and `kept` configurations after each rung but the last."""

    configurations: int = CONFIGURATIONS
    refined: int = REFINED
    seeds: tuple[int, ...] = TUNING_SEEDS
    kept: tuple[int, ...] = KEPT

    def __post_init__(self):
        seeds, kept = list(self.seeds), [self.configurations + self.refined, *self.kept]
        if not seeds or sorted(set(seeds)) != seeds or seeds[0] < 1 or seeds[-1] > EVALUATION:
            raise InputError(
                f"tuning.seeds = {seeds} is not allowed: it must be increasing numbers from 1 to {EVALUATION}"
            )
        if len(kept) != len(seeds) or sorted(set(kept), reverse=True) != kept or kept[-1] < 1:
            raise InputError(
                f"tuning.kept = {list(self.kept)} is not allowed: it must be decreasing numbers from 1 to "
                f"{kept[0] - 1}, one fewer than tuning.seeds"
            )


def check(algorithm, values, tune, where):
    """Raise unless every entry of `tune` is a value, or a range of two positive numbers, that the agent allows."""
    if not any(isinstance(span, list) for span in tune.values()):
        raise InputError(f"{where}: give at least one range, such as x=[0.01,100]")
    for key, span in tune.items():
        ends = span if isinstance(span, list) else [span]
        if isinstance(span, list) and not (
            len(span) == 2 and all(isinstance(end, int | float) for end in span) and 0 < span[0] < span[1]
        ):
            raise InputError(f"{where}: {key} = {span} is not allowed: it must be [low, high] with 0 < low < high")
        for end in ends:
            agents.parameters(algorithm, {**values, key: end}, where)
    # Parameters may exclude each other, and values between the ends of a range need not be whole numbers.
    first = design(tune, CONFIGURATIONS)
    for each in first + around(tune, first[:CENTRES], REFINED, CONFIGURATIONS):
        agents.parameters(algorithm, {**values, **each}, where)


def active(algorithm, tune: dict, track: str) -> dict:
    """The ranges without those of parameters that have no effect if the reward is known."""
    idle = agents.idle(algorithm) if track == "K" else ()
    return {key: value for key, value in tune.items() if key not in idle}


def design(tune: dict, count: int) -> list[dict]:
    """The configurations: a lattice in the logarithms of the ranges of `tune`, rounded to three significant digits."""
    return [_values(tune, point) for point in lattice(count, len(_ranges(tune)))]


def around(tune: dict, centres: list[dict], count: int, size: int) -> list[dict]:
    """`count` configurations around the centres, in boxes as wide as the spacing of a first design of `size` points.

    The points of a box are a lattice without its first point, symmetric about the centre; those beyond an end of a
    range are reflected there.
    """
    ranges, found = _ranges(tune), []
    for number, centre in enumerate(centres):
        here = [math.log(centre[key] / low) / math.log(high / low) for key, (low, high) in ranges.items()]
        points = len(range(number, count, len(centres))) + 1
        offsets = 2 * np.rint(lattice(points, len(ranges)) * (points - 1))[1:] / points - 1
        for point in here + offsets * size ** (-1 / len(ranges)):
            found.append(_values(tune, 1 - np.abs(1 - np.abs(point))))
    return found


def _ranges(tune):
    return {key: value for key, value in tune.items() if isinstance(value, list | tuple)}


def _values(tune, point):
    """The configuration at a point of the unit cube."""
    ranges = zip(_ranges(tune).items(), point, strict=True)
    between = {key: float(f"{low * (high / low) ** u:.3g}") for (key, (low, high)), u in ranges}
    return dict(tune) | between


def lattice(count, d):
    """`count` points in [0, 1]^d, (count, d), from 0 to 1 in each coordinate: the best of Korobov's rank-1 lattices.

    Point i is (i g^j mod count)_j; the best g coprime to `count` maximises the smallest distance on the torus.
    """
    i = np.arange(count)
    best, largest = None, -1.0
    for g in range(1, count + 1):
        if math.gcd(g, count) > 1:
            continue
        points = np.stack([i * pow(g, j, count) % count for j in range(d)], axis=1)
        apart = np.minimum(points[1:], count - points[1:])  # from point 0; the lattice looks the same from each
        distance = np.square(apart).sum(1).min(initial=d * count**2)
        if distance > largest:
            best, largest = points, distance
    return best / max(count - 1, 1)


def pessimistic_mean(regrets):
    """The mean plus half its standard error."""
    return np.mean(regrets) + np.std(regrets) / np.sqrt(len(regrets)) / 2


def halve(spec, values, tune, halving, width, threads=1, tick=None):
    """Tune the agent of `spec`, whose own seeds do not count, from its given `values`; return the outcome."""
    tune = active(spec.algorithm, tune, spec.track)
    configurations, own = design(tune, halving.configurations), halving.seeds[0]
    played = [[] for _ in range(halving.configurations + halving.refined)]

    def play(numbers, seeds, stride=0):
        settings = tuple(agents.parameters(spec.algorithm, {**values, **configurations[i]}) for i in numbers)
        part = replace(spec, settings=settings, seeds=seeds, stride=stride)
        final = runs.run_rows(part, width, threads, tick)[0]["regret"].sum(2)
        for i, regrets in zip(numbers, final, strict=True):
            played[i] += regrets.tolist()

    def play_own(numbers):
        first = OWN + numbers[0] * own
        play(numbers, range(first, first + own), stride=own)

    def compared(i):
        return played[i][own:] or played[i]

    def best(numbers):
        return sorted(numbers, key=lambda i: (pessimistic_mean(compared(i)), i))

    alive = list(range(halving.configurations))
    play_own(alive)
    if halving.refined:
        centres = [configurations[i] for i in best(alive)[: min(CENTRES, halving.refined)]]
        configurations += around(tune, centres, halving.refined, halving.configurations)
        new = range(halving.configurations, len(configurations))
        play_own(new)
        alive += new
    for start, stop, kept in zip(halving.seeds[:-1], halving.seeds[1:], halving.kept, strict=True):
        alive = sorted(best(alive)[:kept])
        play(alive, range(start, stop))
    first = [float(np.mean(regrets[:own])) for regrets in played]
    ranked = np.argsort(first[: halving.configurations], kind="stable").tolist()
    entries = []
    for each, regrets, mean in zip(configurations, played, first, strict=True):
        entry = {"values": each, "rung": halving.seeds.index(len(regrets)) + 1, "seeds": len(regrets)}
        entries.append(entry | {"mean": float(np.mean(regrets)), "first_mean": mean})
    return {
        "instance": spec.name,
        "track": spec.track,
        "algorithm": spec.algorithm,
        "tune": tune,
        "seeds": list(halving.seeds),
        "configurations": entries,
        "regrets": {str(i): compared(i) for i in alive},  # of the last rung, on the seeds that its configurations share
        "chosen": {"tuned": best(alive)[0], "median": ranked[(len(ranked) - 1) // 2], "worst": ranked[-1]},
    }


def read(path) -> dict:
    """The outcome of `halve` from its file; raise if the file has something else."""
    outcome, what = storage.read_json(path), "an outcome of tuning"
    storage.require(path, outcome, what, OUTCOME)
    for each in outcome["configurations"]:
        storage.require(path, each, what, CONFIGURATION)
    storage.require(path, outcome["chosen"], what, dict.fromkeys(CHOSEN, int))
    numbers, tuned = range(len(outcome["configurations"])), set(outcome["tune"])
    if (
        any(number not in numbers for number in outcome["chosen"].values())
        or any(set(each["values"]) != tuned for each in outcome["configurations"])
        or any(not number.isdecimal() or int(number) not in numbers for number in outcome["regrets"])
        or str(outcome["chosen"]["tuned"]) not in outcome["regrets"]
    ):
        raise InputError(f"{path}: not {what}, its parts do not fit: delete it and run again")
    return outcome


def steps(halving, episodes, horizon):
    """The number of steps that the procedure takes."""
    kept = [halving.configurations + halving.refined, *halving.kept]
    return sum(k * s for k, s in zip(kept, np.diff([0, *halving.seeds]), strict=True)) * episodes * horizon


def edges(outcome, number) -> list[str]:
    """The parameters whose value in a configuration is the smallest or the largest tried, as `x low` or `x high`."""
    found = []
    for key, span in outcome["tune"].items():
        if isinstance(span, list | tuple):
            tried = [each["values"][key] for each in outcome["configurations"]]
            value = outcome["configurations"][number]["values"][key]
            found += [f"{key} {side}" for side, end in (("low", min(tried)), ("high", max(tried))) if value == end]
    return found
