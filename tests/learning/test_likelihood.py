"""The losses from O(1) statistics against all data, and their derivatives against finite differences."""

import itertools

import numpy as np
import pytest

from befrl.learning import likelihood
from befrl.learning.data import Data
from helpers import INSTANCES, derivative, fine_laws, full, instance, matrices_at, random_episodes, samples

LOSSES = [likelihood.transitions, likelihood.rewards]
CASES = [(name, {}) for name in INSTANCES] + [
    ("chain", {"reward": "truncated-exponential", "bins": 3, "horizon": 9}),
    ("chain", {"reward": "gaussian", "bins": 3, "horizon": 9}),
    ("riverswim", {"kernel": "ayoub", "states": 4, "leak": 0.05}),
    pytest.param("custom-sin", {"waves": 2}, marks=pytest.mark.slow),
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

    def value_and_gradient(flat):
        value, gradient, _ = loss(problem.model, data, 0.7, flat[None])
        return np.concatenate([value, gradient[0]])

    hessian = full(loss(problem.model, data, 0.7, theta[None])[2][0])
    found, size = derivative(value_and_gradient, theta), max(1.0, np.abs(hessian).max())
    assert np.allclose(found[0], value_and_gradient(theta)[1:], rtol=1e-8, atol=1e-8 * size)
    assert np.allclose(found[1:], hessian, rtol=1e-8, atol=1e-8 * size)


@pytest.mark.parametrize(("name", "values"), CASES)
def test_loss_is_the_negative_log_likelihood_of_the_samples(name, values, rng):
    """Exactly where features are constant on cells; else up to the interpolation, 1e-6 for each sample."""
    problem = instance(name, **values)
    data, played = gathered(problem)
    model, laws = problem.model, fine_laws(name, **values)
    tolerance = 1e-6 * data.counts.sum() if model.smooth else 1e-9
    states, actions, rewards, next_states = samples(played, 0)
    U, psi = matrices_at(problem, states, actions), model.family.statistic(next_states)
    cells = 0 if model.smooth else model.space.cell(states)

    def transitions(natural):
        return laws.moments(natural, cells, actions)[0] - (natural * psi).sum(-1)

    def of_rewards(natural):
        c = natural @ model.B
        return model.reward.log_partition(c) - c * rewards

    cases = zip(LOSSES, (transitions, of_rewards), (problem.theta_p, problem.theta_r), strict=True)
    for shift, (loss, terms, truth) in itertools.product(rng.uniform(-1, 1, (3, model.d)), cases):
        theta = truth + shift
        direct = terms(U @ theta).sum() + 0.35 * theta @ full(model.features.trace) @ theta
        assert loss(model, data, 0.7, theta[None])[0][0] == pytest.approx(direct, rel=1e-12, abs=tolerance)


@pytest.mark.parametrize("name", INSTANCES)
def test_some_seeds_alone_have_the_same_bits(name, rng):
    """Newton's method evaluates only the seeds that have not converged."""
    problem = instance(name)
    data, _ = gathered(problem, seeds=(0, 1, 2, 3))
    theta, rows = rng.uniform(-1, 1, (4, problem.model.d)), np.array([1, 3])
    for loss in LOSSES:
        whole, some = loss(problem.model, data, 0.7, theta), loss(problem.model, data, 0.7, theta[rows], rows)
        assert all(np.array_equal(one[rows], other) for one, other in zip(whole, some, strict=True))


@pytest.mark.parametrize("name", INSTANCES)
def test_losses_without_data_are_the_penalty(name, rng):
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
