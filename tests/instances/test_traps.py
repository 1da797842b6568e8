"""The traps: values by direct sums and integrals, plans of BEF-RLSVI under any noise, and how often it is trapped."""

import itertools

import numpy as np
import pytest
from scipy import integrate, special, stats

from befrl.analysis.components import traps
from befrl.analysis.intervals import clopper_pearson
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from befrl.instances.trap_one import MIDDLE, START
from befrl.instances.trap_two import HI, LO, NEW
from befrl.model.theorem import terms, theorem_x
from befrl.numerics import bellman
from helpers import ROOT, instance

REWARDS = {"gaussian": lambda c: c, "bernoulli": special.expit}


def plan(problem, theta_p, theta_r):
    """Q of the first step at the first state in the models theta_p with mean rewards at theta_r, (n, A)."""
    model = problem.model
    R, P = model.mean_reward(theta_r), model.kernel(theta_p)
    Q, _ = bellman.backward_induction(R, P, problem.horizon)
    return Q[:, 0, problem.start_masses.argmax()]


@pytest.mark.parametrize("law", REWARDS)
def test_values_of_trap_two_by_sums(law):
    """Every deterministic pair of first action and second actions by y, from the definition of the laws."""
    hi, best, prize, bonus = 0.7, 3.0, 1.3, 0.2
    problem = instance("trap-two", hi=hi, best=best, prize=prize, bonus=bonus, reward=law)
    mean, earned, values = REWARDS[law], {HI: 2 * bonus, LO: 0.0, NEW: bonus}, {}
    for first, theta in zip((HI, LO, NEW), (hi, -hi, best), strict=True):
        weights = np.exp(theta * np.arange(3))
        for then in itertools.product((HI, LO, NEW), repeat=3):
            second = [mean(prize * ((y == 2) + earned[a])) for y, a in enumerate(then)]
            values[first, then] = mean(prize * earned[first]) + weights @ second / weights.sum()
            policy = np.array([[[np.full(6, first), np.tile(then, 2)]]])
            V = bellman.evaluate(policy, problem.R, problem.P)[0, 0]
            assert problem.start_masses @ V == pytest.approx(values[first, then], abs=1e-12)
    assert problem.optimal_value == pytest.approx(max(values.values()), abs=1e-12)
    assert max(values, key=values.get) == (NEW, (HI, HI, HI))


@pytest.mark.parametrize("law", REWARDS)
def test_in_trap_two_no_noise_makes_the_untried_action_the_best(law, rng):
    """As long as theta^_lo <= 0 <= theta^_hi, whatever the noise; otherwise it can be."""
    problem, n = instance("trap-two", reward=law), 2000
    theta_p, theta_r = rng.normal(size=(2, n, 4)) * 3
    theta_p[:, HI], theta_p[:, LO], theta_p[:, NEW] = np.abs(theta_p[:, HI]), -np.abs(theta_p[:, LO]), 0.0
    # Up to the size at which means of Bernoulli rewards are equal up to rounding.
    theta_r *= 4.0 if law == "bernoulli" else 1e4
    theta_r[:, 3] = np.clip(theta_r[:, 3], -25.0, 25.0) if law == "bernoulli" else theta_r[:, 3]
    Q = plan(problem, theta_p, theta_r)
    assert np.array_equal(Q.argmax(1), np.where(theta_r[:, 3] > 0, HI, LO))
    assert (Q.max(1) > Q[:, NEW]).all()
    theta_p[:, HI] = -1.0
    assert (plan(problem, theta_p, theta_r).argmax(1) == NEW).any()


@pytest.mark.parametrize("hi", [0.3, 1.0])
def test_the_walk_of_the_estimate_stays_above_zero_as_often_as_stated(hi):
    """1 - e^(-2 hi), by the law of the walk of y' - 1 over 3000 steps, killed below zero."""
    down, stay, up = np.exp(hi * np.arange(3)) / np.exp(hi * np.arange(3)).sum()
    alive = np.eye(1, 3002)[0]
    for _ in range(3000):
        alive = stay * alive + up * np.append(0.0, alive[:-1]) + down * np.append(alive[1:], 0.0)
    assert alive.sum() == pytest.approx(1 - np.exp(-2 * hi), abs=1e-9)


def never_tried(problem, n, *settings, episodes=40, ties="random"):
    """How many of n seeds of BEF-RLSVI never take the best first action, in each setting."""
    settings = list(settings or [{}])
    run = RunSpec.of(problem, "test", "bef-rlsvi", settings, episodes, range(n), root_seed=ROOT, ties=ties)
    never = traps.never_tried(loop.run(run)["regret"], traps.first_gap(problem))
    return never.reshape(len(settings), n).sum(1)


@pytest.mark.parametrize(
    ("changed", "ties", "scales"),
    [
        ({}, "random", ["theory", 1e-4]),
        ({"bonus": 0.0}, "first", [100.0]),
        ({"reward": "bernoulli", "prize": 2.0}, "first", ["theory"]),
        ({"horizon": 4}, "random", ["theory"]),
    ],
)
def test_bef_rlsvi_is_trapped_as_often_as_stated(changed, ties, scales):
    """At least (1 - e^-2)^2 = 0.75 of the seeds, whatever x; the test fails with probability 1e-6 at that rate."""
    for never in never_tried(instance("trap-two", **changed), 100, *({"scale": scale} for scale in scales), ties=ties):
        assert clopper_pearson(int(never), 100, 1 - 2e-6)[1] >= (1 - np.exp(-2)) ** 2


def test_changes_that_open_the_traps():
    """Ties at the last step of trap-two; in trap-one noise at each step, and a third step."""
    assert never_tried(instance("trap-two", bonus=0.0), 50)[0] <= 5
    assert never_tried(instance("trap-one"), 50, episodes=80)[0] >= 25
    assert never_tried(instance("trap-one"), 50, {"noise": "step"}, episodes=80)[0] <= 5
    assert never_tried(instance("trap-one", horizon=3), 50)[0] <= 5


@pytest.mark.parametrize("law", REWARDS)
def test_values_of_trap_one_by_integration(law):
    problem = instance("trap-one", pairs=2, reach=8.0, old=0.4, best=1.5, reward=law)
    mean = REWARDS[law]

    def middle(v):
        density = stats.norm(v).pdf
        inner = integrate.quad(density, -4, 4, epsabs=1e-14)[0]
        return inner / integrate.quad(density, -24, 24, points=(-v, v), epsabs=1e-14, limit=200)[0]

    first, kappa, reached = np.array([0.4, -0.4, 0.0, 0.0, 1.5]), 1 / middle(0.0), middle(8.0)
    expected = mean(first) + reached * mean(-kappa * 1.5) + (1 - reached) * mean(0.0)
    Q, V = problem.optimum
    # A step from the start back to the start has probability Phi(-12).
    assert np.allclose(Q[0, START], expected, rtol=0, atol=1e-10)
    assert V[0, START] == Q[0, START, -1] == pytest.approx(problem.optimal_value)
    assert kappa * problem.model.kernel(np.zeros((1, 3)))[0, START, -1, MIDDLE].sum() == pytest.approx(1.0, abs=1e-13)


def test_in_trap_one_the_noise_of_the_untried_arm_cancels(rng):
    """Q_1(new) = 0 for Gaussian rewards; with one pair known new is never the best, and nearly always if none is."""
    problem, n = instance("trap-one", reward="gaussian"), 3000
    d = problem.model.d
    theta_r, theta_p = rng.normal(size=(n, d)) * 100, np.zeros((n, d))
    # All arms are imagined to lead to the middle: new is the best if xi_new > max |xi_j|, by symmetry in 1/(2 d).
    times = int((plan(problem, theta_p, theta_r).argmax(1) == 2 * d - 2).sum())
    low, high = clopper_pearson(times, n, 1 - 1e-6)
    assert low <= 1 / (2 * d) <= high
    theta_p[:, 0] = 12.0
    known = plan(problem, theta_p, theta_r)
    assert np.abs(known[:, -1]).max() < 1e-10
    assert (known[:, :2].max(1) > known[:, -1]).all()


@pytest.mark.parametrize("name", ["trap-one", "trap-two"])
def test_the_assumptions_of_theorem_1_hold_and_its_bound_is_below_the_regret_of_a_trapped_agent(name):
    """The printed terms have c = 1 and 7 delta = 0.14; at K = 1e13 trap-one is still shut, with probability 0.99."""
    problem, K = instance(name), 1e13
    constants, trace = problem.constants, problem.model.features.trace[0]
    assert all(0 < constants[key] < np.inf for key in ("alpha_p", "beta_p", "alpha_r", "beta_r", "B_A", "B_phi_A"))
    assert np.isfinite(theorem_x(constants, problem.model.d, 2, 1000, 1.0, 0.05, known_reward=False))
    assert problem.R.min() >= 0 and problem.R.max() <= 1
    given = {"eta": 1.0, "delta": 0.02, "c": 1.0, "A": np.linalg.norm(trace, 2)}
    printed = terms({**constants, **given, "d": problem.model.d, "H": problem.horizon, "K": K})["theorem"]
    assert sum(printed.values()) < traps.first_gap(problem) * K
    if name == "trap-one":
        strays = problem.P[START, :, MIDDLE].sum(-1).max() + problem.P[START, :, START].max()
        assert K * strays < 0.02
