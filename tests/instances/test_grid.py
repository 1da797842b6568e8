"""The grid world against a naive transcription of its rules."""

import numpy as np
import pytest

from befrl import instances
from befrl.instances import grid
from helpers import instance, optimal

STEPS = {0: (0, -1), 1: (0, 1), 2: (-1, 0), 3: (1, 0)}  # left, right, up, down


def rules(size, success):
    """The probabilities {(row, column, action): {(row, column): probability}}."""
    cells, found = [(x, y) for x in range(size) for y in range(size)], {}
    for x, y in cells:
        around = {a: (x + dx, y + dy) for a, (dx, dy) in STEPS.items() if (x + dx, y + dy) in cells}
        for a in STEPS:
            if a not in around:
                found[x, y, a] = {(x, y): 1.0}
                continue
            found[x, y, a] = {place: (1 - success) / (len(around) - 1) for place in around.values()}
            found[x, y, a][around[a]] = success
    return found


def arrays(size, success):
    P = np.zeros((size, size, 4, size, size))
    for (x, y, a), law in rules(size, success).items():
        for place, probability in law.items():
            P[(x, y, a, *place)] = probability
    R = np.zeros((size, size, 4))
    R[size - 1, size - 1] = 1.0
    return R.reshape(size * size, 4), P.reshape(size * size, 4, size * size)


@pytest.mark.parametrize(("size", "success"), [(2, 0.8), (3, 0.8), (5, 0.3), (10, 0.8)])
def test_transitions_and_rewards_are_those_of_the_rules(size, success):
    problem = instances.rebuild("grid", {"size": size, "success": success}, {})
    R, P = arrays(size, success)
    assert np.allclose(problem.P.sum(-1), 1.0, rtol=0, atol=1e-14)
    assert np.allclose(problem.P, P, rtol=0, atol=1e-14) and np.array_equal(problem.P > 0, P > 0)
    assert np.allclose(problem.R, R, rtol=0, atol=1e-12)
    assert np.array_equal(problem.start_masses, np.eye(size * size)[0])


def test_a_state_and_its_neighbours_have_different_colours():
    colour = grid.colours(10).reshape(10, 10)
    for x, y in np.ndindex(8, 8):
        cross = colour[[x + 1, x, x + 2, x + 1, x + 1], [y + 1, y + 1, y + 1, y, y + 2]]
        assert sorted(cross) == [0, 1, 2, 3, 4]


def test_success_is_the_logistic_function_of_the_first_parameter():
    problem = instance("grid")
    for theta in (-1.0, 0.0, 2.0):
        P = problem.model.kernel(np.array([[theta, 0.0]]))[0]
        assert np.allclose(P, arrays(3, 1 / (1 + np.exp(-theta)))[1], rtol=0, atol=1e-14)


def test_optimal_value_of_the_published_setting_is_that_of_backward_induction():
    family, values = instances.resolve("grid-tiapkin-10", {})
    assert (family, values) == ("grid", {"size": 10, "horizon": 50, "reward_sd": 0.1})
    problem = instances.rebuild(family, values, {})
    assert problem.optimal_value == pytest.approx(optimal(*arrays(10, 0.8), 50)[1][0][0], abs=1e-10)
    # The corner is 18 moves away, and once there nobody has to leave it.
    assert problem.optimal_value < 50 - 18
    V = problem.optimum[1]
    assert V[0, -1] == pytest.approx(50) and V[50 - 18, 0] == 0 and V[50 - 19, 0] > 0.8**18
