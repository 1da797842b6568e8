"""A trap for noise on the reward alone, p = 1: the noise of the untried best arm cancels between two imagined steps.

The state is a number z in [-24, 24], stored as s in [0, 1]. psi(s') = z' under the base measure N(0, 1) cut to that
interval, so that z' ~ N(v, 1), cut, with v = U theta. B = 1 and H = 2. There are `pairs` pairs of arms, +j and -j, and
one more, new; d = pairs + 1. The features depend on where the state is:

    start (z > 20):      e_j for the arm +j,   -e_j for -j,   e_new for new
    middle (|z| < 4):    -kappa e_new for all arms,   kappa = 1/P_0(middle) = 1.00006, P_0 being the law of v = 0
    elsewhere:           0

theta^p = reach for all parameters: new and every +j lead to the right, -j to the left, and none to the middle, up to a
probability of Phi(4 - reach). theta^r is `old` for the first pair, 0 for the others and `best` for new, the best arm.

**Why BEF-RLSVI is trapped.** An untried arm has theta^ = 0, so that new is imagined to lead to the middle, whereas a
pair that was tried is known not to. With Gaussian rewards, theta~_new = xi_new and p_j = P_{theta^_j}(middle),

    Q~_1(new) = xi_new - kappa P_0(middle) xi_new = 0          for every xi_new,
    max( Q~_1(+j), Q~_1(-j) ) = |theta~_j| - kappa p_j xi_new,

so that new is the best arm only if kappa p_j xi_new > |theta~_j| for every pair tried. p_j falls from 1/2 after one
trial to 7e-4 after three (for eta = 1) and tends to 6e-16; both sides grow like sqrt(x_k) while noise dominates, and
later |theta~_1| tends to `old`: no x_k helps. Bernoulli rewards cancel too, since mean(c) + mean(-c) = 1, up to P_0(not
middle) = 6e-5. In the first episode all arms are imagined to lead to the middle, and new is chosen if xi_new > max_j
|xi_j|, with probability 1/(2 pairs + 2) (Bernoulli rewards that noise saturates tie, and the rule for ties decides);
the next two episodes add a little, while the penalty keeps theta^_j small. After that new is tried when a known arm
strays into the middle, with probability Phi(4 - reach) = 6e-16 per episode. Until then the regret of every episode is
at least V* - Q*_1(s_1, +1). Episodes of more than two steps visit the middle, which opens the trap.

**Others.** Independent noise at each step (`noise: step`) does not cancel, and opens the trap. exp-psrl is trapped by
its prior N(0, (eta A)^-1), in which theta = reach has no weight, and no more if eta is 0.1; optimism, and noise on
values, are not trapped.

**What it means for Theorem 1.** With Bernoulli rewards all that the theorem asks holds, in every reading of alpha_r:
phi = one-hot(place, arm) >= 0, rewards in {0, 1}, positive alpha and beta on a compact set. A base measure that does
not depend on (s,a) becomes Lebesgue measure on [0, 1] if the state is replaced by its CDF, and psi becomes nonnegative
by adding a constant, which Z absorbs. The bound grows like sqrt(K); with c = 1 and delta = 0.02 it is below gap K at K
= 1e13, and the trap stays shut for about 1e15 episodes: the theorem is false. The proof fails where it bounds sum_h E
G_{s_h,a_h} by u u', u = sum_h E U(s_h,a_h), that is |a|^2 + |b|^2 by |a + b|^2: here a + b = 0. The error of the
transitions follows the left side, the noise the right.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from befrl.common.parameters import choice, integer, number
from befrl.model import rewards
from befrl.model.families.truncated_normal import TruncatedNormal
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.spaces import BinnedInterval

# Bins of width 4 in z; the two in the middle, and the last one, in which episodes start.
BINS, WIDTH = 12, 4.0
MIDDLE, START = slice(5, 7), 11
NODES = 32


@dataclass(frozen=True)
class Parameters:
    horizon: int = integer(2, 1, 10000, "steps per episode H; the trap needs 2")
    pairs: int = integer(4, 1, 30, "number of pairs of arms beside the best")
    reach: float = number(12.0, 6.0, 13.0, "natural parameter of the transitions of all arms")
    old: float = number(0.5, 0.0, 5.0, "natural parameter of the reward of the first arm")
    best: float = number(2.0, 0.1, 5.0, "natural parameter of the reward of the best arm")
    reward: str = choice("bernoulli", rewards.registry, "law of the rewards")
    reward_sd: float = number(1.0, 0.01, 10.0, "standard deviation of the rewards, for laws that have one")


def build(parameters: Parameters) -> Instance:
    d, A = parameters.pairs + 1, 2 * parameters.pairs + 1
    sigma = 1 / (BINS * WIDTH)
    # phi = (one-hot arm at the start, in the middle or not): arms +1, -1, +2, -2, ..., new.
    phi = np.zeros((BINS, A, A + 1))
    phi[START, :, :A] = np.eye(A)
    phi[MIDDLE, :, A] = 1.0
    matrices = np.zeros((d, 1, A + 1))
    pairs = np.arange(parameters.pairs)
    matrices[pairs, 0, 2 * pairs] = 1.0
    matrices[pairs, 0, 2 * pairs + 1] = -1.0
    whole = ndtr(BINS * WIDTH / 2) - ndtr(-BINS * WIDTH / 2)
    matrices[-1, 0, [A - 1, A]] = 1.0, -whole / (ndtr(WIDTH) - ndtr(-WIDTH))
    reward = rewards.make(parameters.reward, parameters.reward_sd)
    theta_r = np.zeros(d)
    theta_r[0], theta_r[-1] = parameters.old, parameters.best
    family = TruncatedNormal(BinnedInterval(BINS, nodes_per_cell=NODES), sigma)
    return Instance(
        model=Model(Features.dense(phi, matrices), family, reward, B=np.ones(1)),
        horizon=parameters.horizon,
        theta_p=np.full(d, parameters.reach),
        theta_r=theta_r,
        start=lambda u: (START + u) / BINS,
        start_masses=np.eye(BINS)[START],
    )
