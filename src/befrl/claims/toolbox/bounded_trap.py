"""The hidden trap of `traps.py` with bounded laws: nonnegative psi and phi, finitely many states, rewards in {0, 1}.

State 0 is the start; the others have psi = (s_1, s_2) in {0,1}^2, and a base measure favours s_2 = 1 by FAVOUR. Up,
down and new have the natural parameters theta_1, -PART theta_1 and theta_2 of s_2. B = e_1, and s_2 = 1 has the natural
parameter theta_3 of s_1 and of the reward. FAVOUR and PART keep the estimate of theta_1 from being exactly 0, where up,
down and new tie. It is 0 if N_u - PART N_d = mu (n_u - PART n_d), n being numbers of plays, N those that led to
s_2 = 1, and mu = 1/(1 + exp(-FAVOUR)): impossible for n > 0, since PART is irrational and mu is transcendental.
"""

import functools
import math
from dataclasses import replace

import numpy as np

from befrl import agents
from befrl.experiment.environment import Environment
from befrl.experiment.loop import make_agent
from befrl.experiment.spec import RunSpec
from befrl.model import constants
from befrl.model.families.base import FiniteFamily
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import bernoulli
from befrl.model.spaces import FiniteSpace

NAME, NEW = "bounded", 2
FAVOUR, PART = 0.37, math.sqrt(0.5)


def uses() -> list[str]:
    """The modules that the runs find by name and not by an import statement."""
    return agents.modules("bef-rlsvi", {})


@functools.cache
def instance():
    """The MDP, with its constants on the compact set of `befrl.model.constants`."""
    psi = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    base = np.array([-np.inf, 0.0, 0.0, FAVOUR, FAVOUR])
    phi, A = np.zeros((5, 3, 4)), np.zeros((3, 2, 4))
    phi[0], phi[3:, :, 3] = np.eye(4)[:3], 1.0
    A[0, 1, :2], A[1, 1, 2], A[2, 0, 3] = (1.0, -PART), 1.0, 1.0
    family = FiniteFamily(FiniteSpace(5), psi, base)
    model = Model(Features.dense(phi, A), family, bernoulli.Law(), B=np.array([1.0, 0.0]))
    theta_p, theta_r = np.array([0.8, 2.5, 0.0]), np.array([0.0, 0.0, 2.2])
    made = Instance(model, 2, theta_p, theta_r, lambda u: np.zeros(len(u), int), np.eye(5)[0])
    return replace(made, constants=constants.compute(model, theta_p, theta_r, np.random.default_rng(0)))


def printed_constants():
    """The constants of Theorem 1, as `befrl.model.theorem` names them."""
    made = instance()
    largest = float(np.linalg.norm(made.model.features.trace, 2, axis=(-2, -1)).max())
    return made.constants | {"A": largest, "d": float(made.model.d), "H": float(made.horizon)}


def gap():
    """V* minus the larger value of up and down."""
    values = (instance().P[0] @ instance().R.max(1)).tolist()
    return values[NEW] - max(values[:NEW])


def first_trials(x, eta, runs, episodes, seed):
    """Run the package's BEF-RLSVI; the episodes, from 1, in which each run first plays new, or episodes + 1."""
    spec = RunSpec.of(instance(), NAME, "bef-rlsvi", [{"x": x, "eta": eta}], episodes, range(runs), root_seed=seed)
    environment, agent = Environment(instance(), seed, NAME, spec.row_seeds), make_agent(spec)
    first = np.full(runs, episodes + 1)
    for k in range(1, episodes + 1):
        trajectory = environment.rollout(agent, agent.plan(k - 1).policy)
        first = np.where((trajectory.actions[:, 0] == NEW) & (first > k), k, first)
        agent.update(trajectory)
    return first
