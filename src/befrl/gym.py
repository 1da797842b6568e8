"""Instances as Gymnasium environments (docs/gymnasium.md): `gymnasium.make("befrl/chain-v0", bins=5)`.

Importing this module registers `befrl/<name>-v0` for each family and preset. The same actions give the same states and
rewards as in `befrl run`, to the bit. States are integers if there are finitely many, otherwise vectors (dim,) of
float64. An episode is *terminated*, not truncated, after H steps, as V_{H+1} = 0. Good policies depend on the step
`info["h"]`, counted from 0, which is a part of the observation with `observe_step=True`. Agents must not read
`info["gap"]` = V*_h(s) - Q*_h(s, a); its sum over an episode is an unbiased estimate of the pseudo-regret V*_1(s_1) -
V^pi_1(s_1).
"""

import pickle
import time
from dataclasses import replace

import cloudpickle
import gymnasium
import numpy as np
from gymnasium.utils import seeding
from joblib import Parallel, delayed

from befrl import instances
from befrl.api.validation import check_label
from befrl.common import storage
from befrl.common.defaults import ROOT_SEED
from befrl.common.errors import InputError, unknown
from befrl.experiment import outside
from befrl.experiment.environment import Environment
from befrl.model.instance import Instance


class BefEnv(gymnasium.Env):
    """An `Instance`, or a family or preset with its parameters; `name`, by default its own, keys the random streams.

    With `observe_step` the observation is (state, step), or a vector with the step as its last entry. `render()` shows
    the cell of the state in a row of all cells.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(self, instance, root_seed=ROOT_SEED, name=None, observe_step=False, render_mode=None, **parameters):
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise unknown("render_mode", render_mode, self.metadata["render_modes"])
        if isinstance(instance, Instance):
            if parameters:
                names = ", ".join(parameters)
                raise InputError(f"{names}: parameters go with the name of a family, not with an instance")
            self.instance, key = instance, instance.name
        else:
            # Without constants, which only befrl's own agents need.
            self.instance, key = instances.rebuild(*instances.resolve(instance, parameters), {}), instance
        self.root_seed, self.name = root_seed, name or key
        self.action_space = gymnasium.spaces.Discrete(self.instance.model.n_actions)
        self.observe_step, self.render_mode = observe_step, render_mode
        space, H = self.instance.model.space, self.instance.horizon
        if space.discrete:
            sizes = [space.n_cells, H + 1]
            spaces = gymnasium.spaces
            self.observation_space = spaces.MultiDiscrete(sizes) if observe_step else spaces.Discrete(space.n_cells)
        else:
            low, high = (-np.inf, np.inf) if space.unbounded else (space.low, space.high)
            low, high = (np.broadcast_to(end, space.dim) for end in (low, high))
            if observe_step:
                low, high = np.append(low, 0.0), np.append(high, H)
            self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self._environment = self._seed = self._spec = None
        self._h = self.instance.horizon

    def __getstate__(self):
        """The state for `pickle`, which cannot write the functions of an instance itself."""
        return {"pickled": cloudpickle.dumps(self.__dict__)}

    def __setstate__(self, state):
        self.__dict__.update(pickle.loads(state["pickled"]))

    @property
    def spec(self):
        """The environment's specification, with the horizon as the number of steps of an episode."""
        return self._spec

    @spec.setter
    def spec(self, spec):
        self._spec = spec and replace(spec, max_episode_steps=self.instance.horizon)

    def render(self):
        """An image (16, 8 cells, 3) of all cells, the present one black; None without `render_mode`."""
        if self.render_mode is None:
            return None
        space = self.instance.model.space
        image = np.full((16, 8 * space.n_cells, 3), 255, dtype=np.uint8)
        first = 8 * int(space.cell(self._s)[0])
        image[:, first : first + 8] = 0
        return image

    @property
    def np_random_seed(self):
        """The seed of the stream; if none was given, one is drawn. Gymnasium 0.29 does not have this property."""
        if self._seed is None:
            self._seed = seeding.np_random()[1]
        return self._seed

    def reset(self, *, seed=None, options=None):
        """Start the next episode of the stream; a seed starts the stream of that seed of `befrl run`."""
        if seed is None and self._environment is None:
            seed = self.np_random_seed
        super().reset(seed=seed)
        if seed is not None:
            self._seed = seed
            self._environment = Environment(self.instance, self.root_seed, self.name, [seed])
        u_start, self._u_next, self._u_reward = self._environment.uniforms()
        self._s = self.instance.start(u_start)
        self._h = 0
        return self._observation(), {"h": 0}

    def step(self, action):
        """Take one step: the reward of the present state and the action, the next state, and the action's gap."""
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
        values = self.instance.optimal_action_values(h, s)[0]
        info = {"h": self._h, "gap": float(values.max() - values[a[0]])}
        return self._observation(), float(reward[0]), self._h == self.instance.horizon, False, info

    def _observation(self):
        if self.instance.model.space.discrete:
            state = int(self._s[0])
            return np.array([state, self._h]) if self.observe_step else state
        state = np.array(self._s, dtype=float).reshape(-1)
        return np.append(state, self._h) if self.observe_step else state


class OneSeed(gymnasium.Wrapper):
    """The episodes of one seed: gaps are recorded and hidden, and seeds that the agent gives are ignored."""

    def __init__(self, env, seed):
        super().__init__(env)
        self._seed, self._first, self._steps, self._sum = seed, None, 0, 0.0
        self.regrets, self.ends = [], []

    def reset(self, *, seed=None, options=None):
        """Start the next episode; a second reset before its first step changes nothing."""
        if self._steps:
            played = f"the environment was reset after {self._steps} steps"
            raise InputError(f"{played}: an episode must be played to its end")
        if self._first is None:
            self._first = self.env.reset(seed=self._seed)
            self._seed = None
        return self._first

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        self._sum += info.pop("gap")
        if terminated:
            self.regrets.append(self._sum)
            self.ends.append(time.process_time())
            self._first, self._steps, self._sum = None, 0, 0.0
        return observation, reward, terminated, truncated, info


def play(learn, env, episodes, seeds, label, out=None, cores=1):
    """Run an agent from outside in a `BefEnv`, write a run file to `out`, and return its estimated regret (seeds, K).

    `learn(env, episodes, seed)` makes an agent, whose own random numbers use the seed, and plays K episodes in env.
    `cores` processes play one seed at a time each.
    """
    seeds = [int(seed) for seed in seeds]
    check_label(label)
    if out is not None:
        storage.check_target(out)
    began = time.perf_counter()
    played = Parallel(n_jobs=cores)(delayed(_play_seed)(learn, env, episodes, seed, label) for seed in seeds)
    regret, seconds = np.array(played).swapaxes(0, 1)
    if out is not None:
        case = {"instance": env.instance, "name": env.name, "root_seed": env.root_seed}
        outside.save(out, label, seeds, regret, seconds.mean(0), time.perf_counter() - began, **case)
    return regret


def _play_seed(learn, env, episodes, seed, label):
    """The regrets of the episodes of a seed, and the processor seconds that each took."""
    one, start = OneSeed(env, seed), time.process_time()
    learn(one, episodes, seed)
    if len(one.regrets) < episodes:
        raise InputError(
            f"agent '{label}' has played {len(one.regrets)} of {episodes} episodes of seed {seed} in the "
            "environment that it was given: play them all, and not in a copy"
        )
    return one.regrets[:episodes], np.diff([start, *one.ends[:episodes]])


for _name in (*instances.registry.names(), *instances.PRESETS):
    gymnasium.register(f"befrl/{_name}-v0", entry_point=f"{__name__}:BefEnv", kwargs={"instance": _name})
