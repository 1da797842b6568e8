"""Upper and lower expectations against a solver, a scan, and the laws of the sets."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq

from befrl.model.families.truncated_normal import TruncatedNormal
from befrl.model.spaces import BinnedInterval, FiniteSpace
from befrl.numerics import bellman
from befrl.planning import robust


def reach(*possible):
    """The states that can follow, the same for all (s,a)."""
    log_base = np.where(possible, 0.0, -np.inf)[None, None]
    return robust.Reach(SimpleNamespace(log_base=log_base, space=FiniteSpace(len(possible))))


def ball(P, D, dual=False, states=None):
    return robust.Ball(
        bellman.expectations(P[None, None, None]), np.full((1, 1, 1), D), states or reach(*[True] * len(P)), dual
    )


def both(sets, V):
    """lower(V) and upper(V) of one function; the last function of `bounds` is the lower one, the first is no bound."""
    three = sets.bounds(np.asfortranarray(np.stack([V, V, V], axis=-1)[None]), np.array([1.0, 1.0, -1.0]))[0, 0, 0]
    return three[2], three[1]


def largest_mean(P, V, D):
    """max QV over KL(P, Q) <= D: Q is proportional to P/(lambda - V), lambda > max V, with KL = D."""
    top, span = V.max(), np.ptp(V)
    if span == 0 or D == 0:
        return float(P @ V)

    def log_law(log_gap):
        log_Q = np.log(P) - np.log(np.exp(log_gap) * span + (top - V))
        return log_Q - np.logaddexp.reduce(log_Q)

    def excess(log_gap):
        return (P * (np.log(P) - log_law(log_gap))).sum() - D

    # The root is above this, however small P(top) is, unless numbers underflow: then Q is nearly all on the top.
    top_mass, nearest = P[V == top].sum(), (top - V[V < top]).min() / span
    low = max(np.log(top_mass * nearest) - (D + 5) / max(1 - top_mass, 1e-3), -735 - np.log(span))
    root = low if excess(low) < 0 else brentq(excess, low, 40.0, xtol=1e-13)
    return float(np.exp(log_law(root)) @ V)


def problems(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        m = rng.integers(2, 9)
        P = rng.dirichlet(np.full(m, rng.choice([0.1, 1.0, 5.0]))) + 1e-300
        yield (
            P / P.sum(),
            rng.uniform(-1, 20) * rng.random(m) ** rng.choice([0.2, 1.0, 4.0]),
            10 ** rng.uniform(-6, 1.5),
        )


def test_bernstein_and_kl_bound_the_exact_maximum_from_outside_and_stay_in_the_range():
    ratios = []
    for P, V, D in problems(600, 0):
        exact, slack = largest_mean(P, V, D), 1e-9 * (1 + np.ptp(V))
        for dual in (False, True):
            low, high = both(ball(P, D, dual), V)
            assert exact - slack <= high <= V.max() + slack and V.min() - slack <= low <= P @ V + slack
            assert low <= -largest_mean(P, -V, D) + slack
            ratios.append((high - P @ V) / max(exact - P @ V, 1e-12))
    kl = np.array(ratios[1::2])
    assert np.all(kl <= np.array(ratios[::2]) + 1e-9) and np.median(kl) < 1.05


def test_balls_of_radius_zero_and_of_any_radius_with_a_tiny_top():
    P, V = np.array([1 - 1e-300, 1e-300]), np.array([0.0, 1.0])
    assert both(ball(P, 0.0), V) == pytest.approx((0.0, 0.0), abs=1e-15)
    for D in (1e-3, 0.3, 5.0, 30.0):
        exact = largest_mean(P, V, D)
        assert both(ball(P, D, dual=True), V)[1] >= exact - 1e-12
    assert both(ball(P, 1e6), V) == pytest.approx((0.0, 1.0))


def test_only_states_that_can_follow_count():
    P, V = np.array([0.5, 0.5, 0.0]), np.array([1.0, 2.0, 50.0])
    assert both(ball(P, 1e6, states=reach(True, True, False)), V) == pytest.approx((1.0, 2.0))
    assert both(ball(P, 1e6), V)[1] == pytest.approx(50.0)


@pytest.mark.parametrize("shape", ["monotone", "any", "wild"])
def test_intervals_bound_all_laws_between_their_ends_and_are_exact_for_monotone_functions(shape):
    rng, family = np.random.default_rng(1), TruncatedNormal(BinnedInterval(7), 0.1)
    assert robust.ordered(family)
    for _ in range(60):
        low = rng.uniform(-8, 6)
        high = low + 10 ** rng.uniform(-3, 1)
        V = rng.random(7) if shape == "any" else np.sort(rng.random(7))
        V = np.where(np.arange(7) % 2, 1.0, 0.0) + 0.01 * V if shape == "wild" else 5 * V
        ends = (family.kernel(np.full((1, 1, 1, 1), v)) for v in (low, high))
        sets = robust.between(*ends, reach(*[True] * 7))
        scan = family.kernel(np.linspace(low, high, 400)[:, None, None, None])[:, 0, 0] @ V
        down, up = both(sets, V)
        assert (
            up >= scan.max() - 1e-12 and down <= scan.min() + 1e-12 and V.min() - 1e-12 <= down <= up <= V.max() + 1e-12
        )
        distance = (
            np.abs(np.subtract(*(family.kernel(np.full((1, 1, 1, 1), v))[0, 0, 0] for v in (low, high)))).sum() / 2
        )
        assert up - down <= 2 * np.ptp(V) * distance + 1e-12
        if shape == "monotone":
            assert (down, up) == pytest.approx((scan[0], scan[-1]), abs=1e-12)


def test_several_functions_at_once_have_the_bits_of_one_and_any_share_is_in_between():
    rng = np.random.default_rng(2)
    P, V, D = rng.dirichlet(np.ones(6), (3, 6, 2)), rng.random((3, 6, 2)), rng.random((3, 6, 2))
    sets = robust.Ball(bellman.expectations(P), D, reach(*[True] * 6))
    V = np.concatenate([rng.random((3, 6, 1)), V], axis=-1)
    share = np.array([1.0, 0.25, -1.0])
    found = sets.bounds(np.asfortranarray(V), share)
    mean = np.einsum("nsam,nm->nsa", P, V[..., 1])
    whole = sets.bounds(np.asfortranarray(V), np.array([1.0, 1.0, -1.0]))
    assert np.allclose(found[..., 1], mean + 0.25 * (whole[..., 1] - mean), rtol=0, atol=1e-14)
    assert np.array_equal(found[..., 2], whole[..., 2])


def test_the_width_of_the_first_function_is_below_bernsteins_and_grows_with_every_radius():
    rng = np.random.default_rng(3)
    for _ in range(50):
        P, V = rng.dirichlet(np.ones(5)), rng.random(5)
        last, mean = 0.0, P @ V
        for D in np.geomspace(1e-6, 1e4, 30):
            functions = np.asfortranarray(np.stack([V, V, V], axis=-1)[None])
            first = ball(P, D).bounds(functions, np.array([1.0, 1.0, -1.0]))[0, 0, 0, 0] - mean
            plain = np.sqrt(2 * (P @ V**2 - mean**2) * D) + (V.max() - mean) * D
            assert first == pytest.approx(1 / (1 / plain + 1 / (V.max() - mean)), rel=1e-9)
            assert last < first <= min(plain, V.max() - mean)
            last = first
