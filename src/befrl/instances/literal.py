"""A truncated-exponential chain on [0, 1], on which every modelling assumption of the paper holds literally.

Lebesgue measure without a base measure, psi(s') = s', p = 1, rewards on [0, 1] with a density: equations (1) and (2) of
the paper as printed, on a compact set of parameters. J bins and two actions, left (0) and right (1), one-hot features,
d = 2 J, B = 1. The next state has density proportional to exp(c s'), c = theta_{bin,a}, with mean 1/(1 - e^-c) - 1/c,
which is centre - `left` or centre + `right`, kept within [margin, 1 - margin]. Mean rewards are 0.6 at (first bin,
left), 0.95 at (last bin, right) and 0.5 elsewhere, as in `chain`. The first state is uniform on the first bin.
"""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import integer, number
from befrl.model.families.truncated_exponential import TruncatedExponentialStates
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import truncated_exponential
from befrl.model.spaces import BinnedInterval


@dataclass(frozen=True)
class Parameters:
    bins: int = integer(6, 2, 1000, "number of bins J")
    horizon: int = integer(20, 1, 10000, "steps per episode H")
    left: float = number(0.3, 0.0, 1.0, "how far the mean of the action left is below the bin's centre")
    right: float = number(0.02, 0.0, 1.0, "how far the mean of the action right is above the bin's centre")
    margin: float = number(0.05, 0.01, 0.45, "smallest distance of a mean from the ends of [0, 1]")


def build(parameters: Parameters) -> Instance:
    J, law = parameters.bins, truncated_exponential.Law()
    space = BinnedInterval(J)
    model = Model(Features.one_hot(J, 2, p=1), TruncatedExponentialStates(space), law, B=np.ones(1))
    centre = (np.arange(J) + 0.5) / J
    f = np.stack([centre - parameters.left, centre + parameters.right], axis=1)
    f = np.clip(f, parameters.margin, 1 - parameters.margin)
    means = np.full((J, 2), 0.5)
    means[0, 0], means[-1, 1] = 0.6, 0.95
    theta_p, theta_r = law.natural(f).ravel(), law.natural(means).ravel()
    return Instance(model, parameters.horizon, theta_p, theta_r, **space.first(0))
