"""Two states, good and bad, with many arms of which one is better by eps: the family of the lower bounds.

After Jaksch, Ortner and Auer (2010). psi(s') = 1[s' = good], p = 1, one-hot features, d = 2 A, B = 1. P(good | s, a) =
1/(1 + exp(-theta_{s,a})) is `rate` in the bad state, rate + eps for its last arm, and 1 - `leave` in the good state.
Rewards are Bernoulli: mean `background` in the bad state, `bonus` more for its first arm, and `top` in the good state.
Episodes start in the bad state. With D_t = V*(good) - V*(bad) in the t steps after the present one, the last arm is
optimal where eps D_t > bonus, and the first arm where eps D_t < bonus.

An untried arm is estimated at theta = 0: mean reward 1/2 and P(good) = 1/2. With 1/2 for `background` and `rate`, the
defaults, this prior neither helps nor harms; below 1/2 a greedy agent tries all arms. Because of the bonus only
exploration finds the last arm. Without it all arms tie at the last step if rewards are known: random ties then explore.

Deviations: the source has bonus = 0, leave = rate, background = 0, top = 1. Means of 0 and 1 have no finite parameter.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from befrl.common.errors import InputError
from befrl.common.parameters import integer, number
from befrl.model.families.base import FiniteFamily
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import bernoulli
from befrl.model.spaces import FiniteSpace

BAD, GOOD = 0, 1


@dataclass(frozen=True)
class Parameters:
    arms: int = integer(6, 2, 1000, "number of actions A")
    horizon: int = integer(20, 1, 10000, "steps per episode H")
    rate: float = number(0.5, 0.001, 0.998, "probability of leaving the bad state, for all arms but the last")
    eps: float = number(0.3, 0.001, 0.998, "by how much the last arm leaves the bad state more often")
    leave: float = number(0.2, 0.001, 0.999, "probability of leaving the good state")
    background: float = number(0.5, 0.001, 0.998, "mean reward in the bad state")
    bonus: float = number(0.05, 0.0, 0.99, "by how much the first arm earns more in the bad state")
    top: float = number(0.9, 0.002, 0.999, "mean reward in the good state")

    def __post_init__(self):
        if self.rate + self.eps > 0.999:
            raise InputError(f"instance 'jao': rate + eps = {self.rate + self.eps:g} must be at most 0.999")
        best = self.background + self.bonus
        if best >= self.top:
            raise InputError(f"instance 'jao': background + bonus = {best:g} must be below top = {self.top:g}")


def build(parameters: Parameters) -> Instance:
    A = parameters.arms
    good = np.full((2, A), parameters.rate)
    good[BAD, -1] += parameters.eps
    good[GOOD] = 1 - parameters.leave
    means = np.repeat([[parameters.background], [parameters.top]], A, axis=1)
    means[BAD, 0] += parameters.bonus
    space, reward = FiniteSpace(2), bernoulli.Law()
    family = FiniteFamily(space, np.array([[0.0], [1.0]]), np.zeros(2))
    model = Model(Features.one_hot(2, A, p=1), family, reward, B=np.ones(1))
    theta_p, theta_r = logit(good).ravel(), reward.natural(means).ravel()
    return Instance(model, parameters.horizon, theta_p, theta_r, **space.first(BAD))
