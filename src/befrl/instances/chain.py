"""A truncated-normal chain on [0, 1]: walk right against the drift to a large reward, or stay left for a small one.

J bins and two actions, left (0) and right (1); one-hot features in (bin, action), A_i = e_i', p = 1, d = 2 J, B = 1:

    s' ~ N(f, sigma^2) cut to [0, 1],   theta_{bin,a} = (f - 1/2)/sigma,   f = centre - `left` or centre + `right`.

Mean rewards are 0.5 + 0.1 c at (first bin, left), 0.5 + 0.45 c at (last bin, right) and 0.5 elsewhere. The estimate of
a bounded reward at theta = 0 is 0.5 too, so that a greedy agent has no reason to explore. The contrast c multiplies
V* - V^pi of every policy and changes no transition. The first state is uniform on the first bin.
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


@dataclass(frozen=True)
class Parameters:
    bins: int = integer(8, 2, 1000, "number of bins J")
    horizon: int = integer(40, 1, 10000, "steps per episode H")
    sigma: float = number(0.1, 0.02, 1.0, "standard deviation of a step before truncation")
    left: float = number(0.1, 0.0, 0.5, "how far the action left aims below the bin's centre")
    right: float = number(0.06, 0.0, 0.5, "how far the action right aims above the bin's centre")
    contrast: float = number(1.0, 0.001, 1.0, "multiple c of what both ends earn more than the bins between")
    reward: str = choice("bernoulli", rewards.registry, "law of the rewards")
    reward_sd: float = number(0.5, 0.01, 10.0, "standard deviation of the rewards, for laws that have one")


def build(parameters: Parameters) -> Instance:
    J, sigma = parameters.bins, parameters.sigma
    # Enough nodes to resolve sigma, however wide the bins are.
    space = BinnedInterval(J, nodes_per_cell=16 + round(4 / (J * sigma)))
    reward = rewards.make(parameters.reward, parameters.reward_sd)
    model = Model(Features.one_hot(J, 2, p=1), TruncatedNormal(space, sigma), reward, B=np.ones(1))
    centre = (np.arange(J) + 0.5) / J
    f = np.stack([centre - parameters.left, centre + parameters.right], axis=1)
    means = np.full((J, 2), 0.5)
    means[0, 0] += 0.1 * parameters.contrast
    means[-1, 1] += 0.45 * parameters.contrast
    theta_p, theta_r = ((f - 0.5) / sigma).ravel(), reward.natural(means).ravel()
    return Instance(model, parameters.horizon, theta_p, theta_r, **space.first(0))
