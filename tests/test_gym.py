"""Instances as Gymnasium environments: Gymnasium's own checker, and the same bits as befrl's episodes."""

import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from befrl import cli, gym, instances
from befrl.common.errors import InputError
from befrl.common.streams import ENVIRONMENT, Stream
from befrl.experiment.environment import Environment
from helpers import ROOT, dense_instance

VARIANTS = [
    *[(name, {}) for name in instances.registry.names()],
    (next(iter(instances.PRESETS)), {}),
    ("lds", {"dimension": 2}),
    ("custom-sin", {"waves": 3}),
    ("chain", {"reward": "gaussian"}),
    ("chain", {"bins": 3, "horizon": 1}),
]
# Gymnasium advises against infinite bounds of observations; a state space that is all of R^m has no others.
ADVICE = "ignore:.*A Box observation space (minimum|maximum) value is -?infinity:UserWarning"


class Script:
    """Plays given actions (n, H)."""

    def act(self, h, cells, actions):
        return actions[:, h]


def play(env, actions, seed=None):
    """One episode: observations (H + 1, ...) and rewards (H,)."""
    observation, info = env.reset(seed=seed)
    assert info == {"h": 0}
    observations, rewards = [observation], []
    for h, action in enumerate(actions):
        observation, reward, terminated, truncated, info = env.step(action)
        assert info["h"] == h + 1
        assert terminated == (h + 1 == len(actions))
        assert not truncated
        observations.append(observation)
        rewards.append(reward)
    assert all(observation in env.observation_space for observation in observations)
    return np.array(observations), np.array(rewards)


def assert_same_bits(env, environment, seeds, episodes=3):
    """Episodes of the environment, each seed alone, are those of befrl's own loop, all seeds together."""
    shape = (episodes, len(seeds), env.instance.horizon)
    actions = np.random.default_rng(3).integers(0, env.action_space.n, shape)
    together = [environment.rollout(Script(), actions[k]) for k in range(episodes)]
    for i, seed in enumerate(seeds):
        for k, expected in enumerate(together):
            observations, rewards = play(env, actions[k, i], seed if k == 0 else None)
            states = np.concatenate([expected.states[i, :1], expected.next_states[i]])
            assert np.array_equal(observations.reshape(states.shape), states)
            assert np.array_equal(rewards, expected.rewards[i])
            assert np.all(np.isfinite(rewards))
            if env.instance.model.reward.bounded:
                assert np.all((rewards >= 0) & (rewards <= 1))


@pytest.mark.filterwarnings(ADVICE)
@pytest.mark.parametrize(("name", "values"), VARIANTS)
def test_environment_passes_gymnasiums_checker_and_has_the_episodes_of_befrl(name, values):
    env = gymnasium.make(f"befrl/{name}-v0", **values).unwrapped
    check_env(env)
    space, seeds = env.instance.model.space, [4, 0, 7]
    if space.discrete:
        assert env.observation_space == gymnasium.spaces.Discrete(space.n_cells)
    else:
        assert (env.observation_space.dtype, env.observation_space.shape) == (np.float64, (space.dim,))
        assert env.observation_space.is_bounded() == (not space.unbounded)
    instance = instances.rebuild(*instances.resolve(name, values), {})
    assert_same_bits(env, Environment(instance, gym.ROOT_SEED, name, seeds), seeds)


def test_root_seed_is_that_of_the_command_line():
    arguments = cli.build_parser().parse_args(["run", "--instance", "chain", "--agent", "random"])
    assert gym.ROOT_SEED == arguments.root_seed


def test_name_and_root_seed_key_the_random_stream():
    env = gym.BefEnv("chain", root_seed=5, name="my-chain", bins=3)
    assert_same_bits(env, Environment(env.instance, 5, "my-chain", [1]), [1])
    u = Stream(5, "my-chain", [1], ENVIRONMENT).take(1)
    assert env.reset(seed=1)[0] == u[0] / 3
    env = gym.BefEnv(dense_instance(), root_seed=ROOT)
    assert env.name == "dense"
    assert_same_bits(env, Environment(env.instance, ROOT, "dense", [0, 1]), [0, 1])


def test_vectorised_environments_have_consecutive_seeds():
    envs = gymnasium.make_vec("befrl/riverswim-v0", num_envs=3, vectorization_mode="sync", states=4, horizon=5)
    instance = instances.rebuild("riverswim", {"states": 4, "horizon": 5}, {})
    actions = np.random.default_rng(1).integers(0, 2, (3, 5))
    expected = Environment(instance, gym.ROOT_SEED, "riverswim", [6, 7, 8]).rollout(Script(), actions)
    envs.reset(seed=6)
    for h in range(5):
        states, rewards, terminated, _, _ = envs.step(actions[:, h])
        assert np.array_equal(states, expected.next_states[:, h])
        assert np.array_equal(rewards, expected.rewards[:, h])
        assert np.all(terminated == (h == 4))


def test_without_a_seed_one_is_drawn_and_reported():
    """Before the first reset too, and with Gymnasium 0.29, whose environments have no `np_random_seed`."""
    env, again, other, early = (gym.BefEnv("chain") for _ in range(4))
    first, _ = env.reset()
    assert again.reset(seed=env.np_random_seed)[0] == first
    assert other.reset()[0] != first
    seed = early.np_random_seed
    assert early.reset()[0] == gym.BefEnv("chain").reset(seed=seed)[0]
    assert early.reset(seed=5)[0] == gym.BefEnv("chain").reset(seed=5)[0]
    assert early.np_random_seed == 5


def test_a_step_outside_an_episode_needs_a_reset():
    env = gym.BefEnv("jao", horizon=2)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step\(\)"):
        env.step(0)
    play(env, [0, 1], seed=0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


def test_wrong_input_is_rejected_in_one_line():
    env = gym.BefEnv("jao", arms=4)
    env.reset(seed=0)
    for action in (-1, 4, 0.5, "left", None):
        with pytest.raises(InputError, match="is not allowed: it must be a whole number from 0 to 3"):
            env.step(action)
    unknown = r"unknown instance 'chian' \(did you mean 'chain'\?\): choose one of chain, .*-5"
    for instance, values, words in (
        ("chian", {}, unknown),
        ("chain", {"bin": 5}, r"instance 'chain': unknown parameter 'bin' \(did you mean 'bins'\?\): allowed are bins"),
        ("chain", {"bins": 1}, "bins = 1 is not allowed: it must be a whole number from 2 to 1000"),
        ("chain", {"render_mode": "human"}, "unknown render_mode 'human': choose one of rgb_array"),
        (dense_instance(), {"horizon": 3}, "horizon: parameters go with the name of a family, not with an instance"),
    ):
        with pytest.raises(InputError, match=words):
            gym.BefEnv(instance, **values)


def test_only_this_module_loads_gymnasium():
    layers = ("cli", "cli.verbs.run", "study.config", "experiment.runs", "instances", "agents")
    alone = f"import sys, {', '.join(f'befrl.{name}' for name in layers)}; assert 'gymnasium' not in sys.modules"
    made = "gymnasium.make('befrl.gym:befrl/chain-v0', bins=5).unwrapped.instance.model.d"
    subprocess.run([sys.executable, "-c", f"{alone}; import gymnasium; assert {made} == 10"], check=True)


@pytest.mark.filterwarnings(ADVICE)
@pytest.mark.parametrize("family", ["riverswim", "circle", "lds"])
def test_the_conventions_of_gymnasium(family):
    """Rendering, pickling in the middle of an episode, the step as part of the observation, the number of steps."""
    values = {"horizon": 4, "render_mode": "rgb_array"}
    plain, stepped = (gymnasium.make(f"befrl/{family}-v0", observe_step=each, **values) for each in (False, True))
    check_env(stepped.unwrapped, skip_render_check=True)
    for k, env in ((0, plain), (1, stepped)):
        env.reset(seed=3)
        env.step(1)
        image = env.render()
        assert image.dtype == np.uint8 and (image == 0).all(2).any(0).sum() == 8 and env.spec.max_episode_steps == 4
        copy = pickle.loads(pickle.dumps(env))
        for ours, theirs in [(env.step(0), copy.step(0)), (env.step(1), copy.step(1))]:
            assert np.array_equal(ours[0], theirs[0]) and ours[1:] == theirs[1:]
            assert (
                ours[0] in env.observation_space and np.size(ours[0]) == np.size(plain.observation_space.sample()) + k
            )
    assert ours[0][-1] == 3 and np.array_equal(np.atleast_1d(plain.unwrapped._observation()), ours[0][:-1])
