"""UCRL-MNL, and the features and constants that all MNL agents share, against brute force over (s, a, s')."""

import math

import numpy as np
import pytest

from befrl import agents
from befrl.agents.base import EXACT
from befrl.agents.shared import mnl
from befrl.common.errors import Refused
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import INSTANCES, full, full_U, in_family, matrices_at, play, random_episodes, samples, trained
from helpers import light as instance

FINITE = [("riverswim", {"states": 4, "horizon": 6}), ("dense", {}), ("jao", {"horizon": 5}), ("factored", {})]
MNL_AGENTS = ["ucrl-mnl", "rrl-mnl", "orrl-mnl", "ucrl-mnl-plus"]


def support(problem, s, a):
    """The reachable states of (s, a), in order."""
    return np.flatnonzero(np.isfinite(problem.model.family.base(s, a)))


def features_of(problem, s, a):
    """f(s, a, s') in R^d for all reachable s', (states, d)."""
    psi = problem.model.family.psi[support(problem, s, a)]
    return (psi - psi[0]) @ full_U(problem.model.features, s, a)


def gram(problem, i, episodes, lam):
    """lam A + sum over visits and reachable states of f f', by loops over the visits."""
    states, actions, _, _ = samples(random_episodes(problem, (0, 1), episodes), i)
    total = lam * full(problem.model.features.trace)
    for s, a in zip(states, actions, strict=True):
        f = features_of(problem, s, a)
        total = total + f.T @ f
    return total


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("algorithm", MNL_AGENTS)
def test_continuous_states_are_refused_in_one_sentence(algorithm, name):
    model, parameters = instance(name).model, agents.parameters(algorithm, {})
    if model.space.discrete:
        assert agents.specification(model, algorithm, parameters) == EXACT
        return
    with pytest.raises(Refused, match=f"agent '{algorithm}' .* needs a finite state space$"):
        agents.specification(model, algorithm, parameters)


@pytest.mark.parametrize(("name", "values"), FINITE)
def test_norms_of_features_by_loops(name, values):
    problem = instance(name, **values)
    agent = trained("ucrl-mnl", problem, lam=0.4)
    reachable, norms = agent.reachable, agent.reachable.norms(agent.design())
    longest = 0.0
    for i in range(2):
        A = gram(problem, i, 5, 0.4)
        assert np.allclose(in_family(reachable, agent.design()[i], 0.4), A, rtol=0, atol=1e-10)
        for s, a in np.ndindex(problem.R.shape):
            f, states = features_of(problem, s, a), support(problem, s, a)
            assert np.array_equal(reachable.states[s, a][reachable.real[s, a]], states)
            expected = [x @ np.linalg.solve(A, x) for x in f]
            assert np.allclose(norms[i, s, a, : len(states)], expected, rtol=0, atol=1e-10)
            assert np.all(norms[i, s, a, len(states) :] == 0)
            trace = full(problem.model.features.trace)
            longest = max(longest, max(math.sqrt(x @ np.linalg.solve(trace, x)) for x in f))
    assert reachable.L_f == pytest.approx(longest, rel=1e-12)


@pytest.mark.parametrize(("name", "values"), FINITE)
def test_kappa_is_a_lower_bound_and_no_gross_one(name, values, rng):
    """On random parameters of the sphere |theta|_A = L, and on those along single features, where the infimum lies."""
    problem = instance(name, **values)
    model = problem.model
    reachable = mnl.Reachable(model, problem.constants)
    L, trace = problem.constants["B_A"], full(model.features.trace)
    along = [f for s, a in np.ndindex(problem.R.shape) for f in features_of(problem, s, a)]
    middles = [f - g / 2 for f in along[:20] for g in along[:20]]
    thetas = np.array([np.linalg.solve(trace, x) for x in [*along, *middles, *rng.standard_normal((200, model.d))]])
    sizes = np.sqrt(np.einsum("ni,ij,nj->n", thetas, trace, thetas))
    thetas = thetas[sizes > 1e-9] * (L / sizes[sizes > 1e-9])[:, None]
    P = np.sort(reachable.probabilities(model.kernel(np.concatenate([thetas, -thetas]))), axis=-1)
    P = np.where(P == 0, np.inf, P)
    smallest = np.sort(P, axis=-1)[..., :2].prod(-1).min()
    assert 0 < reachable.kappa() <= smallest
    assert reachable.kappa() >= smallest**3


@pytest.mark.parametrize(("name", "values"), FINITE)
def test_estimate_solves_the_penalised_score_equations(name, values):
    problem = instance(name, **values)
    model = problem.model
    agent = trained("ucrl-mnl", problem, lam=0.6)
    for i in range(2):
        states, actions, _, following = samples(random_episodes(problem, (0, 1), 5), i)
        U = matrices_at(problem, states, actions)
        P = model.kernel(agent.theta[i : i + 1])[0][states, actions]
        score = np.einsum("tpd,tp->d", U, model.family.psi[following] - P @ model.family.psi)
        assert np.allclose(score, 0.6 * full(model.features.trace) @ agent.theta[i], rtol=0, atol=1e-4)


@pytest.mark.parametrize(("name", "values"), FINITE)
def test_sums_over_visits_and_over_counts_are_the_same(name, values):
    """The published algorithm visits all data in every episode; ours need not."""
    problem = instance(name, **values)
    counted, visited = (trained("ucrl-mnl", problem, likelihood=word, lam=0.6) for word in ("counts", "visits"))
    assert np.allclose(counted.theta, visited.theta, rtol=0, atol=1e-7)
    theta = np.linspace(-1, 1, counted.theta.size).reshape(counted.theta.shape)
    rows = np.array([1, 0])
    value, *slopes = counted._loss(theta, rows)
    other, *other_slopes = visited._loss_by_visits(theta, rows)
    for one, two in zip(slopes, other_slopes, strict=True):
        assert np.allclose(one, two, rtol=1e-10, atol=1e-10)
    # The values differ by what does not depend on theta: base measures and psi(s'_0).
    assert np.allclose(
        value - counted._loss(-theta, rows)[0], other - visited._loss_by_visits(-theta, rows)[0], rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(("name", "values"), FINITE)
@pytest.mark.parametrize("scale", [1e-4, "theory"])
@pytest.mark.parametrize("clip", ["Q", "values"])
def test_plan_by_loops(name, values, scale, clip):
    problem = instance(name, **values)
    H, d = problem.horizon, problem.model.d
    given = {} if scale == "theory" else {"lam": 1.0, "kappa": 1.0}
    agent = trained("ucrl-mnl", problem, "K", scale=scale, delta=0.1, clip=clip, **given)
    plan, L_f = agent.plan(5), agent.reachable.L_f
    lam, kappa, c = (max(1, L_f**2), agent.reachable.kappa(), 1) if scale == "theory" else (1.0, 1.0, scale)
    U = max(len(support(problem, s, a)) for s, a in np.ndindex(problem.R.shape))
    noise = d * math.log(1 + (5 * H + 1) * U * L_f**2 / (d * lam)) + 2 * math.log(1 / 0.1)
    beta = c / kappa * (math.sqrt(lam) * problem.constants["B_A"] + math.sqrt(noise))
    A, P = gram(problem, 0, 5, lam), problem.model.kernel(agent.theta[:1])[0]
    V = np.zeros(len(P))
    for h in reversed(range(H)):
        Q = np.empty(problem.R.shape)
        for s, a in np.ndindex(Q.shape):
            longest = max(math.sqrt(x @ np.linalg.solve(A, x)) for x in features_of(problem, s, a))
            Q[s, a] = problem.R[s, a] + P[s, a] @ V + 2 * H * beta * longest
        if clip == "Q":
            Q = np.clip(Q, 0, H)
        # Uncut values at the theory's radius are of the order of 1e8.
        assert np.allclose(Q[np.arange(len(Q)), plan.policy[0, h]], Q.max(1), rtol=1e-10, atol=1e-8)
        V = np.clip(Q.max(1), 0, H)
    assert np.allclose(plan.values[0], V, rtol=0, atol=1e-8)
    assert scale == "theory" or V.max() < H  # not all of it is cut


@pytest.mark.parametrize("algorithm", MNL_AGENTS)
def test_constants_that_are_not_given_are_the_theory_s_at_every_scale(algorithm):
    """`scale` multiplies the radius alone; a number that is given replaces the theory's in its own row only."""
    problem = instance("riverswim", states=4, horizon=6)
    key = "eta" if algorithm in ("orrl-mnl", "ucrl-mnl-plus") else "kappa"
    settings = [{}, {"scale": 0.01}, {"lam": 0.7}, {key: 0.2}]
    facts = loop.make_agent(RunSpec.of(problem, "test", algorithm, settings, 5, [0])).facts()
    radius = facts["sigma" if algorithm == "rrl-mnl" else "beta"]
    assert radius[1] == pytest.approx(0.01 * radius[0], rel=1e-12)
    assert list(facts["lam"]) == [facts["lam"][0]] * 2 + [0.7, facts["lam"][0]]
    assert list(facts[key]) == [facts[key][0]] * 3 + [0.2]
    assert facts["lam"][0] > 0.7
    assert facts[key][0] != 0.2


@pytest.mark.parametrize("kappa", [None, 0.01])
def test_theory_covers_and_is_optimistic(kappa):
    """The radius holds theta* for all 40 seeds, at delta = 0.05; kappa = 0.01 is just below P P'' at theta* itself."""
    problem = instance("riverswim", states=4, horizon=6)
    optimism = play("ucrl-mnl", problem, "K", range(40), 20, kappa=kappa)["optimism"]
    assert np.mean((optimism >= -1e-9).all(1)) >= 0.95
    agent = trained("ucrl-mnl", problem, "K", seeds=tuple(range(40)), episodes=20, kappa=kappa)
    for i in range(40):
        error = agent.theta[i] - problem.theta_p
        assert (
            math.sqrt(error @ in_family(agent.reachable, agent.design()[i], agent.lam[i]) @ error)
            <= agent.radius(20)[i]
        )
