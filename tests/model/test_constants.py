"""Assumption 1's constants: right on their compact set, attained, and never beaten by a search."""

import numpy as np
import pytest
from scipy import linalg, optimize

from helpers import INSTANCES, fine_laws, full, full_U, instance

VARIANTS = [
    *[(name, {}) for name in INSTANCES],
    ("riverswim", {"kernel": "ayoub", "states": 4, "leak": 0.05}),
    ("chain", {"bins": 3, "reward": "truncated-exponential", "sigma": 0.3}),
    ("chain", {"bins": 5, "reward": "gaussian"}),
    ("circle", {"knots": 4, "kappa": 1.0}),
    ("custom-sin", {"waves": 2, "strength": 0.5}),
]


class Laws:
    """Eigenvalues of Cov psi by explicit sums over a rule of its own, in the directions in which psi varies."""

    def __init__(self, name, values):
        self.fine, family = fine_laws(name, **values), instance(name, **values).model.family
        shape = family.log_base.shape[:2]
        found = {family.log_base[at].tobytes(): at for at in np.ndindex(shape)}
        # One (cell, action) for each different support with at least two points.
        self.supports = [at for at in found.values() if np.isfinite(family.log_base[at]).sum() > 1]
        self.rank = {at: np.linalg.matrix_rank(family.support(*at) - family.support(*at)[0]) for at in self.supports}

    def eigenvalues(self, at, natural):
        values = np.linalg.eigvalsh(self.fine.moments(natural, *at)[2])
        return values[len(values) - self.rank[at] :]


def ball(rng, radius, p):
    direction = rng.standard_normal(p)
    return radius * rng.random() ** (1 / p) * direction / np.linalg.norm(direction)


@pytest.mark.parametrize(("name", "values"), VARIANTS)
def test_covariance_bounds_are_never_beaten_by_random_search(name, values, rng):
    problem, laws = instance(name, **values), Laws(name, values)
    c, p = problem.constants, problem.model.family.p
    for at in laws.supports:
        for _ in range(300):
            natural = ball(rng, c["radius_p"], p)
            if rng.random() < 0.5:  # half of them on the sphere, where the smallest ones are
                natural *= c["radius_p"] / np.linalg.norm(natural)
            found = laws.eigenvalues(at, natural)
            assert found[0] >= c["alpha_p"] * (1 - 1e-9)
            assert found[-1] <= c["beta_p"] * (1 + 1e-9)


@pytest.mark.parametrize(("name", "values"), VARIANTS)
def test_covariance_bounds_are_those_that_an_optimiser_finds(name, values, rng):
    problem, laws = instance(name, **values), Laws(name, values)
    radius, p = problem.constants["radius_p"], problem.model.family.p

    def extreme(objective, starts):
        """Smallest value over the ball: Nelder-Mead, projected, from the best three starts."""

        def projected(z):
            return objective(z * min(1.0, radius / max(np.linalg.norm(z), 1e-300)))

        options = {"xatol": 1e-8, "fatol": 1e-12, "maxfev": 3000}
        best = sorted(starts, key=projected)[:3]
        return min(optimize.minimize(projected, z, method="Nelder-Mead", options=options).fun for z in best)

    lows, highs = [], []
    for at in laws.supports:
        psi = problem.model.family.support(*at)
        span = linalg.orth((psi - psi.mean(0)).T)
        inside = [span.T @ ball(rng, radius, p) for _ in range(100)] + [np.zeros(span.shape[1])]
        outside = [z * radius / max(np.linalg.norm(z), 1e-300) for z in inside]
        lows.append(np.exp(extreme(lambda z: np.log(laws.eigenvalues(at, span @ z)[0]), outside)))  # noqa: B023
        highs.append(-extreme(lambda z: -laws.eigenvalues(at, span @ z)[-1], inside))  # noqa: B023
    assert min(lows) == pytest.approx(problem.constants["alpha_p"], rel=1e-5)
    assert max(highs) == pytest.approx(problem.constants["beta_p"], rel=1e-5)


@pytest.mark.parametrize(("name", "values"), VARIANTS)
def test_reward_bounds_on_a_fine_grid(name, values):
    problem = instance(name, **values)
    c, size = problem.constants, problem.model.B @ problem.model.B
    variances = size * problem.model.reward.variance(np.linspace(-c["radius_r"], c["radius_r"], 10_001))
    assert variances.min() == pytest.approx(c["alpha_r"], rel=1e-9)
    assert variances.max() == pytest.approx(c["beta_r"], rel=1e-9)


@pytest.mark.parametrize(("name", "values"), VARIANTS)
def test_radii_norms_and_feature_bound_by_direct_formulas(name, values):
    problem = instance(name, **values)
    features, c = problem.model.features, problem.constants
    A = full(features.trace)
    if problem.model.smooth:
        space = problem.model.space
        states = np.concatenate([np.linspace(space.low[0], space.high[0], 5_001), space.corners])
        features = features.on(problem.model.phi(states))
    U = [full_U(features, x, a) for x in range(features.n_anchors) for a in range(features.n_actions)]
    norms = [np.sqrt(theta @ A @ theta) for theta in (problem.theta_p, problem.theta_r)]
    assert c["B_A"] == pytest.approx(max(norms), rel=1e-12)
    if problem.model.smooth and np.array_equal(A, np.eye(len(A))):
        bound = np.linalg.eigvalsh(np.stack(U) @ np.swapaxes(np.stack(U), 1, 2)).max()  # |U'U| = |U U'|, p x p
    else:
        bound = max(np.linalg.norm(np.linalg.inv(A) @ u.T @ u, ord=2) for u in U)
    # What a grid of 5,001 states misses of a peak between two of them.
    missed = 1e-5 if problem.model.smooth else 1e-10
    assert c["B_phi_A"] == pytest.approx(bound, rel=missed)
    assert c["radius_p"] == pytest.approx(max(np.linalg.norm(u @ problem.theta_p) for u in U), rel=missed)
    largest = max(abs(problem.theta_r @ u.T @ problem.model.B) for u in U)
    assert c["radius_r"] == pytest.approx(largest, rel=missed)


CHAINS = [
    {},
    {"bins": 3, "sigma": 0.05},
    {"sigma": 1.0},
    {"bins": 40},
    {"bins": 2, "sigma": 0.05},
    {"bins": 2, "sigma": 0.02},
    {"bins": 8, "sigma": 0.02, "left": 0.5, "right": 0.5},
]


@pytest.mark.parametrize("values", CHAINS, ids=repr)
def test_the_chain_has_its_bounds_in_closed_form(values):
    """p = 1 and a symmetric law: the variance falls with |c|, from c = 0 to the radius."""
    problem = instance("chain", **values)
    c = problem.constants
    variance = problem.model.family.moments(np.array([c["radius_p"], 0.0]).reshape(1, 1, 2, 1))[2].ravel()
    assert c["alpha_p"] == pytest.approx(variance[0], rel=1e-8)
    assert c["beta_p"] == pytest.approx(variance[1], rel=1e-8)


def test_riverswim_largest_eigenvalue_is_that_of_two_equal_states():
    """Mass 1/2 on each of two states that are not the reference: covariance eigenvalue 1/2, and none is larger."""
    assert instance("riverswim").constants["beta_p"] == pytest.approx(0.5, abs=1e-12)
