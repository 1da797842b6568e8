"""A trap for noise on the reward alone, p = 1: the noise of the untried best arm cancels between two imagined steps.

The state is a number z in [-24, 24], stored as s in [0, 1]. psi(s') = z' under the base measure N(0, 1) cut to that
interval, so that z' ~ N(v, 1), cut, with v = U theta. B = 1 and H = 2. There are `pairs` pairs of arms, +j and -j, and
one more, new; d = pairs + 1. The features depend on where the state is:

    start (z > 20):      e_j for the arm +j,   -e_j for -j,   e_new for new
    middle (|z| < 4):    -kappa e_new for all arms,   kappa = 1/P_0(middle) = 1.00006, P_0 being the law of v = 0
    elsewhere:           0

theta^p = reach for all parameters: new and every +j lead to the right, -j to the left, and none to the middle, up to a
probability of Phi(4 - reach). theta^r is `old` for the first pair, 0 for the others and `best` for new, the best arm.
BEF-RLSVI imagines that the untried arm new leads to the middle, where its noise xi_new counts with the opposite sign:
its value is xi_new - kappa P_0(middle) xi_new = 0 for every noise scale. docs/traps.md has the derivation.
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
    space = BinnedInterval(BINS, nodes_per_cell=NODES)
    model = Model(Features.dense(phi, matrices), TruncatedNormal(space, sigma), reward, B=np.ones(1))
    return Instance(model, parameters.horizon, np.full(d, parameters.reach), theta_r, **space.first(START))
