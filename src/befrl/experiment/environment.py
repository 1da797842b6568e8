"""The true MDP, played by many seeds in lock step.

Each seed has its own stream of uniforms. Every episode takes one for the first state, then one per step and dimension
for the next states, then one per step for the rewards, whatever the agent does: all agents face the same noise.
"""

import numpy as np

from befrl.agents.base import Trajectory
from befrl.common.streams import ENVIRONMENT, Stream


class Environment:
    """n copies of an instance, one per seed."""

    def __init__(self, instance, root_seed, name, seeds):
        self.instance = instance
        self.stream = Stream(root_seed, name, seeds, ENVIRONMENT)
        self.laws = SmoothLaws(instance) if instance.model.smooth else CellLaws(instance)

    def uniforms(self):
        """Uniforms of one episode: first state (n,), next states (H, n) or (H, n, dim), rewards (n, H)."""
        H, dim = self.instance.horizon, self.instance.model.space.dim
        u = self.stream.take(1 + (dim + 1) * H)
        u_next = u[:, 1 : 1 + dim * H].reshape(len(u), H, dim).swapaxes(0, 1)
        return u[:, 0], np.ascontiguousarray(u_next[..., 0] if dim == 1 else u_next), u[:, 1 + dim * H :]

    def rollout(self, agent, policy):
        """Play one episode of every seed; its arrays are read-only, since regret and logs are computed from them."""
        instance, space = self.instance, self.instance.model.space
        H = instance.horizon
        u_start, u_next, u_reward = self.uniforms()
        s = instance.start(u_start)
        states = np.empty((H + 1, *s.shape), dtype=s.dtype)
        states[0] = s
        cells, actions = np.empty((2, H, len(s)), dtype=np.int64)
        for h in range(H):
            cells[h] = cell = space.cell(s)
            actions[h] = a = agent.act(h, cell, policy)
            states[h + 1] = s = self.laws.next_state(s, cell, a, u_next[h])
        states, cells, actions = states.swapaxes(0, 1), cells.T, actions.T
        rewards = self.laws.reward(states[:, :-1], cells, actions, u_reward)
        for part in (states, cells, actions, rewards):
            part.flags.writeable = False
        return Trajectory(states[:, :-1], cells, actions, rewards, states[:, 1:])


class CellLaws:
    """The true laws of next states and rewards, tabulated: features are constant on cells."""

    def __init__(self, instance):
        model = self.model = instance.model
        self._draw = model.family.sampler(model.features.natural(instance.theta_p[None])[0])
        self._c = model.reward_natural(instance.theta_r[None])[0]

    def next_state(self, s, cell, action, u):
        return self._draw(cell, action, u)

    def reward(self, s, cell, action, u):
        return self.model.reward.quantile(self._c[cell, action], u)


class SmoothLaws:
    """The true laws of next states and rewards, with phi at the state itself: features vary within cells."""

    def __init__(self, instance):
        model = self.model = instance.model
        self._M_p = model.features.matrix(instance.theta_p)
        self._reward_row = model.B @ model.features.matrix(instance.theta_r)

    def _phi(self, s, action):
        """phi(s, a), (..., q), for states (...,) or (..., dim) and actions (...,)."""
        flat = np.asarray(s).reshape(action.size, -1) if self.model.space.dim > 1 else np.ravel(s)
        phi = self.model.phi(flat)[np.arange(action.size), action.ravel()]
        return phi.reshape(*action.shape, -1)

    def next_state(self, s, cell, action, u):
        natural = (self._phi(s, action)[:, None, :] * self._M_p).sum(-1)
        return self.model.family.quantile(natural, u)

    def reward(self, s, cell, action, u):
        return self.model.reward.quantile((self._phi(s, action) * self._reward_row).sum(-1), u)
