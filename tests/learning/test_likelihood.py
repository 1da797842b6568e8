"""The losses from O(1) statistics against all data, and their derivatives against finite differences."""

import numpy as np
import pytest

from befrl.learning import likelihood
from befrl.learning.data import Data
from helpers import (
    INSTANCES,
    derivative,
    fine_laws,
    full,
    instance,
    matrices_at,
    random_episodes,
    samples,
)

LOSSES = [likelihood.transitions, likelihood.rewards]
CASES = [(name, {}) for name in INSTANCES] + [
    ("chain", {"reward": "truncated-exponential", "bins": 3, "horizon": 9}),
    ("chain", {"reward": "gaussian", "bins": 3, "horizon": 9}),
    ("riverswim", {"kernel": "ayoub", "states": 4, "leak": 0.05}),
    ("custom-sin", {"waves": 2}),
]


def gathered(problem, seeds=(0,), episodes=4):
    """The statistics of some random episodes, and these episodes."""
    data, played = Data(problem.model, len(seeds)), random_episodes(problem, seeds, episodes)
    for episode in played:
        data.add(episode)
    return data, played


@pytest.mark.parametrize(("name", "values"), CASES)
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_have_the_right_derivatives(name, values, loss, rng):
    problem = instance(name, **values)
    data, _ = gathered(problem)
    theta = rng.uniform(-1, 1, problem.model.d)

    def parts(flat):
        value, gradient, hessian = loss(problem.model, data, 0.7, flat[None])
        return value[0], gradient[0], full(hessian[0])

    _, gradient, hessian = parts(theta)
    assert hessian.shape == (problem.model.d, problem.model.d)
    size = max(1.0, np.abs(hessian).max())
    assert np.allclose(derivative(lambda t: parts(t)[0], theta), gradient, rtol=1e-8, atol=1e-8 * size)
    assert np.allclose(derivative(lambda t: parts(t)[1], theta), hessian, rtol=1e-8, atol=1e-8 * size)


def direct_losses(problem, laws, played, eta, theta):
    """Both losses as sums over the raw samples of the first seed, up to terms without theta; laws by their own rule."""
    model = problem.model
    states, actions, rewards, next_states = samples(played, 0)
    U = matrices_at(problem, states, actions)
    penalty = 0.5 * eta * theta @ full(model.features.trace) @ theta
    cells = 0 if model.smooth else model.space.cell(states)
    natural = U @ theta
    Z = laws.moments(natural, cells, actions)[0]
    c = natural @ model.B
    return (
        (Z - (natural * model.family.statistic(next_states)).sum(-1)).sum() + penalty,
        (model.reward.log_partition(c) - c * rewards).sum() + penalty,
    )


@pytest.mark.parametrize(("name", "values"), CASES)
def test_loss_is_the_negative_log_likelihood_of_the_samples(name, values, rng):
    """Exactly where features are constant on cells; else up to the interpolation, 1e-6 for each sample.

    Parameters are those that an estimator meets: within a unit of the truth.
    """
    problem = instance(name, **values)
    data, played = gathered(problem)
    laws = fine_laws(name, **values)
    tolerance = 1e-6 * data.counts.sum() if problem.model.smooth else 1e-9
    for shift in rng.uniform(-1, 1, (3, problem.model.d)):
        for i, (loss, truth) in enumerate(zip(LOSSES, (problem.theta_p, problem.theta_r), strict=True)):
            theta = truth + shift
            direct = direct_losses(problem, laws, played, 0.7, theta)[i]
            assert loss(problem.model, data, 0.7, theta[None])[0][0] == pytest.approx(direct, rel=1e-12, abs=tolerance)


@pytest.mark.parametrize("name", INSTANCES)
def test_some_seeds_alone_have_the_same_bits(name, rng):
    """Newton's method evaluates the seeds that are not there yet."""
    problem = instance(name)
    data, _ = gathered(problem, seeds=(0, 1, 2, 3))
    theta = rng.uniform(-1, 1, (4, problem.model.d))
    rows = np.array([1, 3])
    for loss in LOSSES:
        whole, some = loss(problem.model, data, 0.7, theta), loss(problem.model, data, 0.7, theta[rows], rows)
        assert all(np.array_equal(one[rows], other) for one, other in zip(whole, some, strict=True))


@pytest.mark.parametrize("name", INSTANCES)
def test_without_data_there_is_the_penalty_alone(name, rng):
    problem = instance(name)
    features = problem.model.features
    data, theta = Data(problem.model, 2), rng.standard_normal((2, problem.model.d))
    A = full(features.trace)
    for loss in LOSSES:
        value, gradient, hessian = loss(problem.model, data, 3.0, theta)
        assert value == pytest.approx([1.5 * t @ A @ t for t in theta], rel=1e-12)
        assert np.allclose(gradient, 3.0 * theta @ A, rtol=0, atol=1e-12)
        for blocks in (hessian, likelihood.prior(features, 2, 3.0)):
            assert np.allclose([full(one) for one in blocks], 3.0 * A, rtol=0, atol=1e-12)
