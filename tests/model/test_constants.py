"""Assumption 1's constants on their compact set: no search finds a value beyond them, and the best one attains them."""

import numpy as np
import pytest
from scipy import linalg, optimize

from helpers import INSTANCES, fine_laws, full, full_U, instance

CASES = [
    *[(name, {}) for name in INSTANCES],
    ("chain", {"bins": 3, "reward": "truncated-exponential", "sigma": 0.3}),
    ("chain", {"bins": 5, "reward": "gaussian"}),
    ("literal", {"bins": 3, "margin": 0.01}),
    ("riverswim", {"kernel": "ayoub", "states": 4, "leak": 0.05}),
    ("jao", {"arms": 2, "rate": 0.01}),
    ("circle", {"knots": 4, "kappa": 1.0, "horizon": 10}),
    ("circle", {"knots": 6, "kappa": 60.0, "horizon": 10}),
    ("lds", {"sigma": 1.0, "pull": -0.6, "bound": 1.5}),
    ("lds", {"dimension": 2, "horizon": 8}),
    pytest.param("custom-sin", {"waves": 2, "strength": 0.6}, marks=pytest.mark.slow),
]
each_case = pytest.mark.parametrize(("name", "values"), CASES)


def extremes(problem, laws, x, a, rng):
    """The extreme eigenvalues of Cov psi on the span of psi at one (s,a), by random search and Nelder-Mead, (2, 2)."""
    support, radius = problem.model.family.support(x, a), problem.constants["radius_p"]
    span = linalg.orth((support - support.mean(0)).T)
    # A plane has 80,000 nodes; its covariance is the same everywhere.
    trials, most = (400, 600) if problem.model.space.dim == 1 else (10, 20)

    def eigenvalues(z):
        z = z * np.minimum(1.0, radius / np.maximum(np.linalg.norm(z, axis=-1, keepdims=True), 1e-300))
        return np.linalg.eigvalsh(span.T @ laws.moments(z @ span.T, x, a)[2] @ span)

    z = rng.standard_normal((trials, span.shape[1]))
    z *= radius / np.linalg.norm(z, axis=1, keepdims=True)
    # Half of them on the sphere, where the smallest ones are, and one at the centre.
    z[::2] *= rng.random((trials // 2, 1)) ** (1 / span.shape[1])
    z[0] = 0.0
    found, options = eigenvalues(z), {"xatol": 1e-8, "fatol": 1e-12, "maxfev": most}

    def least(objective, starts):
        return min(optimize.minimize(objective, z, method="Nelder-Mead", options=options).fun for z in starts)

    low = np.exp(least(lambda z: np.log(eigenvalues(z)[0]), z[np.argsort(found[:, 0])[:2]]))
    high = -least(lambda z: -eigenvalues(z)[-1], z[np.argsort(found[:, -1])[-2:]])
    return (found[:, 0].min(), found[:, -1].max()), (low, high)


@each_case
def test_covariance_bounds_are_never_exceeded_and_attained(name, values, rng):
    problem, laws = instance(name, **values), fine_laws(name, **values)
    family = problem.model.family
    supports = {family.log_base[at].tobytes(): at for at in np.ndindex(family.log_base.shape[:2])}
    random = [at for at in supports.values() if len(np.unique(family.support(*at), axis=0)) > 1]
    found = np.array([extremes(problem, laws, *at, rng) for at in random])
    alpha, beta = problem.constants["alpha_p"], problem.constants["beta_p"]
    assert found[:, 0, 0].min() >= alpha * (1 - 1e-9) and found[:, 0, 1].max() <= beta * (1 + 1e-9)
    assert alpha * (1 - 1e-6) <= found[..., 0].min() <= alpha * (1 + 1e-5)
    assert beta * (1 - 1e-5) <= found[..., 1].max() <= beta * (1 + 1e-6)


@each_case
def test_reward_bounds_norms_radii_and_feature_bound_by_direct_formulas(name, values):
    problem = instance(name, **values)
    model, features, c = problem.model, problem.model.features, problem.constants
    variances = (model.B @ model.B) * model.reward.variance(np.linspace(-c["radius_r"], c["radius_r"], 10_001))
    assert variances.min() == pytest.approx(c["alpha_r"], rel=1e-9)
    assert variances.max() == pytest.approx(c["beta_r"], rel=1e-9)
    A, missed = full(features.trace), 1e-10
    largest = max(np.sqrt(theta @ A @ theta) for theta in (problem.theta_p, problem.theta_r))
    assert c["B_A"] == pytest.approx(largest, rel=1e-12)
    if model.smooth:
        # What 5,001 states, the anchors and the corners of cells miss of a peak between two of them.
        space, missed = model.space, 1e-5
        s = np.linspace(space.low, space.high, 5_001)
        s = np.concatenate([s, space.nodes.reshape(-1, space.dim), space.corners.reshape(-1, space.dim)])
        U = features.on(model.phi(s if space.dim > 1 else s[:, 0])).U.reshape(-1, features.p, features.d)
    else:
        U = np.array([full_U(features, *at) for at in np.ndindex(problem.R.shape)])
    if np.array_equal(A, np.eye(len(A))):
        bound = np.linalg.eigvalsh(U @ np.swapaxes(U, 1, 2)).max()
    else:
        bound = np.linalg.norm(np.linalg.inv(A) @ np.swapaxes(U, 1, 2) @ U, ord=2, axis=(1, 2)).max()
    radius_p, radius_r = np.linalg.norm(U @ problem.theta_p, axis=-1).max(), np.abs(U @ problem.theta_r @ model.B).max()
    for key, found in (("radius_p", radius_p), ("radius_r", radius_r), ("B_phi_A", bound)):
        assert c[key] == pytest.approx(found, rel=missed), key
        assert found <= c[key] * (1 + 1e-6), key


def test_bounds_of_chain_and_riverswim_in_closed_form():
    """The chain has p = 1 and a symmetric law: the variance falls with |c|, from c = 0 to the radius.

    In RiverSwim mass 1/2 on each of two states that are not the reference has the eigenvalue 1/2, and none is larger.
    """
    narrow = {"bins": 8, "sigma": 0.02, "left": 0.5, "right": 0.5}
    for values in ({}, {"bins": 3, "sigma": 0.05}, {"sigma": 1.0}, {"bins": 40}, {"bins": 2, "sigma": 0.02}, narrow):
        problem = instance("chain", **values)
        c = problem.constants
        variance = problem.model.family.moments(np.array([c["radius_p"], 0.0]).reshape(1, 1, 2, 1))[2].ravel()
        assert [c["alpha_p"], c["beta_p"]] == pytest.approx(variance, rel=1e-8), values
    assert instance("riverswim").constants["beta_p"] == pytest.approx(0.5, abs=1e-12)
