"""The counterexample to Theorem 1 that meets all its hypotheses, p = 1: the noise of the untried best arm cancels.

The state is a number z in [-36, 36], stored as s in [0, 1]. psi(s') = z' under the base measure N(0, 1) cut to that
interval, so that z' ~ N(v, 1), cut, with v = U theta. (With the CDF of z for the state there is no base measure, and
psi = 36 + z is nonnegative.) B = 1, H = 2 and d = 2. Rewards lie in [0, 1], with a density ~ exp(c r). U is

    start (-18 < z < -9): (1, 0) for the arm up,   (-1, 0) for down,   (0, 1) for new
    middle (|z| < 9):     (0, -1) for all arms
    elsewhere:            0

theta^p = (reach, reach): up and new lead to the right, down to the left, and none to the middle. theta^r = (0, best).
The mean reward is 1/2 + g(c), g odd, increasing and concave for c > 0. While new is untried its estimates are 0, it is
imagined to lead to the middle, where its noise xi counts with the opposite sign, and

    max(Q~_1(up), Q~_1(down)) - Q~_1(new) = g(|theta~_1|) - rho g(xi),   rho = 1 - P_0(middle) + P_{theta^_1}(middle).

rho is 1 in the first episode, where new is tried with probability 1/4. With eta = 0.01 it is about 3 Phi(-9) = 3e-19
after that (the start adds Phi(-9)), and new is not tried, whatever x_k is, for 1e13 episodes or so; from 6e8 episodes
on the regret exceeds the bound of Theorem 1 (delta = 0.1, c = 1). With eta = 1 the first estimate is 9 and not 27,
and rho is 1/2 in the second episode. docs/traps.md has the derivation.
"""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import choice, integer, number
from befrl.model import rewards
from befrl.model.families.truncated_normal import TruncatedNormal
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.spaces import BinnedInterval

# Bins of width 9 in z; the two in the middle, and the one to their left, in which episodes start.
# `TruncatedNormal` overflows at v = 0 if z exceeds 37.
BINS, WIDTH = 8, 9.0
MIDDLE, START = slice(3, 5), 2
NODES = 64
UP, DOWN, NEW = range(3)


@dataclass(frozen=True)
class Parameters:
    horizon: int = integer(2, 1, 10000, "steps per episode H; the trap needs 2")
    reach: float = number(27.0, 20.0, 27.0, "natural parameter of the transitions of all arms")
    best: float = number(3.0, 0.1, 20.0, "natural parameter of the reward of the best arm")
    reward: str = choice("truncated-exponential", rewards.registry, "law of the rewards")
    reward_sd: float = number(1.0, 0.01, 10.0, "standard deviation of the rewards, for laws that have one")


def build(parameters: Parameters) -> Instance:
    # phi = (one-hot arm at the start, in the middle or not).
    phi = np.zeros((BINS, 3, 4))
    phi[START, :, :3] = np.eye(3)
    phi[MIDDLE, :, 3] = 1.0
    matrices = np.zeros((2, 1, 4))
    matrices[0, 0, [UP, DOWN]] = 1.0, -1.0
    matrices[1, 0, [NEW, 3]] = 1.0, -1.0
    reward = rewards.make(parameters.reward, parameters.reward_sd)
    space = BinnedInterval(BINS, nodes_per_cell=NODES)
    family = TruncatedNormal(space, 1 / (BINS * WIDTH))
    model = Model(Features.dense(phi, matrices), family, reward, B=np.ones(1))
    theta_p, theta_r = np.full(2, parameters.reach), np.array([0.0, parameters.best])
    return Instance(model, parameters.horizon, theta_p, theta_r, **space.first(START))
