"""RiverSwim as a softmax family: swim right against the current to the large reward, or float left to a small one.

Features are one-hot in (state, action); psi(s') is the one-hot of s' without a reference state, p = S - 1, and theta
holds the log-odds of each next state, d = S (S - 1) A. Structural zeros are a known support: the log base measure is 0
or -inf. theta*, like the penalised estimate, is the representative of least norm. With `leak` > 0 every next state has
positive mass, and Cov psi is regular in every direction. Osband and Cho et al. print the same probabilities. The small
reward is .005 in all three sources; the optimal values that Ayoub et al. print are those for .05.

Deviations: rewards, deterministic in the sources, are Gaussian with the same means, since means of exactly 0 and 1 have
no finite parameter in a bounded family; B = 1/sqrt(p).
"""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import choice, integer, number
from befrl.model.families.softmax import Softmax
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import gaussian
from befrl.model.spaces import FiniteSpace

# Probabilities of the action right, in the first state (stay, right), middle (left, stay, right) and last (left, stay).
KERNELS = {
    "osband": ((0.4, 0.6), (0.05, 0.6, 0.35), (0.4, 0.6)),
    "cho": ((0.4, 0.6), (0.05, 0.6, 0.35), (0.4, 0.6)),
    "ayoub": ((0.3, 0.7), (0.1, 0.6, 0.3), (0.1, 0.9)),
}


@dataclass(frozen=True)
class Parameters:
    kernel: str = choice("osband", tuple(KERNELS), "whose transition probabilities")
    states: int = integer(6, 3, 200, "number of states S")
    horizon: int = integer(20, 1, 10000, "steps per episode H")
    leak: float = number(0.0, 0.0, 0.1, "uniform mass mixed into every row; 0 keeps the structural zeros as a mask")
    reward_sd: float = number(0.5, 0.01, 10.0, "standard deviation of the Gaussian rewards")
    small: float = number(0.005, 0.0, 1.0, "mean reward of swimming left in the first state")


def transition_matrix(kernel, S, leak=0.0, small=0.005):
    """P (S, 2, S) and mean rewards (S, 2); the action left is deterministic."""
    first, middle, last = KERNELS[kernel]
    P = np.zeros((S, 2, S))
    P[np.arange(S), 0, np.maximum(np.arange(S) - 1, 0)] = 1.0
    P[0, 1, :2] = first
    for s in range(1, S - 1):
        P[s, 1, s - 1 : s + 2] = middle
    P[-1, 1, -2:] = last
    R = np.zeros((S, 2))
    R[0, 0], R[-1, 1] = small, 1.0
    return (1 - leak) * P + leak / S, R


def least_norm_parameters(P):
    """theta (S, A, S - 1) of least norm with softmax(psi theta) = P on the support of P."""
    S, A, _ = P.shape
    psi = np.eye(S)[:, 1:]
    theta = np.zeros((S, A, S - 1))
    for s in range(S):
        for a in range(A):
            support = P[s, a] > 0
            log_odds = np.log(P[s, a, support])
            contrasts = psi[support] - psi[support].mean(0)
            theta[s, a] = np.linalg.pinv(contrasts) @ (log_odds - log_odds.mean())
    return theta


def build(parameters: Parameters) -> Instance:
    S = parameters.states
    P, R = transition_matrix(parameters.kernel, S, parameters.leak, parameters.small)
    space, p = FiniteSpace(S), S - 1
    reward = gaussian.Law(parameters.reward_sd)
    B = np.full(p, 1 / np.sqrt(p))
    model = Model(Features.one_hot(S, 2, p), Softmax(space, np.where(P > 0, 0.0, -np.inf)), reward, B)
    # The parameter of least norm with theta_r . x_r = natural(mean): along B in each block, |B| = 1.
    theta_r = (reward.natural(R)[..., None] * B).ravel()
    return Instance(model, parameters.horizon, least_norm_parameters(P).ravel(), theta_r, **space.first(0))
