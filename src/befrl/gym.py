"""Instances as Gymnasium environments, for agents from outside befrl: `gymnasium.make("befrl/chain-v0", bins=5)`.

Importing this module registers `befrl/<name>-v0` for each family and preset of the catalogue; nothing else in befrl
imports Gymnasium. An environment uses the random numbers of befrl's own runs: `reset(seed=i)` opens the stream of seed
i of the instance `name` under `root_seed`, and a reset without a seed continues with the next episode of that stream.
The same actions therefore give the same states and rewards as in `befrl run`, bit for bit.

Observations are states: integers if there are finitely many states, otherwise vectors (dim,) of float64. An episode is
*terminated*, not truncated, after H steps: the horizon belongs to the MDP, V_{H+1} = 0, and there is nothing to
bootstrap beyond it. Good policies depend on the step, which is not part of the state: `info["h"]` counts it from 0.
"""

import gymnasium
import numpy as np
from gymnasium.utils import seeding

from befrl import instances
from befrl.common.errors import InputError
from befrl.experiment.environment import Environment
from befrl.experiment.spec import ROOT_SEED
from befrl.model.instance import Instance


class BefEnv(gymnasium.Env):
    """One copy of an instance, given as an `Instance` or by the name of a family or preset and its parameters.

    `name` is the instance's name in a study, which keys its random streams; by default, it is the name of the family or
    preset. The true parameters are not part of the observations; to measure regret, read them from `instance`.
    """

    def __init__(self, instance, root_seed=ROOT_SEED, name=None, **parameters):
        if isinstance(instance, Instance):
            if parameters:
                raise InputError(
                    f"{', '.join(parameters)}: parameters go with the name of a family, not with an instance"
                )
            self.instance, key = instance, instance.name
        else:
            # Only befrl's own agents need the constants, so they are not computed.
            self.instance, key = instances.rebuild(*instances.resolve(instance, parameters), {}), instance
        self.root_seed, self.name = root_seed, name or key
        self.action_space = gymnasium.spaces.Discrete(self.instance.model.n_actions)
        self.observation_space = observation_space(self.instance.model.space)
        self._environment = None
        self._h = self.instance.horizon

    def reset(self, *, seed=None, options=None):
        """Start the next episode of the stream; a seed restarts its own stream. There are no options."""
        if seed is None and self._environment is None:
            # Drawn here because Gymnasium 0.29, which some libraries still need, does not tell the seed that it draws.
            seed = seeding.np_random()[1]
        super().reset(seed=seed)
        if seed is not None:
            self._environment = Environment(self.instance, self.root_seed, self.name, [seed])
        u_start, self._u_next, self._u_reward = self._environment.uniforms()
        self._s = self.instance.start(u_start)
        self._h = 0
        return self._observation(), {"h": 0}

    def step(self, action):
        """Take one step: the reward of the present state and the action, and the next state."""
        if self._h == self.instance.horizon:
            raise gymnasium.error.ResetNeeded("no episode is under way: call reset() before step()")
        if not self.action_space.contains(action):
            last = self.action_space.n - 1
            raise InputError(f"action {action!r} is not allowed: it must be a whole number from 0 to {last}")
        h, s, a = self._h, self._s, np.array([int(action)])
        cell = self.instance.model.space.cell(s)
        reward = self._environment.laws.reward(s, cell, a, self._u_reward[:, h])
        self._s = self._environment.laws.next_state(s, cell, a, self._u_next[h])
        self._h += 1
        return self._observation(), float(reward[0]), self._h == self.instance.horizon, False, {"h": self._h}

    def _observation(self):
        if self.instance.model.space.discrete:
            return int(self._s[0])
        return np.array(self._s, dtype=float).reshape(-1)


def observation_space(space):
    """The Gymnasium space of the states of a befrl space."""
    if space.discrete:
        return gymnasium.spaces.Discrete(space.n_cells)
    low, high = (space.low, space.high) if not space.unbounded else (-np.inf, np.inf)
    return gymnasium.spaces.Box(low, high, (space.dim,), np.float64)


for _name in (*instances.catalogue.names(), *instances.PRESETS):
    gymnasium.register(f"befrl/{_name}-v0", entry_point=f"{__name__}:BefEnv", kwargs={"instance": _name})
