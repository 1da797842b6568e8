"""The four MNL agents, and the features and constants that they share, against brute force over (s, a, s')."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import optimize, stats

from befrl.agents.shared import mnl
from befrl.agents.shared.mirror_descent import OnlineEstimator
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import full, full_U, in_family, matrices_at, play, random_episodes, samples, trained
from helpers import light as instance

SIX = {"horizon": 6}
FINITE = {"riverswim": {"states": 4} | SIX, "dense": SIX, "jao": {"horizon": 5}, "factored": SIX}
each_instance = pytest.mark.parametrize("name", FINITE)


def small(name="riverswim"):
    return instance(name, **FINITE[name])


def features_of(problem, s, a):
    """Reachable states of (s, a) and f(s, a, s') in R^d for each, (states, d)."""
    states = np.flatnonzero(np.isfinite(problem.model.family.base(s, a)))
    psi = problem.model.family.psi[states]
    return states, (psi - psi[0]) @ full_U(problem.model.features, s, a)


def length(x, matrix):
    """|x| in matrix^-1."""
    return math.sqrt(x @ np.linalg.solve(matrix, x))


def matrix_of(agent, i=0):
    """The matrix of an online estimator in the family's coordinates."""
    return in_family(agent.reachable, agent.estimator.matrix[i], agent.estimator.lam[i])


# Features and constants.


@each_instance
def test_norms_of_features_by_loops(name):
    problem = small(name)
    agent = trained("ucrl-mnl", problem, lam=0.4)
    reachable, norms = agent.reachable, agent.reachable.norms(agent.design())
    trace, longest = full(problem.model.features.trace), 0.0
    for i in range(2):
        A = gram(problem, i, 5, 0.4)
        assert np.allclose(in_family(reachable, agent.design()[i], 0.4), A, rtol=0, atol=1e-10)
        for s, a in np.ndindex(problem.R.shape):
            states, f = features_of(problem, s, a)
            assert np.array_equal(reachable.states[s, a][reachable.real[s, a]], states)
            assert np.allclose(norms[i, s, a, : len(states)], [length(x, A) ** 2 for x in f], rtol=0, atol=1e-10)
            assert np.all(norms[i, s, a, len(states) :] == 0)
            longest = max(longest, max(length(x, trace) for x in f))
    assert reachable.L_f == pytest.approx(longest, rel=1e-12)


@each_instance
def test_kappa_is_a_lower_bound_and_not_a_gross_one(name, rng):
    """On random parameters of the sphere |theta|_A = L, and on those along single features, where the infimum lies."""
    problem = small(name)
    model, reachable = problem.model, mnl.Reachable(problem.model, problem.constants)
    L, trace = problem.constants["B_A"], full(model.features.trace)
    along = [f for s, a in np.ndindex(problem.R.shape) for f in features_of(problem, s, a)[1]]
    middles = [f - g / 2 for f in along[:20] for g in along[:20]]
    thetas = np.array([np.linalg.solve(trace, x) for x in [*along, *middles, *rng.standard_normal((200, model.d))]])
    sizes = np.sqrt(np.einsum("ni,ij,nj->n", thetas, trace, thetas))
    thetas = thetas[sizes > 1e-9] * (L / sizes[sizes > 1e-9])[:, None]
    P = reachable.probabilities(model.kernel(np.concatenate([thetas, -thetas])))
    smallest = np.sort(np.where(P == 0, np.inf, P), axis=-1)[..., :2].prod(-1).min()
    assert 0 < reachable.kappa() <= smallest
    assert reachable.kappa() >= smallest**3


@pytest.mark.parametrize("algorithm", ["ucrl-mnl", "rrl-mnl", "orrl-mnl", "ucrl-mnl-plus"])
def test_constants_that_are_not_given_are_the_theory_s_at_every_scale(algorithm):
    """`scale` multiplies the radius alone; a number that is given replaces the theory's in its own row only."""
    key = "eta" if algorithm in ("orrl-mnl", "ucrl-mnl-plus") else "kappa"
    settings = [{}, {"scale": 0.01}, {"lam": 0.7}, {key: 0.2}]
    facts = loop.make_agent(RunSpec.of(small(), "test", algorithm, settings, 5, [0])).facts()
    radius = facts["sigma" if algorithm == "rrl-mnl" else "beta"]
    assert radius[1] == pytest.approx(0.01 * radius[0], rel=1e-12)
    assert list(facts["lam"]) == [facts["lam"][0]] * 2 + [0.7, facts["lam"][0]]
    assert list(facts[key]) == [facts[key][0]] * 3 + [0.2]
    assert facts["lam"][0] > 0.7
    assert facts[key][0] != 0.2


# Online estimators.


def argmin_in_ball(gradient, matrix, start, trace, L):
    """argmin of |x - start|^2_matrix/2 + gradient . x over |x|_trace <= L, by a general optimiser; if on the edge."""
    free = start - np.linalg.solve(matrix, gradient)
    if free @ trace @ free <= L**2:
        return free, False
    found = optimize.minimize(
        lambda x: 0.5 * (x - start) @ matrix @ (x - start) + gradient @ x,
        start,
        jac=lambda x: matrix @ (x - start) + gradient,
        constraints={"type": "ineq", "fun": lambda x: L**2 - x @ trace @ x, "jac": lambda x: -2 * trace @ x},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x, True


def hessian(problem, theta, s, a):
    """sum over s' of P fbar fbar'."""
    states, f = features_of(problem, s, a)
    P = problem.model.kernel(theta[None])[0, s, a, states]
    return sum(p * np.outer(x, x) for p, x in zip(P, f - P @ f, strict=True))


@each_instance
@pytest.mark.parametrize("kind", ["gram", "mirror", "mirror by theory"])
def test_each_online_step_is_its_argmin_and_matrices_add_up(name, kind):
    """Small penalties and a small ball, so that some steps end on its edge."""
    problem = small(name)
    reachable, kappa = mnl.Reachable(problem.model, problem.constants), 0.2
    if kind == "gram":
        reachable.L_theta = 1.5
        estimator = OnlineEstimator(reachable, 2, np.full(2, 0.05), kappa=np.full(2, kappa))
    elif kind == "mirror":
        reachable.L_theta = 1.2
        estimator = OnlineEstimator(reachable, 2, np.array([0.3, 0.5]), np.array([2.0, 3.0]))
    else:
        estimator = trained("orrl-mnl", problem, episodes=0).estimator
    etas, trace = np.broadcast_to(estimator.eta, 2), full(problem.model.features.trace)
    matrices, edges = [lam * trace for lam in estimator.lam], 0
    for episode, h in ((t, h) for t in random_episodes(problem, (0, 1), 3) for h in range(problem.horizon)):
        parts = {part.name: getattr(episode, part.name)[:, h : h + 1] for part in dataclasses.fields(episode)}
        before = reachable.whole(estimator.theta)
        estimator.update(dataclasses.replace(episode, **parts))
        for i in range(2):
            s, a, following = (parts[key][i, 0] for key in ("cells", "actions", "next_states"))
            states, f = features_of(problem, s, a)
            gradient = (problem.model.kernel(before[i][None])[0, s, a, states] - (states == following)) @ f
            grown = kappa / 2 * f.T @ f if kind == "gram" else etas[i] * hessian(problem, before[i], s, a)
            metric = matrices[i] + grown
            expected, edge = argmin_in_ball(gradient, metric / etas[i], before[i], trace, reachable.L_theta)
            edges += edge
            now = reachable.whole(estimator.theta)[i]
            assert np.allclose(now, expected, rtol=0, atol=1e-5)
            matrices[i] = metric if kind == "gram" else matrices[i] + hessian(problem, now, s, a)
            found = in_family(reachable, estimator.matrix[i], estimator.lam[i])
            assert np.allclose(found, matrices[i], rtol=1e-12, atol=1e-12)
    assert edges > 3 or kind == "mirror by theory"


def test_projection_leaves_points_inside_the_ball():
    problem = instance("dense")
    estimator = OnlineEstimator(mnl.Reachable(problem.model, problem.constants), 2, np.ones(2))
    estimator.theta[:] = 1e-3
    estimator.project(None, None)
    assert np.all(estimator.theta == 1e-3)


def test_mirror_descent_approaches_the_truth():
    """At the step size of least squares: 40 times the data divide the squared error by five at least."""
    problem, errors = instance("jao", horizon=20), []
    for k in (5, 200):
        agent = trained("ucrl-mnl-plus", problem, seeds=tuple(range(20)), episodes=k, lam=1.0, eta=1.0)
        errors.append(np.square(agent.reachable.whole(agent.estimator.theta) - problem.theta_p).sum(-1).mean())
    assert errors[1] < errors[0] / 5


def test_constants_of_mirror_descent_by_hand():
    agent = trained("orrl-mnl", small(), delta=0.1)
    r, d, U, t, H = agent.reachable, 24, 3, 5 * 6 + 1, 6
    alpha, loss = math.log(U) + 2 * (1 + r.L_f * r.L_theta), 3 * math.log(U * t) + r.L_f * r.L_theta
    lam = max(12 * math.sqrt(2) * r.L_f**3 * alpha, 48 * r.L_f**2 * d * alpha)
    gamma_A = 5 / 4 * loss * lam + 2 + 4 * loss * math.log(H * math.sqrt(1 + 2 * t) / 0.1)
    gamma_B = math.sqrt(6) * (2 * alpha / 3) * d * math.log(1 + 2 * t * r.L_f**2 / (d * lam))
    assert r.L_f == pytest.approx(math.sqrt(2))
    assert agent.facts()["lam"] == pytest.approx(lam)
    assert agent.facts()["eta"] == pytest.approx(alpha / 2)
    assert agent.radius(5) == pytest.approx(math.sqrt(alpha * gamma_A + alpha * gamma_B + lam * r.L_theta**2))
    assert agent.samples == math.ceil(1 - math.log(H * U) / math.log(stats.norm.cdf(1)))


# Plans.


def check_plan(plan, i, R, P, bonuses, clip, rtol=0.0):
    """Q_h = R + P V_{h+1} + bonus_h with Q or V clipped to `clip`, step by step; returns V_1."""
    V = np.zeros(len(P))
    for h in reversed(range(len(bonuses))):
        Q = R + P @ V + bonuses[h]
        if clip[0] == "Q":
            Q = np.clip(Q, *clip[1:])
        assert np.allclose(Q[np.arange(len(V)), plan.policy[i, h]], Q.max(1), rtol=rtol, atol=1e-8)
        V = np.clip(Q.max(1), *clip[1:])
    assert np.allclose(plan.values[i], V, rtol=0, atol=1e-8)
    return V


class Recorded:
    """A stream that keeps what it gave."""

    def __init__(self, stream):
        self.stream, self.given = stream, []

    def take(self, m):
        self.given.append(self.stream.take(m).copy())
        return self.given[-1]


def recorded(algorithm, scale, **given):
    """An agent on features that all share one block, its plan, the kernel, the matrix, and xi/sigma, (H, d, M)."""
    problem = instance("dense")
    agent = trained(algorithm, problem, "K", seeds=(0,), scale=scale, delta=0.1, **({} if scale == "theory" else given))
    normals = Recorded(agent.problem.normals)
    agent.problem = dataclasses.replace(agent.problem, normals=normals)
    plan, B = agent.plan(5), matrix_of(agent)
    z = normals.given[0].reshape(problem.model.d, agent.samples, problem.horizon)
    xi = [np.linalg.solve(np.linalg.cholesky(B).T, z[..., h]) for h in range(problem.horizon)]
    return problem, agent, plan, agent.kernel()[0], B, xi


@pytest.mark.parametrize("scale", [1e-4, "theory"])
def test_plan_of_rrl_mnl_by_loops_from_the_same_normals(scale):
    problem, agent, plan, P, A, xi = recorded("rrl-mnl", scale, lam=1.0, kappa=1 / 16)
    r, H, d = agent.reachable, problem.horizon, problem.model.d
    kappa, lam = (r.kappa(), r.L_f**2) if scale == "theory" else (1 / 16, 1.0)
    t, size = 5 * H + 1, r.L_f * r.L_theta
    alpha = math.sqrt(
        8 * d / kappa * math.log(1 + t * 4 * r.L_f**2 / (d * lam))
        + (32 * size / 3 + 16 / kappa) * math.log((1 + math.ceil(2 * math.log2(t * 4 * size))) * t**2 / 0.1)
        + 2 * math.sqrt(2)
        + 2 * lam * r.L_theta**2
    )
    sigma, noise = (1 if scale == "theory" else scale) * H * alpha, np.empty((H, *problem.R.shape))
    for h, s, a in np.ndindex(noise.shape):
        fhat = max(features_of(problem, s, a)[1], key=lambda x: length(x, A))
        noise[h, s, a] = sigma * max(fhat @ xi[h])
    V = check_plan(plan, 0, problem.R, P, noise, ("Q", -np.inf, H))
    assert scale == "theory" or V.max() < H  # not all of it is cut
    assert agent.samples == math.ceil(1 - math.log(H) / math.log(stats.norm.cdf(1)))


@pytest.mark.parametrize("scale", [1e-4, "theory"])
def test_plan_of_orrl_mnl_by_loops_from_the_same_normals(scale):
    problem, agent, plan, kernel, B, xi = recorded("orrl-mnl", scale, lam=1.0, eta=1.0)
    H, beta, nu = problem.horizon, agent.radius(5)[0], np.empty((problem.horizon, *problem.R.shape))
    for h, s, a in np.ndindex(nu.shape):
        states, f = features_of(problem, s, a)
        P = kernel[s, a, states]
        first = sum(p * H * beta * max(x @ xi[h]) for p, x in zip(P, f - P @ f, strict=True))
        nu[h, s, a] = first + 3 * H * beta**2 * max(length(x, B) for x in f) ** 2
    V = check_plan(plan, 0, problem.R, kernel, nu, ("Q", -np.inf, H))
    assert scale == "theory" or V.max() < H  # not all of it is cut


@each_instance
@pytest.mark.parametrize("scale", [1e-5, "theory"])
def test_bonus_and_plan_of_ucrl_mnl_plus_by_loops(name, scale):
    problem = small(name)
    H, agent = problem.horizon, trained("ucrl-mnl-plus", problem, "K", scale=scale)
    plan, beta, kernel = agent.plan(5), agent.radius(5), agent.kernel()
    for i in range(2):
        B, nu = matrix_of(agent, i), np.empty(problem.R.shape)
        for s, a in np.ndindex(nu.shape):
            states, f = features_of(problem, s, a)
            P = kernel[i, s, a, states]
            first = sum(p * length(x, B) for p, x in zip(P, f - P @ f, strict=True))
            nu[s, a] = H * beta[i] * first + 3 * H * beta[i] ** 2 * max(length(x, B) for x in f) ** 2
        assert np.allclose(agent.bonus(5, kernel)[i], nu, rtol=1e-9, atol=1e-12)
        V = check_plan(plan, i, problem.R, kernel[i], [nu] * H, ("V", -np.inf, H), rtol=1e-9)
        assert scale == "theory" or V.min() < H  # not all of it is cut


def gram(problem, i, episodes, lam):
    """lam A + sum over visits and reachable states of f f', by loops over the visits."""
    visits = zip(*samples(random_episodes(problem, (0, 1), episodes), i)[:2], strict=True)
    features = [features_of(problem, s, a)[1] for s, a in visits]
    return lam * full(problem.model.features.trace) + sum(f.T @ f for f in features)


@each_instance
@pytest.mark.parametrize(("scale", "clip"), [(1e-4, "Q"), ("theory", "Q"), (1e-4, "values"), ("theory", "values")])
def test_plan_of_ucrl_mnl_by_loops(name, scale, clip):
    problem = small(name)
    H, d, given = problem.horizon, problem.model.d, {} if scale == "theory" else {"lam": 1.0, "kappa": 1.0}
    agent = trained("ucrl-mnl", problem, "K", scale=scale, delta=0.1, clip=clip, **given)
    plan, L_f = agent.plan(5), agent.reachable.L_f
    lam, kappa, c = (max(1, L_f**2), agent.reachable.kappa(), 1) if scale == "theory" else (1.0, 1.0, scale)
    features = {at: features_of(problem, *at)[1] for at in np.ndindex(problem.R.shape)}
    U = max(map(len, features.values()))
    noise = d * math.log(1 + (5 * H + 1) * U * L_f**2 / (d * lam)) + 2 * math.log(1 / 0.1)
    beta = c / kappa * (math.sqrt(lam) * problem.constants["B_A"] + math.sqrt(noise))
    A, P = gram(problem, 0, 5, lam), problem.model.kernel(agent.theta[:1])[0]
    bonus = [2 * H * beta * max(length(x, A) for x in f) for f in features.values()]
    bonus = np.reshape(bonus, problem.R.shape)
    # Uncut values at the theory's radius are of the order of 1e8.
    V = check_plan(plan, 0, problem.R, P, [bonus] * H, (clip, 0, H), rtol=1e-10)
    assert scale == "theory" or V.max() < H  # not all of it is cut


# The maximum likelihood of UCRL-MNL.


@each_instance
def test_estimate_of_ucrl_mnl_solves_the_penalised_score_equations(name):
    """Sums over visits, as published, and over counts give the same losses and estimates."""
    problem = small(name)
    model = problem.model
    counted, visited = (trained("ucrl-mnl", problem, likelihood=word, lam=0.6) for word in ("counts", "visits"))
    for i in range(2):
        states, actions, _, following = samples(random_episodes(problem, (0, 1), 5), i)
        U = matrices_at(problem, states, actions)
        P = model.kernel(counted.theta[i : i + 1])[0][states, actions]
        score = np.einsum("tpd,tp->d", U, model.family.psi[following] - P @ model.family.psi)
        assert np.allclose(score, 0.6 * full(model.features.trace) @ counted.theta[i], rtol=0, atol=1e-4)
    assert np.allclose(counted.theta, visited.theta, rtol=0, atol=1e-7)
    theta, rows = np.linspace(-1, 1, counted.theta.size).reshape(counted.theta.shape), np.array([1, 0])
    (value, *slopes), (other, *other_slopes) = counted._loss(theta, rows), visited._loss_by_visits(theta, rows)
    for one, two in zip(slopes, other_slopes, strict=True):
        assert np.allclose(one, two, rtol=1e-10, atol=1e-10)
    # The values differ by what does not depend on theta: base measures and psi(s'_0).
    back, other_back = counted._loss(-theta, rows)[0], visited._loss_by_visits(-theta, rows)[0]
    assert np.allclose(value - back, other - other_back, rtol=0, atol=1e-9)


# Noise.


@each_instance
def test_noise_has_the_covariance_of_xi_along_all_features(name):
    """Of f' xi, xi ~ N(0, A^-1), over all (s, a, s'), within 5 standard errors; 20,000 draws."""
    agent = trained("rrl-mnl", small(name), seeds=(0,))
    r, draws = agent.reachable, 20_000
    z = r.normals(agent.problem.normals, draws, 1, r.random)[:, 0, :, 0]
    noise = np.zeros((r.block.size, r.U, draws))
    noise[r.random] = np.einsum("ixr,imx->xrm", r.turned(agent.estimator.matrix)[:, 0, r.random], z)
    noise, f = noise.reshape(-1, draws), (r.contrast @ r.features.U).reshape(-1, r.features.m)
    whole = np.zeros((len(f), r.features.n_blocks, r.features.m))
    whole[np.arange(len(f)), np.repeat(r.features.block.ravel(), r.U)] = f
    whole = whole.reshape(len(f), -1)
    covariance = whole @ np.linalg.solve(matrix_of(agent), whole.T)
    variances = np.diag(covariance)
    error = np.sqrt((np.outer(variances, variances) + covariance**2) / draws)
    assert np.all(np.abs(noise @ noise.T / draws - covariance) <= 5 * error + 1e-12)
    assert np.all(np.abs(noise.mean(1)) <= 5 * np.sqrt(variances / draws) + 1e-12)


def test_noise_of_own_blocks_is_the_maximum_of_normals():
    """One draw from Phi^M times the largest |f|_{A^-1}, independent for all (s, a), by Kolmogorov's distance."""
    problem = instance("riverswim", states=3, horizon=5)
    agent = trained("rrl-mnl", problem, seeds=(0,))
    A = matrix_of(agent)
    draws = np.concatenate([agent.noise() for _ in range(2000)]).reshape(10_000, *problem.R.shape)
    for s, a in np.ndindex(problem.R.shape):
        width = max(length(x, A) for x in features_of(problem, s, a)[1])
        if width == 0:
            assert np.all(draws[:, s, a] == 0)
        else:
            distance = stats.kstest(draws[:, s, a] / width, lambda z: stats.norm.cdf(z) ** agent.samples).statistic
            assert distance < 2.5 / math.sqrt(len(draws))
    correlations = np.corrcoef(draws.reshape(len(draws), -1)[:, agent.reachable.random].T)
    assert np.abs(correlations - np.eye(len(correlations))).max() < 5 / math.sqrt(len(draws))


@each_instance
def test_noise_of_orrl_mnl_has_the_law_of_the_maxima(name):
    """Against maxima of draws of xi itself, by Kolmogorov's distance; two reachable states have a range instead."""
    problem = small(name)
    agent = trained("orrl-mnl", problem, seeds=(0,), lam=1.0, eta=1.0)
    rng, draws, kernel = np.random.default_rng(3), 400 * problem.horizon, agent.kernel()
    P, centred, _ = agent.features(kernel)
    found = np.concatenate([agent.noise(P * centred)[0] for _ in range(400)]).reshape(draws, *problem.R.shape)
    root = np.linalg.cholesky(np.linalg.inv(matrix_of(agent)))
    for s, a in np.ndindex(problem.R.shape):
        states, f = features_of(problem, s, a)
        p, xi = kernel[0, s, a, states], rng.standard_normal((draws, agent.samples, len(root)))
        expected = (xi @ (root.T @ (f - p @ f).T)).max(1) @ p
        if len(states) == 1:
            assert np.all(found[:, s, a] == 0)
        else:
            assert stats.ks_2samp(found[:, s, a], expected).pvalue > 1e-5


# Coverage and optimism.


@pytest.mark.parametrize("algorithm", ["rrl-mnl", "orrl-mnl"])
def test_theoretical_noise_is_optimistic_often_enough(algorithm):
    """Lemmas 6 and 18: with probability Phi(-1)/2 = 0.079 at least; at theory's sigma nearly always."""
    optimism = play(algorithm, instance("riverswim", states=3, horizon=6), "K", range(30), 15)["optimism"]
    assert np.mean(optimism >= -1e-9) >= 0.079


@pytest.mark.parametrize(("algorithm", "kappa"), [("ucrl-mnl", None), ("ucrl-mnl", 0.01), ("ucrl-mnl-plus", None)])
def test_theoretical_radius_covers_and_is_optimistic(algorithm, kappa):
    """The radius holds theta* for all 40 seeds, at delta = 0.05; kappa = 0.01 is just below P P'' at theta* itself."""
    problem, values = small(), {} if kappa is None else {"kappa": kappa}
    optimism = play(algorithm, problem, "K", range(40), 20, **values)["optimism"]
    assert np.mean((optimism >= -1e-9).all(1)) >= (0.95 if algorithm == "ucrl-mnl" else 1.0)
    agent = trained(algorithm, problem, "K", seeds=tuple(range(40)), episodes=20, **values)
    for i in range(40):
        if algorithm == "ucrl-mnl":
            theta, matrix = agent.theta[i], in_family(agent.reachable, agent.design()[i], agent.lam[i])
        else:
            theta, matrix = agent.reachable.whole(agent.estimator.theta)[i], matrix_of(agent, i)
        error = theta - problem.theta_p
        assert math.sqrt(error @ matrix @ error) <= agent.radius(20)[i]
