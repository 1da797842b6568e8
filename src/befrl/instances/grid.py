"""A square grid world with slips: walk from one corner to the opposite one, where every step earns 1.

As in rlberry, from which Tiapkin et al. (2022) take it. The actions are left, right, up and down. A move succeeds with
probability `success`; otherwise the next state is one of the other neighbours, with equal probabilities. A move off the
grid stays in place. The reward is 1 in the last corner, for every action, and 0 elsewhere; the corner can be left.

The colour of row x and column y is (2 x + y) mod 5: a state and its four neighbours have five different colours.
psi(s') is the one-hot of the colour of s', p = 5. phi(s,a) is the one-hot of the intended neighbour's colour, zero off
the grid, and a sixth feature that is 1 in the last corner. With A_1 = (I, 0), A_2 = e_1 e_6' and B = e_1, d = 2. The
known base measure gives 1/2 to the intended neighbour and the other half to the others in equal shares. So theta_1 is
the log-odds of success; theta_2 is 0 for next states, and the parameter of the reward in the last corner.

Deviations: rewards, deterministic in the source, are Gaussian with the same means, as in `riverswim.py`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from befrl.common.parameters import integer, number
from befrl.model.families.base import FiniteFamily
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import gaussian
from befrl.model.spaces import FiniteSpace

MOVES = np.array([(0, -1), (0, 1), (-1, 0), (1, 0)])  # rows and columns
COLOURS = 5


@dataclass(frozen=True)
class Parameters:
    size: int = integer(3, 2, 30, "number of rows, and of columns")
    horizon: int = integer(10, 1, 10000, "steps per episode H")
    success: float = number(0.8, 0.01, 0.99, "probability that a move succeeds")
    reward_sd: float = number(0.5, 0.01, 10.0, "standard deviation of the Gaussian rewards")


def colours(size):
    """The colour of each state, (S,); states are numbered row by row."""
    return np.add.outer(2 * np.arange(size), np.arange(size)).ravel() % COLOURS


def structure(size):
    """The base measure (S, 4, S), and the one-hot of the colour of the intended neighbour, (S, 4, 5)."""
    S, colour = size * size, colours(size)
    base, intended = np.zeros((S, 4, S)), np.zeros((S, 4, COLOURS))
    for s in range(S):
        targets = np.array(divmod(s, size)) + MOVES
        valid, states = ((targets >= 0) & (targets < size)).all(1), targets @ [size, 1]
        for a in range(4):
            if valid[a]:
                base[s, a, states[valid]] = 0.5 / (valid.sum() - 1)
                base[s, a, states[a]] = 0.5
                intended[s, a, colour[states[a]]] = 1.0
            else:
                base[s, a, s] = 1.0
    return base, intended


def build(parameters: Parameters) -> Instance:
    base, intended = structure(parameters.size)
    S, reward = len(base), gaussian.Law(parameters.reward_sd)
    goal = np.zeros((S, 4, 1))
    goal[-1] = 1.0
    space, A = FiniteSpace(S), np.zeros((2, COLOURS, COLOURS + 1))
    A[0, :, :COLOURS], A[1, 0, COLOURS] = np.eye(COLOURS), 1.0
    with np.errstate(divide="ignore"):
        family = FiniteFamily(space, np.eye(COLOURS)[colours(parameters.size)], np.log(base))
    model = Model(Features.dense(np.concatenate([intended, goal], axis=-1), A), family, reward, B=np.eye(COLOURS)[0])
    theta_p, theta_r = np.array([logit(parameters.success), 0.0]), np.array([0.0, reward.natural(1.0)])
    return Instance(model, parameters.horizon, theta_p, theta_r, **space.first(0))
