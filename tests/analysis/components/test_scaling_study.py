"""How cost grows: the problems that are made, the plans that are counted, and exponents of made-up seconds."""

import numpy as np
import pytest

from befrl import agents
from befrl.analysis.components import scaling
from befrl.common.errors import Refused
from helpers import instance

SIZES, HORIZONS = [2, 3], [3, 5]


@pytest.fixture(scope="module")
def tables():
    return scaling.study("walk", instance("chain", bins=4, horizon=4), 0, SIZES, HORIZONS, episodes=2, seeds=1)


def points(tables, **wanted):
    return [row for row in tables["points"] if wanted.items() <= row.items()]


def test_sizes_and_horizons_are_those_of_the_problems(tables):
    for algorithm in ("greedy", "lsvi-ucb"):
        mine = points(tables, algorithm=algorithm, setting="")
        # d = 2 J on a chain with J bins; what is not varied is the instance's.
        assert [(row["varied"], row["d"], row["H"]) for row in mine] == [
            ("d", 4, 4), ("d", 6, 4), ("H", 8, 3), ("H", 8, 5),
        ]  # fmt: skip
    timed = [row for row in tables["timings"] if row["role"] == "point"]
    keys = ("algorithm", "setting", "varied", "d", "H")
    assert [[row[key] for key in keys] for row in timed] == [[row[key] for key in keys] for row in points(tables)]
    assert all(row["seconds"] > 0 and row["exponent"] is None for row in timed)


def test_every_algorithm_that_can_run_is_measured_and_no_other(tables):
    model = instance("chain", bins=4, horizon=4).model
    measured = {row["algorithm"] for row in points(tables)}
    for algorithm in agents.registry.names():
        try:
            agents.specification(model, algorithm, agents.parameters(algorithm, {}))
        except Refused:
            assert algorithm not in measured
        else:
            assert algorithm in measured
    assert "ucrl-mnl" not in measured and "smrl" in measured
    settings = {(row["algorithm"], row["setting"]) for row in points(tables)}
    assert settings == {(algorithm, text) for algorithm in measured for text in scaling.measured(algorithm)}


def test_plans_are_counted(tables):
    plans = {(row["algorithm"], row["setting"]): row["plans"] for row in points(tables)}
    parameters = agents.parameters("exp-ucrl", {})
    assert plans["exp-ucrl", ""] == 1  # the local bonus
    assert plans["exp-ucrl", "relaxation=sample"] == parameters.samples + 1  # the estimate itself is tried too
    assert plans["exp-ucrl", "relaxation=gradient"] > 10
    assert plans["oracle", ""] == 0


def test_each_setting_has_one_exponent_for_d_and_one_for_H(tables):
    exponents = [row for row in tables["timings"] if row["role"] == "exponent"]
    settings = {(row["algorithm"], row["setting"]) for row in points(tables)}
    assert sorted((row["algorithm"], row["setting"], row["varied"]) for row in exponents) == sorted(
        (*setting, varied) for setting in settings for varied in ("d", "H")
    )
    assert all(
        np.isfinite(row["exponent"]) and row["seconds"] is None and row[row["varied"]] is None for row in exponents
    )


@pytest.mark.parametrize(("power", "sizes"), [(0.0, [4, 8, 16]), (2.0, [4, 8, 16]), (1.5, [3, 30])])
def test_the_exponent_of_a_power_law_is_its_power(power, sizes):
    made_up = [{"d": d, "seconds": 1e-3 * d**power} for d in sizes]
    assert scaling._power(made_up, "d") == pytest.approx(power, abs=1e-12)


def test_one_size_has_no_exponent():
    assert scaling._power([{"H": 4, "seconds": 1.0}], "H") is None


def test_a_family_without_a_size_is_refused():
    with pytest.raises(Refused, match=r"instance 'ring' is of family 'circle', which has no size: .*chain, riverswim"):
        scaling.study("ring", instance("circle", knots=4, kappa=4.0), 0, SIZES, HORIZONS, 2, 1)
