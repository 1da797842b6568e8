"""Confidence sets against root finding, a search of the tube, exact enumeration, and bounds on third cumulants."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, i0e, i1e

from befrl.learning import likelihood_sets as sets
from befrl.learning.likelihood_sets import EllipsoidSets, OneHotSets, Rewards, States
from befrl.model.families.truncated_normal import TruncatedNormal
from befrl.model.families.von_mises import VonMises, concentration
from befrl.model.features import Features
from befrl.model.rewards import bernoulli, truncated_exponential
from befrl.numerics.newton import DECREMENT
from helpers import full, full_U, instance, light

ONE = np.ones(1)


def radius(log_det, eta, B, J, delta):
    """b of the docstring, with the addition for an inexact estimate."""
    b, nu = eta * B**2 / 2 + log_det / 2 + np.log(J / delta), np.sqrt(DECREMENT)
    return b + nu * np.sqrt(2 * b) + 2 * nu**2


@pytest.mark.parametrize(("name", "kind"), [("chain", States), ("literal", States), ("literal", Rewards)])
def test_ends_of_one_hot_sets_are_outside_the_roots_and_close_to_them(name, kind):
    """The first update, and one more with other data; 0 to 1e7 visits. S* = 60 cuts no end."""
    problem, rng = instance(name), np.random.default_rng(0)
    source = kind(problem.model, problem.constants | {"radius_p": 60.0, "radius_r": 60.0})
    shape, eta = source.U.shape[:2], 0.3
    found = sets.sets_of(source, np.full(1, eta), np.full(1, 0.05), ONE)
    assert isinstance(found, OneHotSets)
    counts = np.resize([0.0, 1.0, 20.0, 1e3, 1e5, 1e7], (1, *shape))
    for near, more in ((1e-6, 0), (0.5, 7)):
        counts, v = counts + more, rng.uniform(-5, 5, (1, *shape, 1))
        ends = found.update(counts, v)
        for x, a in np.ndindex(shape):
            n, middle = counts[0, x, a], v[0, x, a]
            b = radius(np.log1p(source.beta * n / eta), eta, 60.0, np.prod(shape), 0.05)
            Z, mean = (np.ravel(part)[0] for part in source.moments(middle[None, None, None])[:2])
            for sign, end in ((-1, ends.low), (1, ends.high)):

                def excess(size, sign=sign, middle=middle, Z=Z, mean=mean, n=n, b=b):
                    other = np.ravel(source.moments((middle + sign * size)[None, None, None])[0])[0]
                    return n * (other - Z - sign * size * mean) + eta / 2 * size**2 - b

                exact = brentq(excess, 0, 1.01 * np.sqrt(2 * b / eta), xtol=1e-14, rtol=1e-14)
                mine = sign * (end[0, x, a] - middle[0])
                assert mine >= min(exact, 60 - sign * middle[0]) * (1 - 1e-7)
                assert mine <= exact * (1 + near)
            X = min(np.sqrt(2 * b / eta), 60 + abs(middle[0]))
            assert ends.D[0, x, a] == pytest.approx(min(b / max(n, 1e-300), source.beta * X * X / 2), rel=1e-9)


def searched(source, theta, counts, b, eta, U, A, S, rng):
    """The largest |U(theta' - theta)| and KL found along rays from theta, over the tube and |U theta'| <= S:

    sum n KL(theta, theta') + eta/2 |theta' - theta|_A^2 <= b.
    """
    Z, mean, cov = source.moments((U @ theta)[None])
    root = np.linalg.inv(np.linalg.cholesky(eta * A + np.einsum("xa,xaip,xaij,xajq->pq", counts, U, cov[0], U))).T
    # Rays towards each row of U, where a quadratic tube has its extremes, and random ones.
    targets = np.concatenate([U.reshape(-1, len(theta)) @ root, rng.standard_normal((30, len(theta)))])
    rays = targets[(targets**2).sum(-1) > 0] @ root.T
    rays = np.concatenate([rays, -rays])
    rays /= np.sqrt(np.einsum("ri,ij,rj->r", rays, A, rays))[:, None]
    steps = np.einsum("xaip,rp->rxai", U, rays)

    def divergence(t):
        w = steps * t[:, None, None, None]
        return source.moments(U @ theta + w)[0] - Z - (w * mean).sum(-1), w

    low, high = np.zeros(len(rays)), np.full(len(rays), np.sqrt(2 * b / eta))
    for _ in range(40):
        t = (low + high) / 2
        kl, w = divergence(t)
        outside = (counts * kl).sum((1, 2)) + eta / 2 * t * t > b
        outside |= np.linalg.norm(U @ theta + w, axis=-1).max((1, 2)) > S
        low, high = np.where(outside, low, t), np.where(outside, t, high)
    kl, w = divergence(low)
    return np.linalg.norm(w, axis=-1).max(0), kl.max(0)


@pytest.mark.parametrize(
    ("name", "kind"), [("trap-two", States), ("dense", States), ("dense", Rewards), ("trap-one", States)]
)
def test_ellipsoids_contain_the_tube_at_every_pair_visited_or_not(name, kind):
    problem, rng = instance(name), np.random.default_rng(1)
    features, d = problem.model.features, problem.model.d
    source, A, ratios = kind(problem.model, problem.constants), full(features.trace), []
    U = np.array([[full_U(features, x, a) for a in range(features.n_actions)] for x in range(features.n_anchors)])
    if kind is Rewards:
        U = np.einsum("xapi,p->xai", U, problem.model.B)[:, :, None]
    at = sets.components(features, source.U)[1]
    J, truth = at.max() + 1, problem.theta_p if kind is States else problem.theta_r
    for size in (1, 30, 1e4):
        found = sets.sets_of(source, np.full(1, np.nan), np.full(1, 0.05), ONE)
        assert isinstance(found, EllipsoidSets)
        theta = rng.uniform(0.3, 0.8) * truth
        counts = np.floor(size * rng.random((*at.shape,)) ** 4)
        v = (U @ theta)[None]
        ends, eta = found.update(counts[None], v), found.eta[0]
        for j in range(J):
            mine = np.where(at == j, counts, 0.0)
            coordinates = np.flatnonzero(sets.components(features, source.U)[0] == j)
            part = np.ix_(coordinates, coordinates)
            G = A[part] + source.beta / eta * np.einsum("xa,xaip,xaiq->pq", mine, U, U)[part]
            b = radius(np.linalg.slogdet(G)[1] - np.linalg.slogdet(A[part])[1], eta, source.B, J, 0.05)
            own = U[..., coordinates] * (at == j)[..., None, None]
            X, D = searched(source, theta[coordinates], mine, b, eta, own, A[part], source.S, rng)
            reached = (at == j) & (D > 0)
            assert np.all(found._X[0][reached] >= X[reached] * (1 - 1e-7))
            assert np.all(ends.D[0][reached] >= D[reached] * (1 - 1e-7))
            ratios.extend((D / ends.D[0].clip(1e-300))[reached])
    assert d > J - 1 and np.median(ratios) > 0.1  # the bounds are of the right size


def test_sets_of_a_coin_fail_with_probability_at_most_delta_at_any_time_by_enumeration():
    """One cell with Bernoulli rewards, 300 visits: the exact probability that c* is ever outside, for several c*."""
    model = SimpleNamespace(features=Features.one_hot(1, 1, 1), reward=bernoulli.Law(), one_component=True)
    model.B, model.BB, eta, delta, N = ONE, np.ones((1, 1)), 0.5, 0.9, 300
    n, won = (part.ravel().astype(float) for part in np.mgrid[: N + 1, : N + 1])
    low, high = np.full(n.shape, -1e3), np.full(n.shape, 1e3)
    for _ in range(80):  # the root of n sigma(c) + eta c = won
        middle = (low + high) / 2
        above = n * expit(middle) + eta * middle > won
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    for c in (0.0, 0.4, 2.0):
        rows = np.ones(len(n))
        found = OneHotSets(Rewards(model, {"radius_r": abs(c), "B_A": 0.0}), eta * rows, delta * rows, rows)
        found.source.S = 1e3  # else an end at S* = |c*| would hide a failure
        ends = found.update(n[:, None, None], middle[:, None, None, None])
        inside = ((ends.low <= c) & (c <= ends.high)).reshape(N + 1, N + 1)
        law, lost = np.zeros(N + 2), 0.0
        law[0] = 1.0
        for visits in range(1, N + 1):
            law[1:] = law[1:] * (1 - expit(c)) + law[:-1] * expit(c)
            law[0] *= 1 - expit(c)
            lost += law[: N + 1][~inside[visits]].sum()
            law[: N + 1] *= inside[visits]
        assert lost <= delta and lost + law.sum() == pytest.approx(1.0)
        assert lost > 0.02 or c > 0  # the sets are not far too large


@pytest.mark.parametrize(("name", "J"), [("trap-one", 5), ("circle", 2), ("lds", 1), ("dense", 1), ("factored", 1)])
def test_components(name, J):
    model = light(name).model
    coordinates, at = sets.components(model.features, States(model, light(name).constants).U)
    assert at.max() + 1 == J and set(np.unique(coordinates)) - {-1} == set(range(J))


@pytest.mark.parametrize("name", ["chain", "riverswim", "dense", "trap-one"])
def test_scale_zero_has_sets_of_one_law(name):
    problem, rng = instance(name), np.random.default_rng(2)
    for kind in (States, Rewards):
        source = kind(problem.model, problem.constants)
        found = sets.sets_of(source, np.full(2, np.nan), np.full(2, 0.05), np.array([0.0, 1.0]))
        for _ in range(2):
            counts = rng.integers(0, 4, (2, *source.U.shape[:2])).astype(float)
            v = rng.uniform(-0.01, 0.01, (2, *source.U.shape[:2], source.p))
            ends = found.update(counts, v)
            assert np.all(ends.D[0] == 0) and (ends.low is None or np.array_equal(ends.low[0], ends.high[0]))
            assert ends.D[1].max() > 0


# beta and M bound second and third cumulants everywhere.


BOUNDED = ["chain", "circle", "custom-sin", "dense", "factored", "jao", "literal", "riverswim", "trap-two", "waves"]


@pytest.mark.parametrize("name", BOUNDED)
def test_beta_and_self_concordance_bound_the_cumulants_of_every_family(name):
    """At random natural parameters of sizes up to 100, along random directions."""
    family, rng = light(name).model.family, np.random.default_rng(3)
    for _ in range(40):
        v = rng.standard_normal(family.p)
        v *= 10 ** rng.uniform(-2, 2) / np.linalg.norm(v)
        mass = np.exp(family.restricted(0, 0).log_masses(v[None, None, None])[0][0, 0, 0])
        apart = family.psi - mass @ family.psi
        x, w = rng.standard_normal((2, family.p))
        x, w = apart @ x / np.linalg.norm(x), apart @ w / np.linalg.norm(w)
        second = mass @ x**2
        assert second <= family.covariance_bound * (1 + 1e-9)
        if second > 1e-9:
            assert abs(mass @ (x * x * w)) <= family.self_concordance * second * (1 + 1e-6)


def test_self_concordance_of_truncated_normals_between_the_points_of_a_grid():
    """Cumulants of log-concave laws: |k3| <= 2 k2^1.5 and -2 <= k4/k2^2 <= 6, so that k3/k2 moves by at most 6 k2 <= 6
    per unit of c. For c > h + 3.3 hazards exceed 3.3, so that sd < 1/3.3 and |k3|/k2 < 2/3.3 < 0.61."""
    step = 9e-4
    for h in (0.3, 1.0, 2.0, 4.0, 8.0):
        c = np.arange(0.0, h + 3.3, step)
        nodes, weights = np.polynomial.legendre.leggauss(200)
        x = h * nodes
        mass = weights * np.exp(np.subtract.outer(c, x) ** 2 / -2 - (np.maximum(c - h, 0) ** 2 / -2)[:, None])
        mass /= mass.sum(-1, keepdims=True)
        apart = x - (mass @ x)[:, None]
        ratio = np.abs((mass * apart**3).sum(-1)) / (mass * apart**2).sum(-1)
        assert ratio.max() + 6 * step / 2 <= TruncatedNormal.self_concordance


def test_self_concordance_of_truncated_exponentials_between_the_points_of_a_grid():
    """k4/k2 is from -1/4 to 1 and |k3/k2| <= 1 on [0, 1]: k3/k2 moves by at most 5/4 per unit of c; its tail is 1/u."""
    law, step = truncated_exponential.Law, 0.005
    u = np.arange(0.2, 20.0, step / 2)  # c = 2 u
    ratio = (1 / u**3 - np.cosh(u) / np.sinh(u) ** 3) / (1 / u**2 - 1 / np.sinh(u) ** 2)
    assert ratio.max() + 1.25 * step / 2 <= law.self_concordance
    assert 1.25 * 0.2 <= law.self_concordance and 1.01 / 20 <= law.self_concordance  # k3 = 0 at c = 0
    assert law().variance(np.linspace(-50, 50, 1001)).max() <= law.variance_bound + 1e-15


def test_self_concordance_of_von_mises_laws_between_the_points_of_a_grid():
    """The largest over directions is in closed form. With |psi - E psi| <= 2, k4/k2 is at most 4 + 3/2 and the ratio M
    of two cumulants at most 2, so that it moves by at most 5.5 + 4 per unit of kappa."""
    for kappa, step in (
        (np.arange(1e-3, 30, 1e-3), 1e-3),
        (np.arange(30, 1000, 0.05), 0.05),
        (np.geomspace(1e3, 1e6), 0),
    ):
        A = i1e(kappa) / i0e(kappa)
        across, along = concentration(kappa, A)
        # Derivatives of A/kappa and of A' = 1 - A/kappa - A^2.
        turn = (along - across) / kappa
        bend = -turn - 2 * A * along
        a, b, q = bend / along, turn / across, np.abs(turn) / np.sqrt(along * across)
        sound = (kappa > 0.05) & (kappa < 1e4)  # elsewhere the differences cancel
        s, k = np.abs(a + b) / 2, (a - b) ** 2 / 4 - q**2
        with np.errstate(all="ignore"):
            inner = np.minimum(1.0, s * q / np.sqrt(np.abs(k) * (np.abs(k) + s**2)))
        cos = np.where(k >= 0, 1.0, inner)
        found = cos * s + np.sqrt(np.maximum(q**2 + cos**2 * k, 0.0))
        assert found[sound].max(initial=0) + 9.5 * step / 2 <= VonMises.self_concordance
        assert max(across.max(), along.max()) <= VonMises.covariance_bound
