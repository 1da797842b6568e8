"""A ring of n machines, each on or off: a factored MDP whose bits are independent given the present state.

After the system administrator problem of Guestrin et al. (2003). psi(s') = s' in {0, 1}^n, p = n, d = 5 n, and A_i =
e_j f' selects a configuration of what bit j depends on: whether it is rebooted and, if not, itself and its left
neighbour. P(bit j on) = 1/(1 + exp(-theta_{j, configuration})). Action 0 does nothing, action j reboots machine j.
Rewards are Gaussian, B = (1, ..., 1); their mean is the share of machines that are on minus `cost` for a reboot. Every
machine is on at the start.
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

# Probability of being on, by (own bit, left neighbour's bit), and after a reboot.
STAYS_ON = {(0, 0): 0.05, (0, 1): 0.1, (1, 0): 0.5, (1, 1): 0.9}
REBOOTED = 0.95
CONFIGURATIONS = len(STAYS_ON) + 1


@dataclass(frozen=True)
class Parameters:
    machines: int = integer(3, 2, 8, "number of machines n; there are 2^n states")
    horizon: int = integer(15, 1, 10000, "steps per episode H")
    cost: float = number(0.1, 0.0, 1.0, "cost of a reboot")
    reward_sd: float = number(0.5, 0.01, 10.0, "standard deviation of the Gaussian rewards")


def build(parameters: Parameters) -> Instance:
    n = parameters.machines
    space, bits = FiniteSpace(2**n), (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    d = n * CONFIGURATIONS
    U = np.eye(d)[np.arange(n) * CONFIGURATIONS + configurations(bits)]
    # A_i = e_j f', where f picks one of the configurations, has tr(A_i A_j') = 1 for i = j and 0 otherwise.
    features = Features(U, np.zeros((2**n, n + 1), dtype=int), np.eye(d)[None])
    reward = gaussian.Law(parameters.reward_sd)
    model = Model(features, FiniteFamily(space, bits.astype(float), np.zeros(2**n)), reward, B=np.ones(n))
    on = [*STAYS_ON.values(), REBOOTED]
    # A rebooted machine counts as on, since its configuration does not contain its own bit: it earns 1/n - cost.
    share = np.array([*(own / n for own, _ in STAYS_ON), 1 / n - parameters.cost])
    theta_p, theta_r = np.tile(logit(on), n), np.tile(reward.natural(share), n)
    return Instance(model, parameters.horizon, theta_p, theta_r, **space.first(2**n - 1))


def configurations(bits):
    """Number of the configuration of each bit, (states, actions, n): 2 own + neighbour, or the last one if rebooted."""
    machines = np.arange(bits.shape[1])
    found = np.repeat((2 * bits + np.roll(bits, 1, axis=1))[:, None], len(machines) + 1, axis=1)
    found[:, machines + 1, machines] = CONFIGURATIONS - 1
    return found
