"""Products and plans without the dense kernel, where features are smooth, against those with it."""

import numpy as np
import pytest

from befrl.model.families.base import Family
from befrl.model.families.tilts import REACH, Tilts
from befrl.numerics import bellman
from befrl.planning import induction, optimism
from helpers import instance

# lds has cells that are planned as one, in two dimensions its kernel is a product, and `wide` has panels of 45 sigma.
PROBLEMS = {
    "circle": ("circle", {"horizon": 6}),
    "lds": ("lds", {"horizon": 6}),
    "plane": ("lds", {"horizon": 3, "dimension": 2, "sigma": 0.5}),
    "wide": ("lds", {"horizon": 6, "sigma": 0.05, "force": 2.0}),
    "waves": ("waves", {}),
    "custom-sin": ("custom-sin", {"horizon": 3}),
}
each = pytest.mark.parametrize("name", PROBLEMS)


def problem_of(name):
    family, values = PROBLEMS[name]
    return instance(family, **values)


def some_models(problem, rng):
    """theta_p near the truth, far from it and enormous, mean rewards of each, and V (3, N) in [-1, 1]."""
    d = problem.model.d
    theta_p = problem.theta_p + np.array([[0.1], [1.0], [1e3]]) * rng.standard_normal((3, d))
    R = problem.model.mean_reward(problem.theta_r + 0.1 * rng.standard_normal((3, d)))
    return theta_p, R, rng.uniform(-1, 1, (3, problem.model.n_anchors))


def rounding(natural):
    """1e-14 for each unit of the largest |v|, (n,): an error of eps |v| in psi . v is one of its mass."""
    return 1e-14 * np.maximum(10.0, np.abs(natural).max((1, 2, 3)))


@each
def test_expected_values_and_covariances_are_those_of_the_dense_kernel(name, rng):
    model = problem_of(name).model
    theta_p, _, V = some_models(problem_of(name), rng)
    natural = model.features.natural(theta_p)
    P, partial = model.family.kernel_and_partial_means(natural)
    dense = bellman.expectation(P)(V)
    slopes = (optimism.covariance_rows(P, partial) @ V[..., None]).reshape(natural.shape)
    by_action = induction.by_action(model, theta_p)
    mean, covariance = model.family.value_moments(by_action)(V)
    limit = rounding(natural)[:, None, None]
    assert np.all(np.abs(model.family.expectation(by_action)(V).swapaxes(1, 2) - dense) <= limit)
    assert np.all(np.abs(mean.swapaxes(1, 2) - dense) <= limit)
    # E[psi V] and E psi E V are as large as the largest psi, and cancel.
    limit = limit * np.maximum(1.0, np.abs(partial.sum(-2)).max((1, 2, 3)))[:, None, None]
    for i, component in enumerate(covariance):
        assert np.all(np.abs(component.swapaxes(1, 2) - slopes[..., i]) <= limit)


@each
def test_plans_are_those_of_the_dense_kernel_with_the_same_bits_in_any_group(name, rng, monkeypatch):
    problem = problem_of(name)
    model, H = problem.model, problem.horizon
    theta_p, R, _ = some_models(problem, rng)
    Q, V = induction.backward_induction(model, R, theta_p, H)
    dense = bellman.backward_induction(R, model.kernel(theta_p), H)
    limit = H * np.abs(dense[1]).max((1, 2)) * rounding(model.features.natural(theta_p))
    for found, expected in zip((Q, V), dense, strict=True):
        assert found.shape == expected.shape
        assert np.all(np.abs(found - expected).reshape(3, -1).max(-1) <= limit)
    alone = induction.backward_induction(model, R[1:2], theta_p[1:2], H)
    monkeypatch.setattr(induction, "GROUP", 1 << 30)
    together = induction.backward_induction(model, R, theta_p, H)
    for found, one, all_rows in zip((Q, V), alone, together, strict=True):
        assert np.array_equal(found[1], one[0]) and np.array_equal(found, all_rows)


def test_cells_that_features_do_not_tell_apart_are_planned_as_one():
    model = problem_of("lds").model
    coarse, anchor = model.coarse
    # Three panels on either side of the origin, and one beyond each bound.
    assert coarse.n_cells == 8 < model.n_cells
    assert np.array_equal(coarse.features.phi[anchor], model.features.phi)
    circle = problem_of("circle").model
    assert circle.coarse[0] is circle


@each
def test_policies_have_the_same_values_under_the_factors_of_the_true_kernel(name, rng):
    problem = problem_of(name)
    N, A, C = problem.model.n_anchors, problem.model.n_actions, problem.model.n_cells
    left, right = problem.P_factors
    assert np.abs(left @ right - problem.P).sum(-1).max() <= 1e-12
    for policies in (rng.integers(0, A, (2, 3, 5, C)), rng.dirichlet(np.ones(A), (2, 3, 5, C))):
        dense = bellman.evaluate(policies, problem.R, problem.P)
        assert np.allclose(bellman.evaluate(policies, problem.R, (left, right)), dense, rtol=0, atol=1e-11)
        assert dense.shape == (2, 3, N)


def test_the_expansion_of_tilts_has_the_moments_of_the_nodes_and_gives_way_where_it_loses_digits():
    family = problem_of("custom-sin").model.family
    v = np.concatenate([np.linspace(-REACH, REACH, 401), [1e-300, -17.0, 300.0]])[None, :, None, None]
    for found, summed in zip(family.moments(v), Family.moments(family, v), strict=True):
        assert found.shape == summed.shape
        assert np.allclose(found, summed, rtol=1e-11, atol=1e-14)
    sound = family._tilts.moments(v[..., 0])[-1]
    assert np.array_equal(sound[0, :, 0], np.abs(v[0, :, 0, 0]) <= REACH)
    # A normal base measure has no mass where psi is extreme: nearly all is lost by cancellation, and nothing is used.
    x = np.linspace(-12, 12, 2001)
    sound = Tilts(x, -0.5 * x * x).moments(np.array([0.0, 1.0]))[-1]
    assert not sound[1]
