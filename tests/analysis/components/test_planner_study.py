"""The comparison of planners against plans made by hand."""

import itertools

import numpy as np
import pytest

from befrl.analysis.components import planners as component
from befrl.common.streams import PLANNER, Stream
from befrl.numerics import bellman
from befrl.planning import planners
from helpers import WORKS_ON, instance


def test_a_repetition_has_its_own_row_and_does_not_depend_on_the_rest_of_the_study():
    problem = instance("chain", bins=4, horizon=6)
    tables = component.study("chain-4", problem, 0, features=[5, 50], repetitions=13)
    rows = tables["points"]
    others = [name for name in component.allowed(problem) if name != "exact"]
    expected = [("exact", None), *itertools.product(others, (5, 50))]
    keys = [(row["planner"], row["features"], row["repetition"]) for row in rows]
    assert keys == [(*key, i) for key in expected for i in range(13)]
    for table in ("medians", "timings"):
        assert [(row["planner"], row["features"]) for row in tables[table]] == expected
    assert all(row["seconds"] > 0 for row in tables["timings"])
    for i, row in enumerate(tables["medians"]):
        assert row["repetitions"] == 13
        for name in ("value_error", "regret"):
            values = [point[name] for point in rows[13 * i : 13 * (i + 1)]]
            expected = [np.median(values), *np.quantile(values, [0.1, 0.9])]
            assert [row[key] for key in (name, f"{name}_low", f"{name}_high")] == expected
    again = component.study("chain-4", problem, 0, features=[50], repetitions=4)["points"]
    assert again == [row for row in rows if row["features"] in (None, 50) and row["repetition"] < 4]


def test_errors_are_those_of_plans_in_the_true_model():
    problem = instance("circle", knots=4, horizon=4, kappa=3)
    rows = component.study("circle-4", problem, 0, features=[40], repetitions=3)["points"]
    R, theta = problem.R[None], problem.theta_p[None]
    _, exact = bellman.backward_induction(R, problem.P[None], problem.horizon)
    for row in rows:
        stream, module = Stream(0, "circle", [row["repetition"]], PLANNER), planners.registry.module(row["planner"])
        Q, V = module.Planner(problem.model, 1, row["features"], stream).plan(R, theta, problem.horizon)
        assert row["value_error"] == np.abs(V[0, 0] - exact[0, 0]).max()
        policy = bellman.cell_policy(Q, problem.model.space)[:, None]
        reached = bellman.evaluate(policy, problem.R, problem.P)[0, 0]
        assert -1e-12 <= row["regret"] == pytest.approx(problem.start_masses @ (exact[0, 0] - reached), abs=1e-13)
    # The exact planner sums in another order than the dense kernel does.
    assert all(row["value_error"] < 1e-14 * problem.horizon for row in rows if row["planner"] == "exact")
    assert all(row["value_error"] > 1e-3 for row in rows if row["planner"].startswith("rff"))


def test_planners_that_do_not_apply_are_left_out():
    for name, values in (("chain", {}), ("riverswim", {}), ("circle", {"knots": 4, "horizon": 4, "kappa": 3})):
        applied = [planner for planner in planners.registry.names() if name in WORKS_ON.get(planner, (name,))]
        assert component.allowed(instance(name, **values)) == applied
