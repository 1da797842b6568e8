"""The maximum likelihood estimator against the score equations of all data and against closed forms."""

import numpy as np
import pytest
from scipy import optimize

from befrl.learning import likelihood
from helpers import INSTANCES, fine_laws, full, instance, learner, matrices_at, random_episodes, samples

SEEDS = (0, 1, 2, 3, 4)
CASES = [(name, {}) for name in INSTANCES] + [
    ("chain", {"bins": 3, "horizon": 9}),
    ("riverswim", {"kernel": "ayoub", "states": 4, "leak": 0.05}),
]
DIMENSIONS = [1, 2]


def fitted(problem, eta=1.0, seeds=SEEDS, episodes=4):
    """A learner after some episodes of random actions, and these episodes."""
    fit, played = learner(problem, seeds, eta=eta, estimator="mle"), random_episodes(problem, seeds, episodes)
    for episode in played:
        fit.update(episode)
    return fit, played


def all_data_score(problem, laws, played, i, eta):
    """The score equations as sums over the raw samples of seed i, means by a rule of their own."""
    states, actions, _, next_states = samples(played, i)
    U, psi = matrices_at(problem, states, actions), problem.model.family.statistic(next_states)
    cells = 0 if problem.model.smooth else problem.model.space.cell(states)
    A = full(problem.model.features.trace)

    def score(theta):
        mean = laws.moments(U @ theta, cells, actions)[1]
        return np.einsum("tpd,tp->d", U, psi - mean) - eta * A @ theta

    return score


@pytest.mark.parametrize(("name", "values"), CASES)
@pytest.mark.parametrize("eta", [0.3, 5.0])
def test_estimates_are_those_of_all_data(name, values, eta):
    problem = instance(name, **values)
    fit, played = fitted(problem, eta)
    for i in (0, 3):
        score = all_data_score(problem, fine_laws(name, **values), played, i, eta)
        found = score(fit.theta_p[i])
        if problem.model.smooth:
            # The interpolation moves the estimate by less than 1e-4 of a standard error.
            assert np.sqrt(found @ np.linalg.solve(full(fit.hessian_p[i]), found)) < 1e-4
            continue
        assert np.allclose(found, 0.0, rtol=0, atol=1e-7)
        solution = optimize.root(score, np.zeros(problem.model.d), tol=1e-13)
        assert np.abs(score(solution.x)).max() < 1e-9
        assert np.allclose(fit.theta_p[i], solution.x, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", INSTANCES)
def test_the_stored_hessian_is_that_of_the_estimate(name):
    problem = instance(name)
    fit, _ = fitted(problem)
    exact = likelihood.transitions(problem.model, fit.data, 1.0, fit.theta_p)[2]
    # Newton's last step is of order 1e-5 in the Hessian's norm, and so is what the Hessian misses.
    assert np.allclose(fit.estimator.hessian, exact, rtol=1e-4, atol=1e-4)
    assert fit.hessian_p is fit.estimator.hessian


@pytest.mark.parametrize("eta", [0.3, 5.0])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_of_a_linear_gaussian_system_it_is_ridge_regression(dimension, eta):
    """theta = argmin sum |s'/sigma - M phi|^2/2 + eta/2 |M|^2: (eta I + sum phi phi')^-1 sum phi s''/sigma by rows.

    Products of features have degree 4: exact with the five nodes of one dimension, not with the three of two.
    """
    problem = instance("lds", dimension=dimension)
    fit, played = fitted(problem, eta, seeds=(0, 1), episodes=3)
    for i in range(2):
        states, actions, _, next_states = samples(played, i)
        phi = problem.model.phi(states)[np.arange(len(actions)), actions]
        targets = next_states.reshape(len(phi), -1) / problem.parameters["sigma"]
        ridge = np.linalg.solve(eta * np.eye(phi.shape[1]) + phi.T @ phi, phi.T @ targets).T
        gap = fit.theta_p[i] - ridge.ravel()
        if dimension == 1:
            assert np.abs(gap).max() < 1e-10
        else:  # a hundredth of a standard error
            assert np.sqrt(gap @ full(fit.hessian_p[i]) @ gap) < 0.01
