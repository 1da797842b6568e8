"""Densities, moments, draws and optimal values of every family of next-state laws, on every instance and some variants.

Each is compared with a computation that shares none of the package's nodes, weights or closed forms.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special, stats

from befrl.experiment.environment import CellLaws, SmoothLaws
from befrl.learning import likelihood
from befrl.learning.data import Data
from befrl.numerics import bellman
from helpers import INSTANCES, Continuum, derivative, fine_laws, full, full_U, instance

CASES = [
    *[(name, {}) for name in INSTANCES],
    ("chain", {"bins": 5, "sigma": 0.3, "reward": "gaussian"}),
    ("chain", {"bins": 3, "sigma": 0.03, "left": 0.4, "horizon": 12}),
    ("literal", {"bins": 3, "margin": 0.01}),
    ("riverswim", {"kernel": "ayoub", "states": 4, "leak": 0.05}),
    ("jao", {"arms": 2, "rate": 0.01}),
    ("factored", {"machines": 2}),
    ("circle", {"knots": 4, "kappa": 1.0, "horizon": 10}),
    ("circle", {"knots": 6, "kappa": 60.0, "horizon": 10}),
    ("lds", {"sigma": 1.0, "pull": -0.6, "bound": 1.5}),
    ("lds", {"dimension": 2, "horizon": 8}),
]


def identity(case):
    name, values = case
    return "-".join([name, *(f"{key}={value}" for key, value in values.items())])


each_case = pytest.mark.parametrize("case", CASES, ids=identity)


def build(case):
    name, values = case
    return instance(name, **values)


def some_pairs(problem, rng, count):
    """Random (anchor, action), all of them if there are few."""
    pairs = list(np.ndindex(problem.R.shape))
    return [pairs[i] for i in rng.permutation(len(pairs))[:count]]


def true_naturals(problem):
    return problem.model.features.natural(problem.theta_p[None])[0]


def naturals(problem, rng, count):
    """(anchor, action) and natural parameters there: those of the truth, and any of the compact set."""
    truth = true_naturals(problem)
    for x, a in some_pairs(problem, rng, count):
        yield x, a, truth[x, a]
        direction = rng.standard_normal(problem.model.family.p)
        yield x, a, rng.random() * problem.constants["radius_p"] * direction / np.linalg.norm(direction)


def alone(problem, x, a):
    """Z, E psi and Cov psi of one (anchor, action) as functions of eta (p,)."""
    family = problem.model.family.restricted(x, a)
    return lambda eta: [part[0, 0, 0] for part in family.moments(np.asarray(eta)[None, None, None])]


def edges_of(space):
    return space.edges[0] if isinstance(space.edges, tuple) else space.edges


@each_case
def test_densities_integrate_to_one(case, rng):
    """By scipy's adaptive rule over the whole space, far beyond the box where that stands for all of R."""
    problem = build(case)
    family, space = problem.model.family, problem.model.space

    def density(s, eta, Z):
        return float(np.exp(family.statistic(s) @ eta + family.log_base_at(s) - Z))

    for x, a, eta in naturals(problem, rng, 1):
        Z = family.restricted(x, a).log_partition(eta[None, None, None])[0, 0, 0]
        if space.discrete:
            total = np.exp(family.psi @ eta + family.base(x, a) - Z).sum()
        elif space.dim == 2:
            ends = [family.sigma * (e + 9.0 * sign) for e in eta for sign in (-1, 1)]
            plane = lambda v, u, eta=eta, Z=Z: density(np.array([u, v]), eta, Z)  # noqa: E731
            total = integrate.dblquad(plane, *ends, epsabs=1e-9)[0]
        else:
            ends = edges_of(space)
            if space.unbounded:
                ends = np.concatenate([[ends[0] - 10.0], ends, [ends[-1] + 10.0]])
            line = lambda s, eta=eta, Z=Z: density(np.array(s), eta, Z)  # noqa: E731
            total = sum(integrate.quad(line, low, high, epsabs=1e-12)[0] for low, high in pairwise(ends))
        # Where there is no closed form Z is a sum over the instance's own nodes, exact to 2e-7.
        assert total == pytest.approx(1.0, abs=2e-7 if problem.model.smooth else 1e-10)


@each_case
def test_moments_are_derivatives_of_the_log_partition_and_make_the_hessian(case, rng):
    """E psi = dZ, Cov psi = dE psi by differences; and a visit adds U' Cov U to the Hessian of the likelihood."""
    problem, laws = build(case), fine_laws(case[0], **case[1])
    model, data = problem.model, Data(problem.model, 1)
    for x, a, eta in naturals(problem, rng, 2):
        moments = alone(problem, x, a)
        Z, mean, cov = moments(eta)
        size = max(1.0, np.abs(cov).max())
        assert np.allclose(derivative(lambda e: moments(e)[0], eta), mean, rtol=0, atol=1e-9 * size)  # noqa: B023
        assert np.allclose(derivative(lambda e: moments(e)[1], eta), cov, rtol=0, atol=1e-9 * size)  # noqa: B023
        for mine, other in zip((Z, mean, cov), laws.moments(eta, x, a), strict=True):
            assert np.allclose(mine, other, rtol=0, atol=1e-6 * size if model.smooth else 1e-9 * size)
    theta, (x, a) = rng.uniform(-1, 1, model.d), some_pairs(problem, rng, 1)[0]
    data.counts[0, x, a] = 1.0
    U = full_U(model.features, x, a)
    hessian = full(likelihood.transitions(model, data, 0.5, theta[None])[2][0])
    expected = U.T @ alone(problem, x, a)(U @ theta)[2] @ U + 0.5 * full(model.features.trace)
    assert np.allclose(hessian, expected, rtol=1e-10, atol=1e-10)


def draws(problem, x, a, m, rng):
    """m next states of one (anchor, action), as the environment makes them."""
    space, laws = problem.model.space, SmoothLaws(problem) if problem.model.smooth else CellLaws(problem)
    s = np.repeat(space.nodes[space.node_anchor == x][:1], m, axis=0)
    u = rng.random(m) if space.dim == 1 else rng.random((m, space.dim))
    return laws.next_state(s, space.cell(s), np.full(m, a), u)


def pooled(counts, expected=None):
    """Counts of the states that are expected ten times or more, the rest of them added to the commonest."""
    expected = counts if expected is None else expected
    often = expected >= 10
    kept = counts[often].astype(float)
    kept[expected[often].argmax()] += counts[~often].sum()
    return kept


def fine_cdf(problem, eta):
    """The CDF of a law on an interval: Simpson sums of its density at 20,001 points, linear in between."""
    family, ends = problem.model.family, edges_of(problem.model.space)
    s = np.linspace(ends[0], ends[-1], 20_001)
    exponent = [family.statistic(at) @ eta + family.log_base_at(at) for at in (s, (s[:-1] + s[1:]) / 2)]
    at_nodes, at_middles = (np.exp(part - exponent[0].max()) for part in exponent)
    total = np.concatenate([[0.0], np.cumsum(at_nodes[:-1] + 4 * at_middles + at_nodes[1:])])
    return lambda values: np.interp(values, s, total / total[-1])


@each_case
def test_draws_follow_the_law(case):
    """Kolmogorov-Smirnov, or chi-square for finitely many states, at level 1e-5: below 1e-3 of all seeds would fail."""
    problem, rng, m = build(case), np.random.default_rng(11), 4_000
    space, truth, tested = problem.model.space, true_naturals(problem), 0
    for x, a in some_pairs(problem, rng, 12):
        if tested == 4:
            break
        s = draws(problem, x, a, m, rng)
        if space.discrete:
            masses = special.softmax(problem.model.family.psi @ truth[x, a] + problem.model.family.base(x, a))
            observed = np.bincount(s, minlength=space.n_cells)
            assert observed[masses == 0].sum() == 0
            expected, seen = pooled(m * masses), pooled(observed, m * masses)
            if len(expected) == 1:
                continue  # a sure next state, or nearly so
            p_values = [stats.chisquare(seen, expected).pvalue]
        elif space.dim == 1:
            p_values = [stats.kstest(fine_cdf(problem, truth[x, a])(s), "uniform").pvalue]
        else:
            # Rosenblatt: both coordinates are uniform and independent, on a four by four grid and by |U - V|.
            sigma = problem.model.family.sigma
            u = stats.norm.cdf((s - sigma * truth[x, a]) / sigma)
            p_values = [stats.kstest(column, "uniform").pvalue for column in u.T]
            table = np.histogram2d(*u.T, bins=4, range=[[0, 1], [0, 1]])[0]
            triangle = stats.kstest(np.abs(u[:, 0] - u[:, 1]), lambda d: 1 - (1 - np.asarray(d)) ** 2)
            p_values += [stats.chisquare(table.ravel()).pvalue, triangle.pvalue]
        tested += 1
        assert min(p_values) > 1e-5
    assert tested > 0


# Errors of V* at first states beside a grid five times as fine or more: kinks of V* within cells, and the quadrature.
V_STAR_ERROR = {
    "circle": 2e-6,
    "circle-knots=4-kappa=1.0-horizon=10": 1e-3,
    "circle-knots=6-kappa=60.0-horizon=10": 2e-6,
    "custom-sin": 1e-8,
    "lds": 1e-9,
    "lds-sigma=1.0-pull=-0.6-bound=1.5": 1e-5,
    "lds-dimension=2-horizon=8": 2e-3,
    "waves": 1e-4,
}


class Plane:
    """The two-dimensional `lds` on another tensor grid: kernels are products of normal densities."""

    def __init__(self, problem, pieces=6, order=6):
        self.given, self.horizon = problem.parameters, problem.horizon
        x, w = np.polynomial.legendre.leggauss(order)
        reach = self.given["bound"] + self.given["force"] + 9 * self.given["sigma"]
        inner = np.linspace(-self.given["bound"], self.given["bound"], 8 * pieces + 1)
        outer = np.linspace(self.given["bound"], reach, 4 * pieces)[1:]
        cuts = np.concatenate([-outer[::-1], inner, outer])
        width = np.diff(cuts)[:, None]
        self.x, self.w = (cuts[:-1, None] + width * (x + 1) / 2).ravel(), (width * w / 2).ravel()
        self.pushes = self.given["force"] * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])

    def Q(self, x, y, V):
        """R + E V of the three actions at the grid of states (x, y), (3, len(x), len(y)), for V on the nodes."""
        bound, sigma = self.given["bound"], self.given["sigma"]
        x, y = np.clip(x, -bound, bound), np.clip(y, -bound, bound)

        def along(s, push):
            z = (self.x - (self.given["pull"] * s[:, None] + push)) / sigma
            return np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi) / sigma * self.w

        rewards = 1.0 - np.square(x - bound)[:, None] - np.square(y - bound)
        pairs = zip(self.given["cost"] * self.pushes.any(1), self.pushes, strict=True)
        return np.stack([rewards - cost + along(x, push[0]) @ V @ along(y, push[1]).T for cost, push in pairs])

    def value(self, states, choose=lambda h, x, y, Q: Q.max(0)):
        """V_1 at states (n, 2) if V_h = choose(h, x, y, Q_h), by default V*."""
        V = np.zeros((len(self.x), len(self.x)))
        for h in range(self.horizon - 1, 0, -1):
            V = choose(h, self.x, self.x, self.Q(self.x, self.x, V))
        return np.array([choose(0, x, y, self.Q(x, y, V))[0, 0] for x, y in states[..., None]])


@each_case
def test_optimal_values_by_an_independent_discretisation(case):
    problem = build(case)
    starts = np.asarray(problem.start((np.arange(12) + 0.5) / 12))
    if problem.model.space.dim == 2:
        expected = Plane(problem).value(starts)
    else:
        expected = Continuum(problem, **({"pieces": 6, "order": 4} if problem.model.smooth else {})).optimal(starts)
    if problem.model.smooth:
        R, P = problem.first_step(starts)
        best = (R + P @ problem.optimum[1][1]).max(1)
    else:
        best = problem.optimum[1][0][problem.model.space.cell(starts)]
    error = V_STAR_ERROR.get(identity(case), 1e-10 * max(1.0, np.abs(expected).max()))
    assert np.abs(best - expected).max() < error
    assert problem.optimal_value - problem.uniform_value > 100 * error  # which is far below what is to be learned


def test_values_of_policies_in_the_plane_by_an_independent_discretisation(rng):
    """A policy's jumps lie at the cells' edges: its value is known a thousand times better than V*."""
    problem = instance("lds", dimension=2, horizon=8)
    space, grid = problem.model.space, Plane(problem, pieces=3)
    starts = rng.uniform(-0.8, 0.8, (4, 2))
    R, P = problem.first_step(starts)
    for policy in (problem.optimal_policy, rng.integers(0, 3, (8, space.n_cells))):

        def chosen(h, x, y, Q, policy=policy):
            cells = space.cell(np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1))
            return np.take_along_axis(Q, policy[h][cells][None].astype(int), axis=0)[0]

        later = bellman.evaluate(policy[None, None, 1:], problem.R, problem.P)[0, 0]
        mine = (R + P @ later)[np.arange(4), policy[0][space.cell(starts)]]
        assert np.abs(mine - grid.value(starts, chosen)).max() < 3e-6
