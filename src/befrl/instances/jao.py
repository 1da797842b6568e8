"""Two states, good and bad, with many arms of which one is better by eps: the family of the lower bounds.

After Jaksch, Ortner and Auer (2010). psi(s') = 1[s' = good], p = 1, one-hot features, d = 2 A, B = 1:

    P(good | s, a) = 1/(1 + exp(-theta_{s,a})),

which is `rate` in the bad state for all arms but one, rate + eps for that one, and 1 - `rate` in the good state for all
arms. Rewards are Bernoulli with mean 0.9 in the good state and 0.1 in the bad one. Episodes start in the bad state.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

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
    arms: int = integer(4, 2, 1000, "number of actions A")
    horizon: int = integer(20, 1, 10000, "steps per episode H")
    rate: float = number(0.1, 0.001, 0.45, "probability of leaving a state")
    eps: float = number(0.1, 0.001, 0.5, "by how much the best arm leaves the bad state more often")


def build(parameters: Parameters) -> Instance:
    A = parameters.arms
    good = np.full((2, A), parameters.rate)
    good[BAD, -1] += parameters.eps
    good[GOOD] = 1 - parameters.rate
    means = np.repeat([[0.1], [0.9]], A, axis=1)
    reward = bernoulli.Law()
    family = FiniteFamily(FiniteSpace(2), np.array([[0.0], [1.0]]), np.zeros(2))
    return Instance(
        model=Model(Features.one_hot(2, A, p=1), family, reward, B=np.ones(1)),
        horizon=parameters.horizon,
        theta_p=logit(good).ravel(),
        theta_r=reward.natural(means).ravel(),
        start=lambda u: np.full(len(u), BAD),
        start_masses=np.array([1.0, 0.0]),
    )
