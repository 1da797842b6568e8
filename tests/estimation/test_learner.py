"""The estimators from O(1) statistics against all-data estimators, finite differences and score equations."""

import numpy as np
import pytest
from scipy import optimize, special

from befrl.estimation import newton
from befrl.estimation.learner import Learner
from befrl.truncated_normal import TruncatedNormal
from helpers import INSTANCES, derivative, full, full_U, instance, play, random_episodes

SEEDS = (0, 1, 2, 3, 4)
CASES = [(name, {}) for name in INSTANCES] + [
    ("chain", {"reward": "truncated-exponential", "bins": 3, "horizon": 9}),
    ("chain", {"reward": "gaussian", "bins": 3, "horizon": 9}),
    ("riverswim", {"kernel": "ayoub", "states": 4, "leak": 0.05}),
]


def learned(problem, eta=1.0, seeds=SEEDS, episodes=4, known=None):
    """A learner after some episodes of random actions, and these episodes."""
    learner = Learner(problem.model, len(seeds), eta, problem.constants["alpha_p"], known)
    data = random_episodes(problem, seeds, episodes)
    for episode in data:
        learner.update(episode)
    return learner, data


def samples(data, i):
    """The raw samples (cell, action, reward, next state) of one seed."""
    for episode in data:
        parts = (episode.cells, episode.actions, episode.rewards, episode.next_states)
        yield from zip(*(part[i].tolist() for part in parts), strict=True)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(600)


def mean_statistic(problem, x, a, eta):
    """E psi at one (cell, action): a sum over the nodes; for the truncated normal over 600 nodes of its own."""
    family = problem.model.family
    if isinstance(family, TruncatedNormal):
        psi = ((NODES + 1) / 2 - 0.5)[:, None] / family.sigma
        logits = psi @ eta - 0.5 * psi[:, 0] ** 2 + np.log(WEIGHTS)
    else:
        psi = family.psi
        base = np.broadcast_to(family.log_base, (*problem.R.shape, len(psi)))[x, a]
        logits = psi @ eta + base + family.space.log_weights
    return special.softmax(logits) @ psi


def all_data_scores(problem, data, i, eta):
    """The score equations of both parameters as sums over the raw samples of seed i."""
    model, features = problem.model, problem.model.features
    A = full(features.trace)
    raw = list(samples(data, i))
    U = {(x, a): full_U(features, x, a) for x, a, _, _ in raw}
    psi = [model.family.statistic(np.array(s)) for _, _, _, s in raw]

    def transitions(theta):
        mean = {at: mean_statistic(problem, *at, u @ theta) for at, u in U.items()}
        return sum(U[x, a].T @ (psi[t] - mean[x, a]) for t, (x, a, _, _) in enumerate(raw)) - eta * A @ theta

    def rewards(theta):
        x_r = {at: u.T @ model.B for at, u in U.items()}
        mean = {at: float(model.reward.mean(v @ theta)) for at, v in x_r.items()}
        return sum(x_r[x, a] * (r - mean[x, a]) for x, a, r, _ in raw) - eta * A @ theta

    return transitions, rewards


@pytest.mark.parametrize(("name", "values"), CASES)
@pytest.mark.parametrize("eta", [0.3, 5.0])
def test_estimates_are_those_of_all_data(name, values, eta):
    problem = instance(name, **values)
    learner, data = learned(problem, eta)
    for i in (0, 3):
        transitions, rewards = all_data_scores(problem, data, i, eta)
        for score, estimate in ((transitions, learner.theta_p[i]), (rewards, learner.theta_r[i])):
            assert np.allclose(score(estimate), 0.0, rtol=0, atol=1e-7)
            solution = optimize.root(score, np.zeros(problem.model.d), tol=1e-13)
            assert np.abs(score(solution.x)).max() < 1e-9
            assert np.allclose(estimate, solution.x, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("name", "values"), CASES)
def test_losses_have_the_right_derivatives(name, values, rng):
    problem = instance(name, **values)
    learner, _ = learned(problem, eta=0.7, seeds=(0,))
    features = problem.model.features
    theta = rng.uniform(-1, 1, features.d)
    for loss in (learner.transition_loss, learner.reward_loss):

        def parts(flat, loss=loss):
            value, gradient, hessian = loss(features.split(flat[None]))
            return value[0], gradient[0].ravel(), full(hessian[0])

        _, gradient, hessian = parts(theta)
        assert np.allclose(derivative(lambda t, p=parts: p(t)[0], theta), gradient, rtol=1e-8, atol=1e-8)
        assert np.allclose(derivative(lambda t, p=parts: p(t)[1], theta), hessian, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", INSTANCES)
def test_loss_is_the_negative_log_likelihood_of_the_samples(name, rng):
    """Up to the terms without theta: differences of the loss are differences of sum -log p + penalty."""
    problem = instance(name)
    model, features = problem.model, problem.model.features
    learner, data = learned(problem, eta=0.7, seeds=(0,))
    A = full(features.trace)

    def direct(theta):
        transitions = rewards = 0.35 * theta @ A @ theta
        Z = model.family.log_partition(features.natural(theta[None]))[0]
        for x, a, r, s in samples(data, 0):
            u = full_U(features, x, a)
            transitions += Z[x, a] - model.family.statistic(np.array(s)) @ u @ theta
            c = theta @ u.T @ model.B
            rewards += float(model.reward.log_partition(c)) - r * c
        return transitions, rewards

    one, other = rng.uniform(-1, 1, (2, features.d))
    for i, loss in enumerate((learner.transition_loss, learner.reward_loss)):
        values = [loss(features.split(theta[None]))[0][0] for theta in (one, other)]
        assert values[0] - values[1] == pytest.approx(direct(one)[i] - direct(other)[i], abs=1e-9)


@pytest.mark.parametrize("name", INSTANCES)
def test_the_stored_hessian_is_that_of_the_estimate(name):
    problem = instance(name)
    learner, _ = learned(problem)
    split = problem.model.features.split
    # Newton's last step is of order 1e-5 in the Hessian's norm, and so is what the Hessian misses.
    for stored, loss, theta in (
        (learner.hessian_p, learner.transition_loss, learner.theta_p),
        (learner.hessian_r, learner.reward_loss, learner.theta_r),
    ):
        assert np.allclose(stored, loss(split(theta))[2], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", INSTANCES)
def test_without_data_the_estimates_are_zero(name):
    problem = instance(name)
    learner = Learner(problem.model, 3, 2.0, problem.constants["alpha_p"])
    start = np.random.default_rng(0).standard_normal(learner.theta_p.shape) * 10
    assert np.array_equal(learner.theta_p, np.zeros((3, problem.model.d)))
    assert np.array_equal(learner.theta_r, np.zeros((3, problem.model.d)))
    for loss in (learner.transition_loss, learner.reward_loss):
        theta, hessian = newton.minimise(loss, problem.model.features.split(start))
        assert np.allclose(theta, 0.0, rtol=0, atol=1e-12)
        assert np.allclose(hessian, 2.0 * problem.model.features.trace, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("size", [5.0, 50.0, 1000.0])
def test_newton_converges_from_far_starts(name, size):
    problem = instance(name)
    learner, _ = learned(problem)
    start = size * np.random.default_rng(1).choice([-1.0, 1.0], learner.theta_p.shape)
    for loss, theta in ((learner.transition_loss, learner.theta_p), (learner.reward_loss, learner.theta_r)):
        far, _ = newton.minimise(loss, problem.model.features.split(start))
        assert np.allclose(far.reshape(theta.shape), theta, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("eta", [1e-6, 1e-4, 1e-2])
def test_newton_converges_with_little_penalty_and_data(name, eta):
    """After few episodes the likelihood alone may have no maximum: 100 seeds, each refitted ten times."""
    log = play("exp-psrl", instance(name), "K", range(100), 10, eta=eta)
    assert np.all(np.isfinite(log["error_p"]))


@pytest.mark.parametrize("name", INSTANCES)
def test_a_reward_that_is_no_number_is_not_learned_from(name):
    problem = instance(name)
    learner = Learner(problem.model, 1, 1.0, problem.constants["alpha_p"])
    (episode,) = random_episodes(problem, (0,), 1)
    rewards = episode.rewards.copy()
    rewards[0, 0] = np.nan
    with np.errstate(invalid="ignore"), pytest.raises(newton.NotConverged):
        learner.update(type(episode)(episode.cells, episode.actions, rewards, episode.next_states))


@pytest.mark.parametrize("name", INSTANCES)
def test_a_seed_has_the_same_bits_alone(name):
    problem = instance(name)
    block, _ = learned(problem, episodes=10)
    alone, _ = learned(problem, seeds=(3,), episodes=10)
    for key in ("counts", "sum_psi", "sum_reward", "theta_p", "theta_r", "hessian_p", "hessian_r"):
        assert np.array_equal(getattr(block, key)[3], getattr(alone, key)[0])
    assert np.array_equal(block.design()[3], alone.design()[0])
    assert np.array_equal(block.feature_norms(block.design())[3], alone.feature_norms(alone.design())[0])


@pytest.mark.parametrize("name", INSTANCES)
def test_design_norms_and_errors_by_direct_sums(name):
    problem = instance(name)
    features, eta = problem.model.features, 0.7
    learner, data = learned(problem, eta)
    design = learner.design()
    for i in (0, 4):
        G = eta / problem.constants["alpha_p"] * full(features.trace)
        for x, a, _, _ in samples(data, i):
            G += full_U(features, x, a).T @ full_U(features, x, a)
        assert np.allclose(full(design[i]), G, rtol=1e-12, atol=1e-10)
        for x in range(features.n_cells):
            u = full_U(features, x, 1)
            norm = np.trace(u @ np.linalg.inv(G) @ u.T)
            assert learner.feature_norms(design)[i, x, 1] == pytest.approx(norm, rel=1e-9)
        gaps = learner.theta_p[i] - problem.theta_p, learner.theta_r[i] - problem.theta_r
        for error, gap in zip(learner.errors(problem.theta_p, problem.theta_r, design), gaps, strict=True):
            assert error[i] == pytest.approx(np.sqrt(gap @ G @ gap), rel=1e-9)


@pytest.mark.parametrize("name", INSTANCES)
def test_a_known_reward_stays_and_does_not_touch_the_transitions(name):
    problem = instance(name)
    known, _ = learned(problem, known=problem.theta_r)
    unknown, _ = learned(problem)
    assert np.array_equal(known.theta_r, np.broadcast_to(problem.theta_r, known.theta_r.shape))
    assert np.array_equal(known.theta_p, unknown.theta_p)


@pytest.mark.parametrize("name", INSTANCES)
def test_estimates_approach_the_truth(name):
    """|theta^ - theta*|_H^2 stays of order d while H grows: at 5 d plus the penalty's pull, chi-square has no chance.

    P(chi^2_d > 5 d) < 1e-4 for d >= 5, and the penalty adds at most eta |theta*|_A^2.
    """
    problem = instance(name)
    learner, _ = learned(problem, seeds=tuple(range(10)), episodes=60)
    features = problem.model.features
    A = full(features.trace)
    pairs = (
        (learner.theta_p, problem.theta_p, learner.hessian_p),
        (learner.theta_r, problem.theta_r, learner.hessian_r),
    )
    for estimates, truth, hessians in pairs:
        for estimate, hessian in zip(estimates, hessians, strict=True):
            gap = estimate - truth
            size = np.sqrt(gap @ full(hessian) @ gap)
            assert size < np.sqrt(5 * features.d) + np.sqrt(truth @ A @ truth)
