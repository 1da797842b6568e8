"""Growth of cost: the problems that are built, the plans that are counted, and exponents of known seconds."""

from operator import itemgetter

import numpy as np
import pytest

from befrl import agents
from befrl.analysis.components import scaling
from befrl.common.errors import Refused
from helpers import WORKS_ON, instance

SIZES, HORIZONS = [2, 3], [3, 5]


@pytest.fixture(scope="module")
def tables():
    return scaling.study("walk", instance("chain", bins=4, horizon=4), 0, SIZES, HORIZONS, episodes=2, seeds=1)


def test_sizes_and_horizons_are_those_of_the_problems(tables):
    keys = itemgetter("algorithm", "setting", "varied", "d", "H")
    points = [keys(row) for row in tables["points"]]
    for algorithm in ("greedy", "lsvi-ucb"):
        # d = 2 J on a chain with J bins; what is not varied is the instance's.
        expected = [("d", 4, 4), ("d", 6, 4), ("H", 8, 3), ("H", 8, 5)]
        assert [row[2:] for row in points if row[:2] == (algorithm, "")] == expected
    timed = [row for row in tables["timings"] if row["role"] == "point"]
    assert [keys(row) for row in timed] == points
    assert all(row["seconds"] > 0 and row["exponent"] is None for row in timed)


def test_every_algorithm_that_can_run_is_measured_in_all_its_settings_and_its_plans_are_counted(tables):
    plans = {(row["algorithm"], row["setting"]): row["plans"] for row in tables["points"]}
    measured = {algorithm for algorithm, _ in plans}
    assert measured == {name for name in agents.registry.names() if "chain" in WORKS_ON.get(name, ("chain",))}
    assert plans.keys() == {(algorithm, text) for algorithm in measured for text in scaling.measured(algorithm)}
    exponents = [row for row in tables["timings"] if row["role"] == "exponent"]
    expected = sorted((*setting, varied) for setting in plans for varied in ("d", "H"))
    assert sorted((row["algorithm"], row["setting"], row["varied"]) for row in exponents) == expected
    for row in exponents:
        assert np.isfinite(row["exponent"]) and row["seconds"] is None and row[row["varied"]] is None
    assert (plans["oracle", ""], plans["exp-ucrl", ""]) == (0, 1)  # the local bonus
    samples = agents.parameters("exp-ucrl", {}).samples
    assert plans["exp-ucrl", "relaxation=sample"] == samples + 1  # the estimate itself is tried too
    assert plans["exp-ucrl", "relaxation=gradient"] > 10


def test_the_exponent_of_a_power_law_is_its_power():
    for power, sizes in ((0.0, [4, 8, 16]), (2.0, [4, 8, 16]), (1.5, [3, 30])):
        known = [{"d": d, "seconds": 1e-3 * d**power} for d in sizes]
        assert scaling._power(known, "d") == pytest.approx(power, abs=1e-12)
    assert scaling._power([{"H": 4, "seconds": 1.0}], "H") is None


def test_a_family_without_a_size_is_rejected():
    with pytest.raises(Refused, match=r"instance 'ring' is of family 'circle', which has no size: .*chain, riverswim"):
        scaling.study("ring", instance("circle", knots=4, kappa=4.0), 0, SIZES, HORIZONS, 2, 1)
