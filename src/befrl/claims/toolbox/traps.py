"""MDPs in which BEF-RLSVI ignores an untried action, and runs of the algorithm on them.

An episode starts at one state with the actions up, down and new, of features e_1, -e_1 and e_2 in R^3. They draw a
number y ~ N(feature . theta_p, 1), and the second step has the feature F(y). Both steps yield a reward of variance 1
and mean feature . theta_r; in `hidden` the first step's mean is 0. All features are multiples of unit vectors, so that
designs are diagonal.

    hidden      p = 2: B is orthogonal to what the first step moves. F(y) = Phi(y) e_3
    cancelling  p = 1: F(y) = -w e_2 if |y| <= 1, w = 1/P(|N(0,1)| <= 1), and e_3 if y > 2m - 2
    one step    p = 1, H = 1: no second step

Bold A = I, all alpha and beta are 1, and the mean rewards of the true parameters lie in [0,1]. `bounded` is the hidden
trap with other laws, in `bounded_trap.py`.
"""

import math

import numpy as np
from scipy.special import ndtr

from befrl.claims.toolbox import bounded_trap

ARMS = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
NEW = 2
WEIGHT = 1 / (2 * float(ndtr(1.0)) - 1)
THETA_R = {"hidden": (0.0, 0.0, 1.0), "cancelling": (0.0, 0.0, 1.0), "one step": (0.0, 1.0, 0.0)}
EXACT = 10_000  # episodes of which `later` adds up the bounds one by one


def theta_p(case):
    """The true parameter of the transitions: up and down move y to m and -m, new to M, or to 2m."""
    return np.array([case["m"], case["M"] if case["trap"] == "hidden" else 2 * case["m"], 0.0])


def constants(case):
    """The constants of Theorem 1, as `befrl.model.theorem` names them."""
    if case["trap"] == bounded_trap.NAME:
        return bounded_trap.printed_constants()
    norms = {"B_A": max(1.0, float(np.linalg.norm(theta_p(case)))), "A": 1.0}
    norms |= {"B_phi_A": WEIGHT**2 if case["trap"] == "cancelling" else 1.0}
    unit = dict.fromkeys(("alpha_p", "beta_p", "alpha_r", "beta_r"), 1.0)
    return unit | norms | {"d": 3.0, "H": 1.0 if case["trap"] == "one step" else 2.0}


def second_feature(case, y, spread=0.0):
    """E F(y + spread N(0,1)), (..., 3); spread 0 is F itself."""
    found = np.zeros((*np.shape(y), 3))
    if case["trap"] == "hidden":
        found[..., 2] = ndtr(y / math.sqrt(1 + spread**2))
    elif case["trap"] == "cancelling":
        below = (lambda t: ndtr((t - y) / spread)) if spread else (lambda t: (y <= t).astype(float))
        found[..., 1] = -WEIGHT * (below(1.0) - below(-1.0))
        found[..., 2] = 1 - below(2 * case["m"] - 2)
    return found


def gap(case):
    """The regret of an episode without the action new, at least: V* minus the larger value of up and down."""
    if case["trap"] == bounded_trap.NAME:
        return bounded_trap.gap()
    theta_r, means = np.array(THETA_R[case["trap"]]), ARMS @ theta_p(case)
    start = 0.0 if case["trap"] == "hidden" else ARMS @ theta_r
    values = start + second_feature(case, means, 1.0) @ theta_r
    return float(values[NEW] - values[:NEW].max())


def first_trials(case, x, runs, episodes, rng):
    """Run BEF-RLSVI; the episodes, from 1, in which each run first plays new, or episodes + 1."""
    p, r, seen = theta_p(case), np.array(THETA_R[case["trap"]]), case["trap"] != "hidden"
    design, curvature = (np.full((runs, 3), case["eta"]) for _ in range(2))
    moved, paid = np.zeros((runs, 3)), np.zeros((runs, 3))
    first = np.full(runs, episodes + 1)
    for k in range(1, episodes + 1):
        theta = paid / curvature + np.sqrt(x / design) * rng.standard_normal((runs, 3))
        imagined = second_feature(case, (moved / design) @ ARMS.T, 1.0) + seen * ARMS
        Q = np.einsum("nai,ni->na", imagined, theta)
        ties = np.where(Q == Q.max(1, keepdims=True), rng.random((runs, 3)), -1.0)
        u = ARMS[ties.argmax(1)]
        y, rewards, last = rng.standard_normal((3, runs, 1))
        y = y + (u @ p)[:, None]
        f = second_feature(case, y[:, 0])
        design, moved = design + u**2 + f**2, moved + u * y + f * (last + (f @ p)[:, None])
        curvature = curvature + seen * u**2 + f**2
        paid += seen * u * (rewards + (u @ r)[:, None]) + f * (rng.standard_normal((runs, 1)) + (f @ r)[:, None])
        first = np.where((u[:, 1] > 0) & (first > k), k, first)
    return first


def later(case, after, K):
    """A bound on the chance that new is played first in one of the episodes after + 1, ..., K.

    one step: 1, no bound.
    hidden, bounded: 0. The values of up and down lie on both sides of that of new, as their estimate is not 0.
    cancelling: while F(y) was 0 in n = k - 1 episodes, the estimate of m is N(mu, v), mu = mn/(n+eta), v = n/(n+eta)^2;
    new needs |theta~_1| <= a |theta~_3| + b |theta~_2|, a and b being chances that an imagined y has F(y) != 0. The
    density of theta~_1 is at most sqrt((n+eta)/(2 pi x)), so the chance is at most 2/pi (E a + E b) sqrt((n+eta)/eta).
    """
    if case["trap"] != "cancelling":
        return 1.0 if case["trap"] == "one step" else 0.0
    m, eta = case["m"], case["eta"]

    def chances(n):
        mu, spread = m * n / (n + eta), np.sqrt(1 + n / (n + eta) ** 2)
        near = WEIGHT * ndtr((1 - mu) / spread)
        return 2 / math.pi * (near + 2 * ndtr((2 - m) / spread) + ndtr(2 - 2 * m))

    n = np.arange(after, min(K, EXACT), dtype=float)
    total = (chances(n) * np.sqrt((n + eta) / eta)).sum()
    if K > EXACT:
        total += chances(float(EXACT)) * (K + eta) ** 1.5 * 2 / 3 / math.sqrt(eta)
    return float(total + K * (ndtr(1 - m) + ndtr(2 - m)))
