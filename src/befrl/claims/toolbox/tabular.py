"""Small tabular members of the family, for claims about values, data and policies."""

import itertools

import numpy as np

from befrl.model.families.softmax import Softmax
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import gaussian
from befrl.model.spaces import FiniteSpace


def tabular(theta, means, horizon) -> Instance:
    """The instance with log-odds theta (S, A, S - 1) of the next states and Gaussian rewards of means (S, A)."""
    (S, A), reward, B = np.shape(means), gaussian.Law(), np.full(np.shape(theta)[-1], np.shape(theta)[-1] ** -0.5)
    model = Model(Features.one_hot(S, A, S - 1), Softmax(FiniteSpace(S), np.zeros((S, A, S))), reward, B)
    theta_r = reward.natural(means)[..., None] * B
    first = {"start": lambda u: np.zeros(len(u), dtype=np.int64), "start_masses": np.eye(S)[0]}
    return Instance(model, horizon, theta_p=np.ravel(theta), theta_r=theta_r.ravel(), **first)


def deterministic_policies(S, A, H):
    """All deterministic policies, (A^(HS), H, S, A)."""
    actions = np.array(list(itertools.product(range(A), repeat=H * S)))
    return np.eye(A)[actions].reshape(-1, H, S, A)


def values_by_trajectories(policies, instance):
    """V_1 (K, S) of policies (K, H, S, A), as sums over all trajectories."""
    (S, A), H = instance.R.shape, policies.shape[1]
    V = np.zeros((len(policies), S))
    for path in itertools.product(itertools.product(range(S), range(A)), repeat=H):
        chance = np.ones(len(policies))
        for h, (s, a) in enumerate(path):
            chance = chance * policies[:, h, s, a] * (instance.P[path[h - 1]][s] if h else 1)
        V[:, path[0][0]] += chance * sum(instance.R[step] for step in path)
    return V
