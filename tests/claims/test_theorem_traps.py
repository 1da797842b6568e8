"""The MDPs of C62: what the best action is worth, and when BEF-RLSVI first plays it."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

import befrl
from befrl.claims.sections import theorem
from befrl.claims.toolbox.chances import lower_limit, upper_limit
from befrl.model.theorem import first_below, terms

ZERO = {"mdp": "zero", "w": 12.0, "eta": 0.5}
GAUSSIAN = ZERO | {"mdp": "gaussian"}
ONE_STEP = ZERO | {"mdp": "one step"}
RUNS, EPISODES = 4000, 25


def firsts(case, x=400.0, episodes=EPISODES):
    return theorem.first_trials(case, x, RUNS, episodes, np.random.default_rng(7))


def within_limits(hits, chance, runs=RUNS):
    return lower_limit(hits, runs) < chance < upper_limit(hits, runs)


@pytest.mark.parametrize("case", [ZERO, GAUSSIAN])
@pytest.mark.parametrize("known, new, v", [(0.3, 2.0, 0.0), (-1.5, 0.2, 5.0), (0.01, -3.0, 24.0), (1e-4, 40.0, 12.5)])
def test_up_or_down_exceeds_new_by_the_identity_of_the_proof(case, known, new, v):
    """Values of the imagined episode by quadrature of the law of z', against g(|known|) - rho g(new)."""
    g = lambda c: float(theorem._excess_mean(case["mdp"], np.array(c)))  # noqa: E731
    inside = lambda v: quad(lambda z: norm.pdf(z - v), -case["w"], case["w"], points=[max(-12, min(v, 12))])[0]  # noqa: E731
    up, down = (0.5 + g(sign * known) + 0.5 - inside(v) * g(new) for sign in (1, -1))
    value = 0.5 + g(new) + 0.5 - inside(0.0) * g(new)
    rho = 1 - theorem.middle(0.0, case["w"]) + theorem.middle(v, case["w"])
    assert max(up, down) - value == pytest.approx(g(abs(known)) - float(rho) * g(new), abs=1e-9)


def test_mean_rewards_are_odd_and_concave_about_one_half():
    c = np.linspace(0, 60, 4001)
    g = theorem._excess_mean("zero", c)
    assert np.abs(g + theorem._excess_mean("zero", -c)).max() < 1e-15
    assert (np.diff(g) > 0).all() and (np.diff(g, 2) < 1e-15).all() and g.max() < 0.5


@pytest.mark.parametrize("case", [ZERO, GAUSSIAN, ZERO | {"eta": 5.0}])
@pytest.mark.parametrize("x", [1e-6, 400.0, 1e9])
def test_new_is_played_in_episode_1_with_probability_a_quarter_or_never(case, x):
    first = firsts(case, x)
    assert set(first) == {1, EPISODES + 1}
    assert within_limits(int((first == 1).sum()), 1 / 4)


@pytest.mark.parametrize("w", [1.5, 2.0])
def test_the_bound_on_later_episodes_covers_the_counted_ones(w):
    """With a narrow middle the trap opens within the simulated episodes."""
    case = GAUSSIAN | {"w": w}
    first = firsts(case)
    hits = int(((first > 1) & (first <= EPISODES)).sum())
    assert hits > 0 and lower_limit(hits, RUNS) <= theorem.later(case, EPISODES)


def test_the_bound_on_later_episodes_is_that_of_statement_a():
    K, eta, q = 1000, 0.3, float(ndtr(-12.0))
    exact = q * (K + 3 / math.pi * np.sqrt(1 + np.arange(1, K) / (2 * eta)).sum())
    assert exact <= theorem.later(ZERO | {"eta": eta}, K) <= 1.2 * exact
    assert theorem.later(ZERO, 1e12) < 1e-12


def test_the_package_plays_new_in_episode_1_or_never_on_trap_zero():
    """The same MDP with smaller sizes, in the package's own model, planner and agent, and its gap."""
    mdp = befrl.instance("trap-zero")
    Q, V = mdp.optimum
    gaps = (V[0][:, None] - Q[0])[mdp.start_masses > 0]
    assert gaps[:, 2].max() < 1e-12
    wanted = float(theorem._excess_mean("zero", np.array(3.0)))
    assert gaps[:, :2] == pytest.approx(np.full_like(gaps[:, :2], wanted), rel=1e-9)
    seeds, tried = 200, []
    for x in (1.0, 1e9):
        regret = befrl.run(mdp, "bef-rlsvi", x=x, eta=0.01, episodes=8, seeds=seeds).regret
        first = regret < wanted / 2
        assert (first[..., 0] | ~first.any(-1)).all()
        tried.append(int(first.any(-1).sum()))
    assert all(within_limits(hits, 1 / 4, seeds) for hits in tried)


@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize("x", [1.0, 1e6])
def test_trap_two_stays_shut_at_least_as_often_as_proved(x, ties):
    first = theorem.first_trials_two(x, 1.0, 5, ties)
    shut = int((first > theorem.SHORT).sum())
    assert upper_limit(shut, theorem.FEW) > (1 - math.exp(-2)) ** 2


def test_with_one_step_new_is_soon_played():
    first = firsts(ONE_STEP)
    assert (first <= EPISODES).all() and first.mean() < 5


def test_the_instance_trap_zero_violates_the_bound_itself():
    """With eta = 0.01, delta = 0.1 and c = 1 bound and regret are equal near K = 5.4e8, long before the trap opens.

    Statement A with the start on -18 < z < -9: being imagined there adds its mass to rho, and y >= 18 keeps off it.
    """
    mdp, eta, tail = befrl.instance("trap-zero"), 0.01, float(ndtr(-9.0))
    A = float(np.linalg.norm(mdp.model.features.trace, 2, axis=(-2, -1)).max())
    z = mdp.constants | {"A": A, "d": 2.0, "H": 2.0, "eta": eta, "delta": 0.1, "c": 1.0}
    bound = lambda K: sum(terms(z | {"K": K})["theorem"].values())  # noqa: E731
    gap = float(theorem._excess_mean("zero", np.array(3.0)))
    equal = first_below(bound, gap)
    K = 2 * equal
    near = 1.001 * float(ndtr(9.0 - 18.0 / (1 + 2 * eta)))  # P(|z| <= 9) at the smallest estimate
    rho = 1.001 * (3 * tail + near)
    lost = K * 1.001 * tail + rho / math.pi * (K + 2 / 3 * K**1.5 / math.sqrt(2 * eta))
    assert 5e8 < equal < 6e8 and bound(K) < gap * K
    assert 0.75 - lost > 7 * z["delta"]
