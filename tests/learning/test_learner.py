"""The learner: both estimates by maximum likelihood, the design and its norms, by score equations and direct sums."""

import numpy as np
import pytest
from scipy import optimize

from befrl.learning import likelihood
from befrl.numerics import newton
from helpers import (
    CONSTANT,
    INSTANCES,
    SMOOTH,
    fine_laws,
    full,
    full_U,
    instance,
    learner,
    light,
    matrices_at,
    play,
    random_episodes,
    samples,
)

SEEDS = (0, 1, 2, 3, 4)
CASES = [(name, {}) for name in INSTANCES] + [
    ("chain", {"reward": "truncated-exponential", "bins": 3, "horizon": 9}),
    ("chain", {"reward": "gaussian", "bins": 3, "horizon": 9}),
    ("riverswim", {"kernel": "ayoub", "states": 4, "leak": 0.05}),
]
each_instance = pytest.mark.parametrize("name", INSTANCES)
each_penalty = pytest.mark.parametrize("eta", [1e-6, *(pytest.param(x, marks=pytest.mark.slow) for x in (1e-4, 1e-2))])


def learned(problem, eta=1.0, seeds=SEEDS, episodes=4, track="U"):
    """A learner after some episodes of random actions, and these episodes."""
    fit, played = learner(problem, seeds, track, eta=eta), random_episodes(problem, seeds, episodes)
    for episode in played:
        fit.update(episode)
    return fit, played


def losses(fit):
    """The two losses that it minimises, and its estimates."""
    for loss, theta in ((likelihood.transitions, fit.theta_p), (likelihood.rewards, fit.theta_r)):
        yield lambda t, rows, loss=loss: loss(fit.model, fit.data, fit.eta, t, rows), theta


@pytest.mark.parametrize(("name", "values"), CASES)
@pytest.mark.parametrize("eta", [0.3, 5.0])
def test_estimates_solve_the_score_equations_of_all_samples(name, values, eta):
    """Sums over the raw samples of a seed, with means of psi by a rule of their own."""
    problem = instance(name, **values)
    fit, played = learned(problem, eta)
    model, laws, A = problem.model, fine_laws(name, **values), full(problem.model.features.trace)
    for i in (0, 3):
        states, actions, rewards, next_states = samples(played, i)
        U, psi = matrices_at(problem, states, actions), model.family.statistic(next_states)
        cells, x_r = 0 if model.smooth else model.space.cell(states), model.B @ U

        def score_p(theta, U=U, psi=psi, cells=cells, actions=actions):
            return np.einsum("tpd,tp->d", U, psi - laws.moments(U @ theta, cells, actions)[1]) - eta * A @ theta

        def score_r(theta, x_r=x_r, rewards=rewards):
            return (rewards - model.reward.mean(x_r @ theta)) @ x_r - eta * A @ theta

        transitions, rewards = (score_p, fit.theta_p[i], fit.hessian_p[i]), (score_r, fit.theta_r[i], fit.hessian_r[i])
        for score, theta, hessian in (transitions, rewards):
            if model.smooth:
                # The interpolation moves the estimate by less than 1e-4 of a standard error.
                assert np.sqrt(score(theta) @ np.linalg.solve(full(hessian), score(theta))) < 1e-4
                continue
            assert np.allclose(score(theta), 0.0, rtol=0, atol=1e-7)
            solution = optimize.root(score, np.zeros(model.d), tol=1e-13)
            assert np.abs(score(solution.x)).max() < 1e-9
            assert np.allclose(theta, solution.x, rtol=0, atol=1e-8)


@each_instance
def test_the_stored_hessian_is_that_of_the_estimate(name):
    fit, _ = learned(instance(name))
    assert fit.hessian_p is fit.estimator.hessian
    # Newton's last step is of order 1e-5 in the Hessian's norm, and so is what the Hessian misses.
    for stored, (loss, theta) in zip((fit.hessian_p, fit.hessian_r), losses(fit), strict=True):
        assert np.allclose(stored, loss(theta, slice(None))[2], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_estimate_of_a_linear_gaussian_system_is_ridge_regression(dimension):
    """Products of features have degree 4: exact with the five nodes of one dimension, not with the three of two."""
    problem = instance("lds", dimension=dimension)
    for eta in (0.3, 5.0):
        fit, played = learned(problem, eta, seeds=(0, 1), episodes=3)
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


@each_instance
def test_newton_converges_from_far_starts(name):
    problem = instance(name)
    fit, _ = learned(problem, seeds=SEEDS[:2] if problem.model.smooth else SEEDS)
    signs = np.random.default_rng(1).choice([-1.0, 1.0], fit.theta_p.shape)
    for loss, theta in losses(fit):
        for size in (5.0, 50.0, 1000.0):
            far, _ = newton.minimise(loss, size * signs)
            assert np.allclose(far, theta, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", CONSTANT)
@each_penalty
def test_newton_converges_with_little_penalty_and_data(name, eta):
    """After few episodes the likelihood alone may have no maximum: 100 seeds, each refitted ten times."""
    assert np.all(np.isfinite(play("exp-psrl", instance(name), "K", range(100), 10, eta=eta)["error_p"]))


@pytest.mark.parametrize("name", SMOOTH)
@each_penalty
def test_newton_converges_with_little_penalty_and_smooth_features(name, eta):
    """The same without planning, 12 seeds refitted eight times: what agents draw from is positive definite."""
    problem = light(name)
    fit = learner(problem, range(12), eta=eta)
    for episode in random_episodes(problem, range(12), 8):
        fit.update(episode)
        for matrix in (fit.hessian_p, fit.hessian_r, fit.design()):
            assert np.all(np.isfinite(np.linalg.cholesky(matrix)))


@pytest.mark.parametrize("name", ["chain", "dense", "waves"])
def test_a_reward_that_is_not_a_number_is_not_learned_from(name):
    problem = instance(name)
    (episode,) = random_episodes(problem, (0,), 1)
    rewards = episode.rewards.copy()
    rewards[0, 0] = np.nan
    broken = type(episode)(episode.states, episode.cells, episode.actions, rewards, episode.next_states)
    with np.errstate(invalid="ignore"), pytest.raises(newton.NotConverged):
        learner(problem, (0,)).update(broken)


@each_instance
def test_design_norms_and_errors_by_direct_sums(name):
    problem = instance(name)
    features, eta = problem.model.features, 0.7
    fit, played = learned(problem, eta)
    design = fit.design()
    for i in (0, 4):
        states, actions, _, _ = samples(played, i)
        U = matrices_at(problem, states, actions)
        G = eta / problem.constants["alpha_p"] * full(features.trace) + np.einsum("tpi,tpj->ij", U, U)
        # Where features are smooth, products of them are interpolated: 1e-7 for each visit.
        rounding = 1e-7 * len(actions) if problem.model.smooth else 1e-10
        assert np.allclose(full(design[i]), G, rtol=1e-12, atol=rounding * np.square(U).max())
        G = full(design[i])
        for x in range(features.n_anchors):
            u = full_U(features, x, 1)
            norm = np.trace(u @ np.linalg.solve(G, u.T))
            assert fit.feature_norms(design)[i, x, 1] == pytest.approx(norm, rel=1e-9)
        gaps = fit.theta_p[i] - problem.theta_p, fit.theta_r[i] - problem.theta_r
        for error, gap in zip(fit.errors(problem.theta_p, problem.theta_r, design), gaps, strict=True):
            assert error[i] == pytest.approx(np.sqrt(gap @ G @ gap), rel=1e-9)


@each_instance
def test_a_known_reward_stays_and_does_not_change_the_transitions(name):
    problem = instance(name)
    known, unknown = learned(problem, track="K")[0], learned(problem)[0]
    assert np.array_equal(known.theta_r, np.broadcast_to(problem.theta_r, known.theta_r.shape))
    assert np.array_equal(known.theta_p, unknown.theta_p)
