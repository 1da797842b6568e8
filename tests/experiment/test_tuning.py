"""Tuning: the spread of the configurations, successive halving against a naive version of it, and what is rejected."""

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from befrl.common.errors import InputError
from befrl.experiment import loop, tuning
from befrl.experiment.spec import RunSpec
from befrl.experiment.tuning import Halving
from helpers import instance

# Ends of ranges, with at most three digits.
ENDS = st.tuples(st.integers(1, 999), st.integers(-8, 4)).map(lambda pair: float(f"{pair[0]}e{pair[1]}"))
TUNE = {"x": [0.1, 1000], "eta": [0.1, 10]}
HALVING = Halving(7, 5, (2, 5, 6), (4, 2))


def test_the_lattice_has_every_value_once_in_each_coordinate_and_the_largest_distance():
    """Of all Korobov lattices; opposite sides of the cube are identified."""

    def nearest(points):
        pairs = itertools.combinations(points, 2)
        return min(sum(min(abs(x - y), count - abs(x - y)) ** 2 for x, y in zip(*pair, strict=True)) for pair in pairs)

    for d, count in itertools.product((1, 2, 3), (1, 2, 3, 4, 7, 12, 24, 25)):
        points = tuning.lattice(count, d)
        assert points.shape == (count, d)
        whole = (points * max(count - 1, 1)).round().astype(int)
        assert np.allclose(points * max(count - 1, 1), whole, rtol=0, atol=1e-9)
        assert all(sorted(column) == list(range(count)) for column in whole.T)
        generators = [g for g in range(1, count) if math.gcd(g, count) == 1]
        others = [[[i * g**j % count for j in range(d)] for i in range(count)] for g in generators]
        assert count == 1 or nearest(whole.tolist()) == max(map(nearest, others))
    # 24 points are about as far apart as those of a square grid.
    pairs = itertools.combinations(tuning.lattice(24, 2), 2)
    assert min(math.dist(*pair) for pair in pairs) > 0.9 / math.sqrt(24)


@settings(derandomize=True, deadline=None, database=None)
@given(st.lists(st.tuples(ENDS, ENDS), min_size=1, max_size=3), st.integers(1, 30))
def test_a_design_reaches_from_end_to_end_of_each_range_with_three_digits(ends, count):
    ranges = {f"p{i}": sorted(pair) for i, pair in enumerate(ends) if max(pair) >= 10 * min(pair)}
    if not ranges:
        return
    found = tuning.design({"held": 2.5} | ranges, count)
    # A parameter keeps its place whether it is tuned or held.
    assert len(found) == count and all(list(each) == ["held", *ranges] for each in found)
    assert {each["held"] for each in found} == {2.5}
    for key, (low, high) in ranges.items():
        values = sorted(each[key] for each in found)
        assert all(low <= value <= high and float(f"{value:.3g}") == value for value in values)
        assert values[0] == low and values[-1] == (high if count > 1 else low)
        # Evenly in the logarithm, up to the rounding of both neighbours.
        assert np.allclose(np.diff(np.log(values)), math.log(high / low) / max(count - 1, 1), rtol=0, atol=0.011)


# Successive halving.


def run_spec(algorithm="bef-rlsvi", values=None, seeds=(77,), **options):
    problem = instance("chain", bins=3, horizon=4)
    return RunSpec.of(problem, "tiny", algorithm, values or {}, 10, seeds, root_seed=3, **options)


def tuned(algorithm="bef-rlsvi", values=None, tune=TUNE, halving=HALVING, width=100, **options):
    return tuning.halve(run_spec(algorithm, values, **options), values or {}, tune, halving, width)


def alone(values, seed, **options):
    """The regret of one configuration and seed, played by itself."""
    return loop.run(run_spec(values=values, seeds=[seed], **options))["regret"][0].sum()


@pytest.fixture(scope="module")
def outcome():
    return tuned()


def test_halving_follows_its_definition(outcome):
    """Every configuration plays its seeds by itself; the second round is around the best three of the first.

    Its first two seeds are its own, the others are those of all; after the first rung only these count.
    """
    design = tuning.design(TUNE, 7)
    regret = {}

    def regrets(i, start, stop):
        for n in range(start, stop):
            if (i, n) not in regret:
                regret[i, n] = alone(design[i], tuning.OWN + 2 * i + n if n < 2 else n)
        return [regret[i, n] for n in range(start, stop)]

    def score(i, start, stop):
        found = regrets(i, start, stop)
        return statistics.fmean(found) + 0.5 * statistics.pstdev(found) / math.sqrt(len(found))

    order = sorted(range(7), key=lambda i: score(i, 0, 2))
    design += tuning.around(TUNE, [design[i] for i in order[:3]], 5, 7)
    first = sorted(range(12), key=lambda i: score(i, 0, 2))
    second = sorted(first[:4], key=lambda i: score(i, 2, 5))
    third = sorted(second[:2], key=lambda i: score(i, 2, 6))
    by_mean = sorted(range(7), key=lambda i: np.mean(regrets(i, 0, 2)))
    assert outcome["chosen"] == {"tuned": third[0], "median": by_mean[3], "worst": by_mean[-1]}
    for i, each in enumerate(outcome["configurations"]):
        rung = 3 if i in third else 2 if i in second else 1
        seeds = (2, 5, 6)[rung - 1]
        assert (each["values"], each["rung"], each["seeds"]) == (design[i], rung, seeds)
        # The same bits.
        assert each["mean"] == np.mean(regrets(i, 0, seeds)) and each["first_mean"] == np.mean(regrets(i, 0, 2))
    assert outcome["regrets"] == {str(i): regrets(i, 2, 6) for i in sorted(third)}
    assert (outcome["tune"], outcome["seeds"]) == (TUNE, [2, 5, 6])


def test_configurations_that_fail_together_do_not_crowd_out_a_safe_one(monkeypatch):
    """Nine risky configurations fail on a third of the seeds, the same for all; the tenth has a small regret on each.

    Eight continue. On two common seeds all risky ones are without failure with probability 4/9, and the safe one would
    be lost; on seeds of their own, eight or nine are with probability 0.008. Then 38 shared seeds show the failures.
    """
    root = np.random.default_rng(5)
    failing = [set(root.choice(400, 133, replace=False).tolist()) for _ in range(60)]

    def chosen(failing):
        def play(part, *_):
            scales = [setting.eta for setting in part.settings]
            rows = np.array(part.row_seeds).reshape(len(scales), -1) % 400
            found = [[20.0 * (seed in failing) if eta < 9.9 else 1.0 for seed in row]
                     for eta, row in zip(scales, rows, strict=True)]  # fmt: skip
            return {"regret": np.array(found)[..., None]}, 0.0

        monkeypatch.setattr(tuning.runs, "run_rows", play)
        return tuned("greedy", tune={"eta": [0.1, 10]}, halving=Halving(10, 0, (2, 40), (8,)))["chosen"]["tuned"]

    assert np.mean([chosen(each) == 9 for each in failing]) > 0.9


def test_the_second_round_surrounds_its_centres_within_the_ranges():
    """Four points each, symmetric about the centre in the logarithm, closer than the spacing of the first design."""
    for tune in ({"x": [0.1, 1000]}, TUNE, TUNE | {"c": [1e-4, 1], "held": 3.0}):
        ranges = {key: span for key, span in tune.items() if isinstance(span, list)}
        centres = [tuning.design(tune, 24)[i] for i in (11, 12, 13)]
        found = tuning.around(tune, centres, 12, 24)
        assert len(found) == 12 and all(list(each) == list(tune) for each in found)
        assert all(low <= each[key] <= high for each in found for key, (low, high) in ranges.items())
        if len(ranges) < 3:  # the boxes lie within the ranges
            for centre, own in zip(centres, (found[:4], found[4:8], found[8:]), strict=True):
                for key, (low, high) in ranges.items():
                    offsets = np.log([each[key] / centre[key] for each in own]) / math.log(high / low)
                    spacing = 24 ** (-1 / len(ranges))
                    assert np.allclose(sorted(offsets / spacing), (-0.6, -0.2, 0.2, 0.6), rtol=0, atol=0.02 / spacing)
    # At an end points are reflected.
    for each in tuning.around({"x": [0.1, 1000]}, [{"x": 0.1}], 4, 24):
        assert 0.1 < each["x"] < 0.2


def test_parameters_of_estimated_rewards_are_not_tuned_if_rewards_are_known():
    tune = {"scale": [0.01, 1], "lam": [0.1, 10], "reward_scale": [0.1, 1]}
    assert tuning.active("ucrl-vtr", tune, "U") == tune
    assert tuning.active("ucrl-vtr", tune, "K") == {"scale": [0.01, 1], "lam": [0.1, 10]}
    assert tuning.active("bef-rlsvi", TUNE, "K") == TUNE


def test_groups_do_not_change_a_bit_and_track_ties_and_values_are_those_of_the_run(outcome):
    assert tuned(width=3) == outcome
    known = tuned(track="K")
    assert known["regrets"] != outcome["regrets"]
    i = known["chosen"]["tuned"]
    expected = [alone(known["configurations"][i]["values"], seed, track="K") for seed in range(2, 6)]
    assert known["regrets"][str(i)] == expected
    # An agent whose bonus is at the cap ties.
    capped = {"algorithm": "lsvi-ucb", "tune": {"scale": [1, 10]}, "halving": Halving(2, 0, (1,), ())}
    first, random = (tuned(ties=ties, **capped) for ties in ("first", "random"))
    assert first["regrets"] != random["regrets"]
    # The agent's own values go into every configuration, and numbers of `tune` take precedence.
    values, tune = {"noise": "step", "eta": 7.0}, {"x": [0.1, 1000], "eta": 2}
    for i, each in enumerate(tuned(values=values, tune=tune, halving=Halving(3, 0, (1,), ()))["configurations"]):
        assert each["values"]["eta"] == 2
        assert each["mean"] == alone(values | each["values"], tuning.OWN + i)


def test_of_equal_configurations_the_first_continues(monkeypatch):
    """All without regret: ranks, and with them the median and the worst, are by number."""
    nothing = lambda part, *_: ({"regret": np.zeros((len(part.settings), len(part.seeds), 3))}, 0.0)  # noqa: E731
    monkeypatch.setattr(tuning.runs, "run_rows", nothing)
    found = tuned("greedy", tune={"eta": [0.1, 10]}, halving=Halving(5, 0, (1, 3), (2,)))
    assert found["chosen"] == {"tuned": 0, "median": 2, "worst": 4}
    assert sorted(found["regrets"]) == ["0", "1"]


def test_steps_are_counted():
    """7 and 5 configurations on 2 seeds, 4 on 3 more, 2 on one more."""
    ticks = []
    tuning.halve(run_spec(), {}, TUNE, HALVING, 100, tick=ticks.append)
    assert sum(ticks) == tuning.steps(HALVING, 10, 4) == (12 * 2 + 4 * 3 + 2 * 1) * 10 * 4


def test_an_edge_is_the_smallest_or_the_largest_value_that_was_tried():
    for values, found in (
        ({"x": 0.1, "eta": 1.0}, ["x low"]),
        ({"x": 1.0, "eta": 10.0}, ["eta high"]),
        ({"x": 10.0, "eta": 0.1}, ["x high", "eta low"]),
        ({"x": 1.0, "eta": 1.0}, []),
    ):
        tried = [{"x": 0.1, "eta": 10.0}, {"x": 10.0, "eta": 0.1}, values]
        outcome = {"tune": {"x": [0.1, 10], "eta": [0.1, 10], "kappa": 1}}
        outcome["configurations"] = [{"values": each | {"kappa": 1}} for each in tried]
        assert tuning.edges(outcome, 2) == found


# What is rejected.


HALVINGS = [
    ((), (), "tuning.seeds = []"),
    *((seeds, (2,), f"tuning.seeds = {list(seeds)}") for seeds in ((0, 3), (3, 3), (4, 2))),
    ((4, 1001), (2,), "from 1 to 1000"),  # seeds from 1000 on are for the evaluation
    *(((2, 4), kept, f"tuning.kept = {list(kept)}") for kept in ((), (3, 2), (5,), (0,))),
    ((2, 4, 6), (2, 3), "tuning.kept = [2, 3]"),
]


@pytest.mark.parametrize(("seeds", "kept", "words"), HALVINGS)
def test_impossible_halvings_are_rejected(seeds, kept, words):
    with pytest.raises(InputError) as refusal:
        Halving(5, 0, seeds, kept)
    assert words in str(refusal.value) and "it must be" in str(refusal.value) and "\n" not in str(refusal.value)


RANGES = [
    *((tune, "give at least one range") for tune in ({}, {"x": 3})),
    ({"x": [1, 3], "y": [1, 2]}, "unknown parameter 'y'"),
    ({"x": [3, 1]}, "x = [3, 1] is not allowed: it must be [low, high] with 0 < low < high"),
    *(({"x": given}, f"x = {given}") for given in ([1, 1], [0, 1], [1], [1, 2, 3], ["a", 2])),
    ({"x": [1, math.inf]}, "x = inf is not allowed"),
    ({"x": [1, 2], "eta": [1, 1e9]}, "eta = 1000000000.0 is not allowed"),
    ({"x": [1, 2], "eta": "much"}, "eta = 'much' is not allowed"),
    ({"x": [1, 2], "features": [10, 100]}, "features"),  # between the ends not all are whole numbers
    ({"x": [1, 2], "scale": [0.1, 1]}, "either x or scale"),  # both may be tuned, but not together
]


@pytest.mark.parametrize(("tune", "words"), RANGES)
def test_impossible_ranges_are_rejected_with_their_name(tune, words):
    with pytest.raises(InputError) as refusal:
        tuning.check("bef-rlsvi", {}, tune, "agents.ours.tune")
    text = str(refusal.value)
    assert words in text and "\n" not in text
    assert text.startswith("agents.ours.tune: ") or "x or scale" in text


def test_possible_ranges_and_halvings_are_accepted():
    tuning.check("bef-rlsvi", {"noise": "step"}, {"x": [1, 100], "eta": 3}, "here")
    tuning.check("bef-rlsvi", {}, {"scale": [0.01, 1], "eta": [0.1, 10.0]}, "here")
    assert Halving() == Halving(24, 12, (10, 50, 150), (8, 3))
    assert Halving(seeds=(4, 40, tuning.EVALUATION)).seeds[-1] == 1000
