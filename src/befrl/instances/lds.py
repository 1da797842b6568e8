"""A linear-Gaussian system with a few actions: s' = pull x + force(a) + N(0, sigma^2 I), x = s cut to [-bound, bound].

In one dimension the forces are -1, 0, 1 times `force`; in two a push along either axis, or none. Full-matrix A_i on
phi(s, a) = (x, x^2, one-hot(a)), which is bounded; psi(s') = s'/sigma with a Gaussian base measure, p = m, d = m q, so
that maximum likelihood is ridge regression. Rewards are Gaussian with mean 1 - |x - goal|^2 minus `cost` for a push,
linear in phi. The goal is at the bound, where staying takes a push at every step. The first state is near the origin.
"""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import integer, number
from befrl.model.families.gaussian import GaussianStates
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import gaussian
from befrl.model.spaces import SmoothBox

ORDER = {1: 5, 2: 3}  # nodes per cell along each axis, by dimension
# Width of the inner cells in standard deviations. Beyond the bound nothing varies: in two dimensions one cell suffices.
WIDTH = {1: 0.8, 2: 0.7}
TAIL = 8.0


@dataclass(frozen=True)
class Parameters:
    dimension: int = integer(1, 1, 2, "dimension m of the state")
    horizon: int = integer(20, 1, 10000, "steps per episode H")
    sigma: float = number(0.3, 0.05, 2.0, "standard deviation of the noise")
    pull: float = number(0.8, -1.0, 1.0, "factor by which the state shrinks at each step")
    force: float = number(0.3, 0.0, 2.0, "size of a push")
    bound: float = number(0.6, 0.1, 3.0, "where the state's influence is cut off")
    cost: float = number(0.05, 0.0, 1.0, "cost of a push")
    reward_sd: float = number(0.5, 0.01, 10.0, "standard deviation of the rewards")


def build(parameters: Parameters) -> Instance:
    m, sigma, bound = parameters.dimension, parameters.sigma, parameters.bound
    forces = parameters.force * (np.array([[-1.0], [0.0], [1.0]]) if m == 1 else np.array([[0.0, 0.0], [1, 0], [0, 1]]))
    space = SmoothBox([_edges(parameters)] * m, ORDER[m], unbounded=True)
    A = len(forces)

    def phi(s):
        x = np.clip(np.asarray(s, dtype=float).reshape(-1, m), -bound, bound)
        shared = np.concatenate([x, np.square(x)], axis=1)
        actions = np.broadcast_to(np.eye(A), (len(x), A, A))
        return np.concatenate([np.broadcast_to(shared[:, None], (len(x), A, 2 * m)), actions], axis=-1)

    reward = gaussian.Law(parameters.reward_sd)
    model = Model.smooth_in(phi, GaussianStates(space, sigma), reward, B=np.eye(m)[0])
    M = np.concatenate([parameters.pull * np.eye(m), np.zeros((m, m)), forces.T], axis=1) / sigma
    goal = np.full(m, bound)
    # 1 - |x - goal|^2 = 1 - |goal|^2 + 2 goal.x - |x|^2; the constant goes with the actions.
    constant = 1.0 - goal @ goal - parameters.cost * (forces != 0).any(1)
    means = np.concatenate([2 * goal, -np.ones(m), constant])
    theta_r = np.zeros((m, len(means)))
    theta_r[0] = reward.natural(means)
    # The anchor in the middle of a cell at the origin.
    first = space.cell(np.full(m, 1e-9) if m > 1 else np.array(1e-9)) * space.per_cell + space.per_cell // 2
    start, masses = lambda u: np.repeat(space.nodes[[first]], len(u), axis=0), np.eye(space.n_anchors)[first]
    return Instance(model, parameters.horizon, M.ravel(), theta_r.ravel(), start, masses)


def _edges(parameters):
    """Cells of about the same width within [-bound, bound], and from there to the ends of the box."""
    m, bound, sigma = parameters.dimension, parameters.bound, parameters.sigma
    width = WIDTH[m] * sigma
    inner = np.linspace(-bound, bound, 2 * int(np.ceil(bound / width)) + 1)
    reach = max(bound, abs(parameters.pull) * bound + parameters.force) + TAIL * sigma
    cells = int(np.ceil((reach - bound) / width)) if m == 1 else 1
    outer = np.linspace(bound, reach, cells + 1)[1:]
    return np.concatenate([-outer[::-1], inner, outer])
