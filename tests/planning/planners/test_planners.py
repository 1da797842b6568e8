"""Every planner against the exact one: bias, rates, sums of rows, and what is rejected.

Random planners are tested on one application of the kernel (H = 2), where their error is linear in the features' and
not yet compounded. Limits in standard errors are 5, false alarms 6e-7 each; the seeds are fixed.
"""

import itertools

import numpy as np
import pytest
from scipy.special import ive

from befrl.common.errors import Refused
from befrl.common.streams import PLANNER, Stream
from befrl.planning import planners
from befrl.planning.planners import base, jacobi_anger
from helpers import instance
from pairs import cover

PLANNERS = [name for name in planners.registry.names() if name != "exact"]
UNBIASED = ["positive", "rff", "rff-balanced", "rff-paired"]
SELF_NORMALISED = ["positive-normalised", "rff-combined", "rff-normalised"]
CONSISTENT = UNBIASED + SELF_NORMALISED
DETERMINISTIC = ["chebyshev", "jacobi-anger"]
# Small: |v| is 5 at most and |psi| is 1, on the chain 5 with a Gaussian base measure; riverswim's depends on (s,a).
PROBLEMS = {
    "chain": {"bins": 4, "horizon": 5},
    "literal": {"bins": 3, "margin": 0.2, "horizon": 5},
    "jao": {"rate": 0.3, "horizon": 5},
    "riverswim": {"states": 4, "horizon": 5},
    "circle": {"knots": 4, "kappa": 1.0, "horizon": 5},
    "dense": {},
}
APPLIES = {"chebyshev": {"chain", "literal", "jao"}, "jacobi-anger": {"circle"}}
PAIRS = [(name, where) for name in PLANNERS for where in PROBLEMS if where in APPLIES.get(name, PROBLEMS)]
each_pair = pytest.mark.parametrize(("name", "where"), PAIRS)


def slow(*values):
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def problem_of(where):
    return instance(where, **PROBLEMS[where])


def make(name, problem, features=50, seeds=range(3)):
    cls = planners.registry.module(name).Planner
    return cls(problem.model, len(seeds), features, Stream(7, "test", seeds, PLANNER))


def truth(problem, n):
    """R (n, N, A) and theta_p (n, d) of n seeds."""
    return np.repeat(problem.R[None], n, axis=0), np.repeat(problem.theta_p[None], n, axis=0)


def one_step(name, problem, features, seeds, shrink=1.0):
    """P V of the planner for V = max_a R, (n, N, A), and the exact one, (N, A); in the model of shrink theta*."""
    planner = make(name, problem, features, seeds)
    R, theta = truth(problem, len(seeds))
    Q, _ = planner.plan(R, shrink * theta, 2)
    return Q[:, 0] - R, problem.model.kernel(shrink * theta[:1])[0] @ problem.R.max(-1)


def natural(problem, theta=None):
    return problem.model.features.natural(problem.theta_p[None] if theta is None else theta)


# --- all planners ----------------------------------------------------------------------------------------------------


def test_the_lists_above_are_of_planners():
    assert {*CONSISTENT, *DETERMINISTIC, "rff-printed"} <= set(PLANNERS)


@pytest.mark.parametrize(("pair", "features", "size"), cover(PAIRS, [1, 2, 50], [0.0, 1.0, 300.0]))
def test_plans_are_finite_and_greedy_whatever_theta_is(pair, features, size, rng):
    name, where = pair
    problem = problem_of(where)
    N, A, H = problem.model.n_anchors, problem.model.n_actions, 6
    theta = size * rng.standard_normal((3, problem.model.d))
    R = rng.uniform(-1, 2, (3, N, A))
    Q, V = make(name, problem, features).plan(R, theta, H)
    assert Q.shape == (3, H, N, A) and V.shape == (3, H + 1, N)
    assert np.all(np.isfinite(Q)) and np.all(np.isfinite(V))
    assert np.array_equal(V[:, :-1], np.clip(Q.max(-1), -base.LIMIT, base.LIMIT))
    assert np.all(V[:, -1] == 0)
    assert np.array_equal(Q[:, -1], R)


@each_pair
def test_plans_repeat_and_do_not_depend_on_other_seeds(name, where, rng):
    problem = problem_of(where)
    theta, R = rng.standard_normal((4, problem.model.d)), rng.uniform(0, 1, (4, *problem.R.shape))
    for features in (7, 300):
        planner = make(name, problem, features, seeds=(5, 2, 9, 4))
        together = planner.plan(R, theta, 5)
        planner.plan(R, 0.5 * theta, 5)
        alone = make(name, problem, features, seeds=(9,)).plan(R[2:3], theta[2:3], 5)
        for block, again, one in zip(together, planner.plan(R, theta, 5), alone, strict=True):
            assert np.array_equal(block, again)
            assert np.ascontiguousarray(block[2]).tobytes() == np.ascontiguousarray(one[0]).tobytes()


@pytest.mark.parametrize("name", [*CONSISTENT, "rff-printed"])
def test_seeds_differ_in_their_features(name):
    future, _ = one_step(name, problem_of("dense"), 20, range(3))
    assert not np.any(np.isclose(future[:2], future[1:], rtol=1e-6, atol=0))


def test_a_planner_rejects_a_family_that_it_cannot_handle():
    for name, where in itertools.product(PLANNERS, PROBLEMS):
        if (name, where) not in PAIRS:
            words = rf"^planner '{name}' cannot plan in the family \w+, p = \d+: [^.]*$"
            with pytest.raises(Refused, match=words):
                make(name, problem_of(where))


@each_pair
def test_both_ways_to_sum_over_the_factors_agree(name, where, monkeypatch):
    """Summed at every step, or once; with 50 features the two constants below choose different ways."""
    problem = problem_of(where)
    for features in (3, 50):
        planner, (R, theta), plans = make(name, problem, features), truth(problem, 3), []
        for speedup in (1e-9, 1e9):
            monkeypatch.setattr(base, "SPEEDUP", speedup)
            plans.append(planner.plan(R, theta, 5)[0])
        assert np.allclose(*plans, rtol=1e-9, atol=1e-9)


# --- the factorisation ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", PROBLEMS)
def test_scales_times_the_gaussian_kernel_are_the_density(where):
    """exp(psi.v + b - Z) = e^node_scale e^row_scale e^b k(psi, v); what the appendix prints lacks both scales."""
    problem = problem_of(where)
    family, v = problem.model.family, natural(problem)
    log_k = -0.5 * np.square(v[..., None, :] - family.psi).sum(-1)
    log_density = np.where(np.isfinite(family.log_base), family.log_masses(v)[0] - problem.model.space.log_weights, 0.0)
    log_base = np.where(np.isfinite(family.log_base), family.log_base, 0.0)

    def by(name):
        planner = make(name, problem, 1, [0])
        log_p = planner.node_scale(family.psi) + planner.row_scale(v)[..., None] + log_base + log_k
        return np.where(np.isfinite(family.log_base), log_p, 0.0)

    # Z in closed form and by the nodes' sum agree to the quadrature's error only.
    slack = np.abs(family.log_partition(v) - family.log_masses(v)[1]).max()
    assert slack < 1e-8
    assert np.allclose(by("rff"), log_density, rtol=0, atol=1e-12 + slack)
    lacking = 0.5 * np.square(family.psi).sum(-1) + (0.5 * np.square(v).sum(-1) - family.log_partition(v))[..., None]
    lacking = np.where(np.isfinite(family.log_base), lacking, 0.0)
    assert np.allclose(by("rff-printed") + lacking, log_density, rtol=0, atol=1e-12 + slack)
    assert np.abs(lacking).max() > 0.3


def feature_terms(name, x, y, count=200_000):
    """Independent terms whose mean estimates a kernel at (x, y), one for each frequency."""
    planner = make(name, problem_of("dense"), count, [0])
    f, g = planner.basis(np.stack([x, y])[None], *planner.draws)[0]
    terms = f * g
    if name == "rff-paired":
        terms = terms[: count // 2] + terms[count // 2 :]
    return len(terms) * terms


POINTS = [((0.3, -0.2), (0.4, 0.1)), ((1.0, 0.5), (-0.5, 0.2)), ((0.4, 0.4), (0.4, 0.4))]


@pytest.mark.parametrize("name", ["rff", "rff-paired", "positive"])
def test_features_have_the_stated_mean_and_variance(name):
    for x, y in np.array(POINTS):
        k = np.exp(-0.5 * np.square(x - y).sum())
        mean, variance = {
            "rff": (k, 1 + k**4 / 2 - k**2),
            "rff-paired": (k, (1 - k**2) ** 2 / 2),
            "positive": (np.exp(x @ y), np.exp(2 * x @ y) * np.expm1(np.square(x + y).sum())),
        }[name]
        terms = feature_terms(name, x, y)
        assert abs(terms.mean() - mean) <= 5 * np.sqrt(variance / len(terms)) + 1e-12
        # The fourth moment of positive features is large: 200,000 of them know the variance to a few per cent.
        assert terms.var() == pytest.approx(variance, rel=0.15 if name == "positive" else 0.02, abs=1e-12)


# --- random planners --------------------------------------------------------------------------------------------------

# Tails are light enough for 1000 seeds to know a mean where |psi + v| is 2 at most.
SHRINK = 0.5


@pytest.mark.parametrize("where", ["dense", "riverswim", *slow("jao", "circle")])
@pytest.mark.parametrize("name", UNBIASED)
def test_the_mean_over_seeds_is_exact(name, where):
    future, exact = one_step(name, problem_of(where), 100, range(1000), SHRINK)
    standard_error = future.std(0) / np.sqrt(len(future))
    assert np.all(np.abs(future.mean(0) - exact) <= 5 * standard_error + 1e-12)
    # The mean is known well enough to see a factor that is wrong, such as the main text's (2 pi)^(-p/2).
    assert np.all(standard_error < 0.02 * np.abs(exact).max())


def root_mean_square_errors(name, problem, counts, shrink, seeds):
    errors = []
    for count in counts:
        future, exact = one_step(name, problem, count, seeds, shrink)
        errors.append(np.sqrt(np.square(future - exact).mean()))
    return np.array(errors)


@pytest.mark.parametrize("where", ["dense", *slow("jao", "circle")])
@pytest.mark.parametrize("name", CONSISTENT)
def test_errors_fall_with_the_root_of_the_number_of_features(name, where):
    """Slope -1/2 on log-log scales, to 0.1: over a factor of 16 its standard error is 0.03, with 60 seeds 0.05."""
    counts, seeds = np.array([150, 600, 2400]), 60 if where == "circle" else 200
    errors = root_mean_square_errors(name, problem_of(where), counts, SHRINK, range(seeds))
    slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.1)


@pytest.mark.parametrize("where", ["dense", "literal", *slow("jao", "circle", "chain")])
def test_what_the_appendix_prints_converges_to_something_else(where):
    """The mean over seeds is the integral of k(psi, v) e^b, and the error stays what that lacks."""
    problem = problem_of(where)
    family, space, v = problem.model.family, problem.model.space, natural(problem)[0]
    k = np.exp(-0.5 * np.square(v[..., None, :] - family.psi).sum(-1) + family.log_base[0, 0] + space.log_weights)
    limit = k @ problem.R.max(-1)[space.node_anchor]
    future, exact = one_step("rff-printed", problem, 500, range(200))
    assert np.all(np.abs(future.mean(0) - limit) < 5 * future.std(0) / np.sqrt(len(future)))
    bias = np.abs(limit - exact).max()
    assert bias > 0.1 * np.abs(exact).max()
    few, many = (
        np.median(np.abs(one_step("rff-printed", problem, D, range(20))[0] - exact).max((1, 2))) for D in (500, 10000)
    )
    assert many == pytest.approx(bias, rel=0.1)
    assert many > 0.5 * few


@pytest.mark.parametrize("where", PROBLEMS)
def test_normalised_rows_sum_to_one_and_positive_ones_are_laws(where, rng):
    """With rewards of one everywhere values count the steps."""
    problem = problem_of(where)
    for name in SELF_NORMALISED:
        _, V = make(name, problem, 200).plan(np.ones((3, *problem.R.shape)), truth(problem, 3)[1], 5)
        assert np.allclose(V, np.arange(5, -1, -1)[:, None], rtol=1e-8, atol=0)
    theta = 30 * rng.standard_normal((3, problem.model.d))
    expected = make("positive-normalised", problem, 5).expectation(theta, 5)
    N = problem.model.n_anchors
    rows = np.stack([expected(np.repeat(np.eye(N)[j : j + 1], 3, axis=0)) for j in range(N)], axis=-1)
    assert np.all(rows >= 0)
    assert np.allclose(rows.sum(-1), 1.0, rtol=0, atol=1e-12)


def test_no_mass_leaves_the_support():
    problem = problem_of("riverswim")
    for name in (name for name, where in PAIRS if where == "riverswim"):
        expected = make(name, problem, 20).expectation(truth(problem, 3)[1], 5)
        for j, indicator in enumerate(np.eye(problem.model.n_anchors)):
            mass = expected(np.repeat(indicator[None], 3, axis=0))
            assert np.array_equal(mass != 0, np.broadcast_to(problem.P[..., j] > 0, mass.shape))


def test_balance_makes_errors_small_where_v_is_large():
    """literal with |v| = 20: plain features are off by e^190, balanced ones by 0.2."""
    problem = instance("literal")
    plain, balanced = (
        root_mean_square_errors(name, problem, [300], 1.0, range(50))[0] for name in ("rff", "rff-balanced")
    )
    assert plain > 1e50
    assert balanced < 0.5


@pytest.mark.parametrize("where", PROBLEMS)
def test_balance_leaves_the_product_as_it_is(where, rng):
    """x.y + m.v + u.(psi - m) = psi.v: the scales and points that `rff-balanced` uses multiply to the density again."""
    problem = problem_of(where)
    planner, family = make("rff-balanced", problem, 1, [0]), problem.model.family
    v = natural(problem, rng.standard_normal((1, problem.model.d)) + 2.0)
    seen = {}

    def columns(points, log_scales):
        seen["y"], seen["node"] = points[0], log_scales[0]
        return np.zeros((1, 1, 1)), np.zeros(1)

    def left(x):
        seen["x"] = x[0]
        return x

    planner.columns, planner.left = columns, left
    _, _, l = planner.factors(v)
    log_k = -0.5 * np.square(seen["x"][..., None, :] - seen["y"]).sum(-1)
    product = l[0][..., None] + seen["node"] + log_k
    assert np.allclose(product, (v @ family.psi.T)[0] - family.log_partition(v)[0][..., None], rtol=0, atol=1e-11)


# --- deterministic planners -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "where", "values"),
    [
        ("jacobi-anger", "circle", {"knots": 4, "kappa": 1.0, "horizon": 5}),
        ("jacobi-anger", "circle", {"knots": 8, "kappa": 15.0, "horizon": 30}),
        ("chebyshev", "chain", {"bins": 8, "horizon": 40}),
        ("chebyshev", "literal", {}),
        ("chebyshev", "jao", {}),
    ],
)
def test_errors_of_expansions_fall_geometrically(name, where, values):
    """Eight features more divide the error by 4 at least, until it is 1e-10; 81 give 1e-11 of the values."""
    problem = instance(where, **values)
    R, theta = truth(problem, 1)
    _, exact = make("exact", problem, seeds=[0]).plan(R, theta, problem.horizon)
    errors = [
        np.abs(make(name, problem, D, [0]).plan(R, theta, problem.horizon)[1] - exact).max() for D in range(9, 82, 8)
    ]
    assert errors[0] > 1e-10
    for one, other in itertools.pairwise(errors):
        assert other < max(one / 4, 1e-10)
    assert errors[-1] < 1e-11 * np.abs(exact).max()


def test_interpolated_rows_sum_to_one_and_are_exact_at_the_nodes(rng):
    """With nine nodes the fifth is the middle of the range: an action that lies there has its own kernel."""
    problem = problem_of("chain")
    for features, size in itertools.product((1, 4, 31), (0.0, 1.0, 1e4)):
        theta = size * rng.standard_normal((3, problem.model.d))
        _, V = make("chebyshev", problem, features).plan(np.ones((3, *problem.R.shape)), theta, 5)
        assert np.allclose(V, np.arange(5, -1, -1)[:, None], rtol=0, atol=1e-10)
    theta = np.linspace(-1.5, 1.5, problem.model.d)[None].copy()
    theta[0, 2] = 0.0
    planner = make("chebyshev", problem, 9, [0])
    planner.nodes[4] = 0.0
    V = np.arange(4.0)[None]
    row = np.unravel_index(2, problem.R.shape)
    exact = problem.model.kernel(theta)[0] @ V[0]
    assert planner.expectation(theta, 5)(V)[0][row] == pytest.approx(exact[row], abs=1e-14)


def test_scaled_bessel_functions_are_those_of_scipy():
    z = np.array([0.0, 1e-8, 0.3, 2.0, 15.0, 80.0, 900.0])
    for M in (0, 1, 7, 60, 400):
        assert np.allclose(jacobi_anger.scaled_bessel(z, M), ive(np.arange(M + 1), z[:, None]), rtol=1e-11, atol=1e-300)
