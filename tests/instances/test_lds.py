"""The linear-Gaussian system under a fixed push: the value of quadratic rewards by the Lyapunov recursion."""

import numpy as np
import pytest

from befrl.numerics import bellman
from helpers import instance


@pytest.mark.parametrize("action", [0, 1, 2])
def test_value_of_a_fixed_push_by_the_lyapunov_recursion(action):
    """V_h(s) = P_h s^2 + 2 q_h s + c_h, Riccati's recursion without a choice; no state reaches the bound."""
    H = 6
    problem = instance("lds", horizon=H, bound=3.0, sigma=0.1, force=0.1, pull=0.7, cost=0.05)
    f, a, sigma, goal = 0.1 * (action - 1), 0.7, 0.1, 3.0
    P = q = c = 0.0
    for _ in range(H):
        # r(s) = 1 - (s - goal)^2 - cost, and then s' = a s + f + sigma z.
        c = 1 - goal**2 - 0.05 * (action != 1) + P * (f**2 + sigma**2) + 2 * q * f + c
        P, q = -1 + P * a**2, goal + P * a * f + q * a
    policy = np.full((1, 1, H, problem.model.n_cells), action)
    V = bellman.evaluate(policy, problem.R, problem.P)[0, 0]
    s = problem.model.space.nodes
    # Ten standard deviations and six pushes away from the bound.
    inside = np.abs(s) < 1.4
    assert inside.sum() > 50
    assert np.allclose(V[inside], (P * s**2 + 2 * q * s + c)[inside], rtol=0, atol=1e-8)
