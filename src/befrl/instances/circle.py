"""A walk on the circle with von Mises steps: p = 2, full-matrix A_i, smooth features.

phi(s, a) = (periodic hats at K knots) x (action), q = 2 K, and M_theta is any 2 x q matrix, d = 2 q. The natural
parameter is kappa (cos m_k, sin m_k) at knot k and linear in between, with m_k = knot - back (action 0) or knot + ahead
(action 1), measured away from angle 0 and never past 0 or pi. Mean rewards are 0.6 for going back at angle 0, 0.95 for
going ahead at angle pi and 1/2 at all other knots. The first state is uniform on a cell at angle 0.
"""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import integer, number
from befrl.model.families.von_mises import VonMises
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import bernoulli
from befrl.model.spaces import SmoothBox

ORDER = 5


@dataclass(frozen=True)
class Parameters:
    knots: int = integer(8, 4, 64, "number of knots K of the hats, an even number; d = 4 K")
    horizon: int = integer(30, 1, 10000, "steps per episode H")
    kappa: float = number(15.0, 0.5, 100.0, "concentration of a step at the knots")
    back: float = number(0.6, 0.0, 3.0, "how far action 0 aims towards angle 0")
    ahead: float = number(0.4, 0.0, 3.0, "how far action 1 aims away from angle 0")


def build(parameters: Parameters) -> Instance:
    K, kappa = parameters.knots + parameters.knots % 2, parameters.kappa
    # Cells end at the knots, where hats have kinks, and are narrow compared with the width 1/sqrt(kappa) of a step.
    split = int(np.ceil(2 * np.pi / K * np.sqrt(kappa)))
    space = SmoothBox([np.linspace(-np.pi, np.pi, K * split + 1)], ORDER, periodic=True)
    knots = -np.pi + 2 * np.pi * np.arange(K) / K

    def phi(s):
        place = (np.asarray(s) + np.pi) * K / (2 * np.pi)
        apart = np.abs(place[:, None] - np.arange(K))
        hats = np.maximum(0.0, 1.0 - np.minimum(apart, K - apart))
        features = np.zeros((len(hats), 2, 2, K))
        features[:, 0, 0] = features[:, 1, 1] = hats
        return features.reshape(len(hats), 2, 2 * K)

    model = Model.smooth_in(phi, VonMises(space), bernoulli.Law(), B=[1.0, 0.0])
    side, away = np.where(knots < 0, -1.0, 1.0), np.abs(knots)
    aims = side * np.stack([np.maximum(away - parameters.back, 0.0), np.minimum(away + parameters.ahead, np.pi)])
    means = np.full((2, K), 0.5)
    means[0, K // 2], means[1, 0] = 0.6, 0.95
    theta_r = np.zeros((2, 2, K))
    theta_r[0] = bernoulli.Law().natural(means)
    theta_p = (kappa * np.stack([np.cos(aims), np.sin(aims)])).ravel()
    first = space.uniform(0.0, 2 * np.pi / (K * split))
    return Instance(model, parameters.horizon, theta_p, theta_r.ravel(), **first)
