"""UCRL-MNL+: its bonus and plan by hand, the place of its clip, coverage and optimism."""

import math

import numpy as np
import pytest

from helpers import full_U, in_family, play, trained
from helpers import light as instance

FINITE = [("riverswim", {"states": 3, "horizon": 5}), ("dense", {}), ("jao", {"horizon": 5}), ("factored", {})]


def features_of(problem, s, a):
    """Reachable states of (s, a) and f(s, a, s') in R^d for each, (states, d)."""
    states = np.flatnonzero(np.isfinite(problem.model.family.base(s, a)))
    psi = problem.model.family.psi[states]
    return states, (psi - psi[0]) @ full_U(problem.model.features, s, a)


@pytest.mark.parametrize(("name", "values"), FINITE)
@pytest.mark.parametrize("scale", [1e-5, "theory"])
def test_bonus_and_plan_by_hand(name, values, scale):
    problem = instance(name, **values)
    H = problem.horizon
    agent = trained("ucrl-mnl-plus", problem, "K", scale=scale)
    plan, beta = agent.plan(5), agent.radius(5)
    kernel = problem.model.kernel(agent.reachable.whole(agent.estimator.theta))
    bonus = agent.bonus(5, agent.reachable.probabilities(kernel))
    for i in range(2):
        B = in_family(agent.reachable, agent.estimator.B[i], agent.estimator.lam[i])
        nu = np.empty(problem.R.shape)
        for s, a in np.ndindex(nu.shape):
            states, f = features_of(problem, s, a)
            P = kernel[i, s, a, states]
            first = sum(p * math.sqrt(x @ np.linalg.solve(B, x)) for p, x in zip(P, f - P @ f, strict=True))
            second = max(x @ np.linalg.solve(B, x) for x in f)
            nu[s, a] = H * beta[i] * first + 3 * H * beta[i] ** 2 * second
        assert np.allclose(bonus[i], nu, rtol=1e-9, atol=1e-12)
        V = np.zeros(len(nu))
        for h in reversed(range(H)):
            Q = problem.R + kernel[i] @ V + nu
            assert np.allclose(Q[np.arange(len(V)), plan.policy[i, h]], Q.max(1), rtol=1e-9, atol=1e-9)
            V = np.minimum(Q.max(1), H)
        assert np.allclose(plan.values[i], V, rtol=0, atol=1e-9)
        assert scale == "theory" or V.min() < H  # not all of it is cut


def test_values_are_cut_and_not_the_q_values():
    """A huge radius makes all values H, but actions still differ by what is known of them."""
    problem = instance("riverswim", states=4, horizon=6)
    plan = trained("ucrl-mnl-plus", problem, scale=1e4).plan(5)
    assert np.array_equal(plan.values, np.full((2, 4), 6.0))
    # Left is deterministic on the known support: there is nothing to learn about it.
    assert np.all(plan.policy == 1)


def test_theory_covers_and_is_optimistic():
    """|theta - theta*|_B <= beta and V_1 >= V* for all 40 seeds, at delta = 0.05."""
    problem = instance("riverswim", states=4, horizon=6)
    optimism = play("ucrl-mnl-plus", problem, "K", range(40), 20)["optimism"]
    assert np.all(optimism >= -1e-9)
    agent = trained("ucrl-mnl-plus", problem, "K", seeds=tuple(range(40)), episodes=20)
    for i in range(40):
        error = agent.reachable.whole(agent.estimator.theta)[i] - problem.theta_p
        B = in_family(agent.reachable, agent.estimator.B[i], agent.estimator.lam[i])
        assert math.sqrt(error @ B @ error) <= agent.radius(20)[i]


def test_the_estimate_approaches_the_truth():
    """At the step size of least squares: 40 times the data divide the squared error by five at least."""
    problem = instance("jao", horizon=20)
    few, many = (
        trained("ucrl-mnl-plus", problem, seeds=tuple(range(20)), episodes=k, lam=1.0, eta=1.0) for k in (5, 200)
    )
    errors = [np.square(a.reachable.whole(a.estimator.theta) - problem.theta_p).sum(-1).mean() for a in (few, many)]
    assert errors[1] < errors[0] / 5
