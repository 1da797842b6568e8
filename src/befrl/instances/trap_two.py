"""A trap for noise on the reward alone, p = 2: the untried best action looks like something between two others.

A state is a pair (x, y) with x in {0, 1} and y in {0, 1, 2}; psi(s') = (x', y') under the counting measure, so that x'
and y' are independent. B = e_1 and d = 4. The actions hi, lo and new move y' alone, with a parameter each, and all
rewards depend on the fourth parameter:

    U(s, a) theta = ( theta_4 (1[y = 2] + bonus_a), theta_a ),     bonus_hi = 2 bonus, bonus_new = bonus, bonus_lo = 0,
    P(y' = i | s, a) ~ exp(i theta^p_a),     natural parameter of the reward = theta^r_4 (1[y = 2] + bonus_a).

theta^p = (hi, -hi, best, 0) and theta^r_4 = prize > 0. With theta_a = 0 the law of y' is uniform; hi moves y' up, lo
moves it down, and new moves it up far more. The best policy is new, and hi at the last step. The first state is (0, 0).
BEF-RLSVI never tries new with probability (1 - e^(-2 hi))^2 or more, whatever x_k is: while its estimates for hi and lo
have the right signs, new is valued strictly between the two. docs/traps.md has the derivation.
"""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import choice, integer, number
from befrl.model import rewards
from befrl.model.families.base import FiniteFamily
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.spaces import FiniteSpace

HI, LO, NEW = range(3)
TOP = 2


@dataclass(frozen=True)
class Parameters:
    horizon: int = integer(2, 1, 10000, "steps per episode H")
    hi: float = number(1.0, 0.1, 3.0, "natural parameter of the action hi, and minus that of lo")
    best: float = number(4.0, 0.2, 8.0, "natural parameter of the best action, new")
    prize: float = number(0.8, 0.1, 5.0, "natural parameter of the reward at y = 2")
    bonus: float = number(0.05, 0.0, 1.0, "how much more the action new earns than lo, and hi more than new")
    reward: str = choice("gaussian", rewards.registry, "law of the rewards")
    reward_sd: float = number(1.0, 0.01, 10.0, "standard deviation of the rewards, for laws that have one")


def build(parameters: Parameters) -> Instance:
    psi = np.array([(x, y) for x in range(2) for y in range(TOP + 1)], dtype=float)
    S, A = len(psi), 3
    # phi = (one-hot action, what the reward depends on); A_1, A_2, A_3 map to the second component, A_4 to the first.
    phi = np.zeros((S, A, A + 1))
    phi[..., :A] = np.eye(A)
    phi[..., A] = (psi[:, 1] == TOP)[:, None]
    phi[:, HI, A] += 2 * parameters.bonus
    phi[:, NEW, A] += parameters.bonus
    matrices = np.zeros((A + 1, 2, A + 1))
    matrices[range(A), 1, range(A)] = 1.0
    matrices[A, 0, A] = 1.0
    reward = rewards.make(parameters.reward, parameters.reward_sd)
    space = FiniteSpace(S)
    family = FiniteFamily(space, psi, np.zeros(S))
    model = Model(Features.dense(phi, matrices), family, reward, B=np.array([1.0, 0.0]))
    theta_p = np.array([parameters.hi, -parameters.hi, parameters.best, 0.0])
    theta_r = np.array([0.0, 0.0, 0.0, parameters.prize])
    return Instance(model, parameters.horizon, theta_p, theta_r, **space.first(0))
