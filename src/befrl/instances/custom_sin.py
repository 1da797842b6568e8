"""The benchmark of Li et al. (NeurIPS 2022) for score matching: a heavy-tailed law tilted by a sine.

    p(s'|s, a) ~ exp(-|s'|^1.7/1.7) exp(strength sin(4 s') (s + a)),   a in {-1, 1},   s_1 uniform on [-1, 1]
    r(s) = exp(-10 (s - pi/8)^2) + exp(-10 (s + 3 pi/8)^2),   H = 10

psi(s') = (sin 4 s', ..., sin 4 w s'), w = `waves`; theta*_p is zero beyond the first wave. phi(s, a) = (s + a, r(s)),
and rewards are Gaussian around r(s), which is known in the source. The mass beyond the box is 1e-10.
"""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import integer, number
from befrl.model.families.base import ContinuousFamily
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import gaussian
from befrl.model.spaces import SmoothBox

ACTIONS = np.array([-1.0, 1.0])
REACH, ORDER = 9.0, 9


@dataclass(frozen=True)
class Parameters:
    horizon: int = integer(10, 1, 10000, "steps per episode H")
    strength: float = number(1.0, 0.05, 1.0, "size of theta: how much the action matters")
    waves: int = integer(1, 1, 4, "number w of sines in psi; d = 2 w")
    reward_sd: float = number(0.1, 0.01, 10.0, "standard deviation of the rewards")


def bumps(s):
    """The published reward."""
    return np.exp(-10 * (s - np.pi / 8) ** 2) + np.exp(-10 * (s + 3 * np.pi / 8) ** 2)


def build(parameters: Parameters) -> Instance:
    w = parameters.waves
    # |s'|^1.7 has a kink at zero: cells end there and shrink towards it. Far out they can be wide.
    right = np.concatenate([[0.02, 0.08], np.arange(1, 13) / 4, [3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, REACH]])
    space = SmoothBox([np.concatenate([-right[::-1], [0.0], right])], ORDER + 2 * (w - 1), unbounded=True)
    family = ContinuousFamily(
        space,
        statistic=lambda s: np.sin(4.0 * np.multiply.outer(s, np.arange(1, w + 1))),
        log_base_at=lambda s: -(np.abs(s) ** 1.7) / 1.7,
        diameter=2 * np.sqrt(w),
    )

    def phi(s):
        s = np.clip(np.asarray(s), -REACH, REACH)[:, None]
        return np.stack(np.broadcast_arrays(s + ACTIONS, bumps(s)), axis=-1)

    reward = gaussian.Law(parameters.reward_sd)
    model = Model.smooth_in(phi, family, reward, B=np.eye(w)[0])
    theta_p, theta_r = np.zeros((2, w, 2))
    theta_p[0, 0], theta_r[0, 1] = parameters.strength, reward.natural(1.0)
    return Instance(model, parameters.horizon, theta_p.ravel(), theta_r.ravel(), **space.uniform(-1.0, 1.0))
