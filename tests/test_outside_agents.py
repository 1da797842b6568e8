"""Agents from outside: their regret is estimated without bias, and compared with that of befrl's own agents."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

from befrl import cli, gym
from befrl.common import tidy
from befrl.common.errors import InputError
from befrl.experiment import run_file
from befrl.experiment.regret import Regret
from befrl.figures import regret as regret_figure
from befrl.figures.support import render
from guides import Guide
from helpers import ROOT, continuum

SHORTER = {"500": "40", "30": "3", "0-29": "0-2"}
CHAIN = {"instance": "chain", "bins": 3, "horizon": 4}
# Finite states, bins, and smooth features in one and two dimensions: off-grid states.
CASES = {
    "riverswim": {"states": 3, "horizon": 4},
    "chain": {"bins": 3, "horizon": 4},
    "circle": {"knots": 4, "kappa": 4.0, "horizon": 4},
    "custom-sin": {"horizon": 4},
    "lds": {"dimension": 2, "horizon": 3},
}


def random_policy(env, seed):
    """Probabilities (1, H, cells, A) of a fixed random policy."""
    shape = (1, env.instance.horizon, env.instance.model.n_cells, env.action_space.n)
    weights = np.random.default_rng(seed).exponential(size=shape) ** 3
    return weights / weights.sum(-1, keepdims=True)


def episode(env, policy, rng):
    """Play the policy: states (H, ...), actions (H,) and gaps (H,)."""
    observation, _ = env.reset()
    states, actions, gaps = [], [], []
    space = env.instance.model.space
    for h in range(env.instance.horizon):
        state = np.reshape(observation, (1, -1) if space.dim > 1 else (1,))
        states.append(state[0])
        cell = space.cell(state)[0]
        actions.append(int(rng.choice(env.action_space.n, p=policy[0, h, cell])))
        observation, *_, info = env.step(actions[-1])
        gaps.append(info["gap"])
    return np.array(states), actions, gaps


@pytest.mark.parametrize(("name", "values"), CASES.items())
def test_the_mean_of_the_gaps_is_the_exact_regret(name, values):
    """300 episodes of a random policy: the mean error is within 4.5 standard errors (error rate 7e-6 a case)."""
    env = gym.BefEnv(name, root_seed=ROOT, **values)
    env.reset(seed=1)
    policy, rng, n = random_policy(env, 2), np.random.default_rng(3), 300
    exact, sums = Regret(env.instance, 1, n), []
    for _ in range(n):
        states, _, gaps = episode(env, policy, rng)
        exact.add(policy, SimpleNamespace(states=states[None], cells=env.instance.model.space.cell(states)[None]))
        sums.append(sum(gaps))
    exact.flush()
    errors = np.array(sums) - exact.values[0]
    assert errors.std() > 0.01
    assert abs(errors.mean()) < 4.5 * errors.std(ddof=1) / np.sqrt(n)


@pytest.mark.parametrize(("name", "values"), [case for case in CASES.items() if case[0] != "lds"])
def test_gaps_agree_with_a_fine_grid(name, values):
    """V*_h(s) - Q*_h(s, a) at every visited state, from densities on another and finer grid."""
    env, fine = gym.BefEnv(name, root_seed=ROOT, **values), continuum(name, **values)
    H, policy = env.instance.horizon, random_policy(env, 4)
    env.reset(seed=0)
    for _ in range(3):
        states, actions, gaps = episode(env, policy, np.random.default_rng(5))
        for h, (s, a, gap) in enumerate(zip(states, actions, gaps, strict=True)):
            V = fine.optimal(fine.nodes, H - h - 1) if h < H - 1 else np.zeros(len(fine.nodes))
            R, P = fine.step(np.array([s]))
            Q = (R + P @ V)[0]
            assert gap == pytest.approx(Q.max() - Q[a], abs=2e-5)
    assert gap >= 0


def uniform(env, episodes, seed):
    """Uniformly random actions."""
    rng = np.random.default_rng(seed)
    for _ in range(episodes):
        env.reset(seed=99)  # the agent's own seed is ignored
        env.reset()
        terminated = False
        while not terminated:
            *_, terminated, _, info = env.step(int(rng.integers(env.action_space.n)))
            assert set(info) == {"h"}


def test_play_uses_the_streams_of_the_seeds():
    """The same actions give the same gaps as in an environment of one's own, seed by seed."""
    env = gym.BefEnv("riverswim", name="mine", root_seed=5, states=3, horizon=4)
    found = gym.play(uniform, env, 3, [7, 2], "uniform")
    assert np.array_equal(gym.play(uniform, env, 3, [7, 2], "uniform", cores=2), found)
    for regrets, seed in zip(found, [7, 2], strict=True):
        rng = np.random.default_rng(seed)
        for k in range(3):
            env.reset(seed=None if k else seed)
            gaps = [env.step(int(rng.integers(2)))[-1]["gap"] for _ in range(4)]
            assert regrets[k] == pytest.approx(sum(gaps), rel=1e-15)


def test_a_run_file_is_marked_as_an_estimate(tmp_path):
    path = tmp_path / "0-2.npz"
    regret = gym.play(uniform, gym.BefEnv(**CHAIN), 5, range(3), "mine", path)
    log, meta = run_file.load(path)
    assert np.array_equal(log["regret"], regret[None])
    assert (meta["algorithm"], meta["constants"], meta["specification"]) == ("outside", ["outside"], ["unknown"])
    assert (meta["labels"], meta["seeds"], meta["episodes"], meta["instance"]) == (["mine"], [0, 1, 2], 5, "chain")
    assert np.all(log["acting"] > 0)
    assert np.isnan(log["optimism"]).all()


def reset_early(env, episodes, seed):
    env.reset()
    env.step(0)
    env.reset()


def play_less(env, episodes, seed):
    uniform(env, episodes - 1, seed)


def play_more(env, episodes, seed):
    """As libraries do that learn in batches of steps."""
    uniform(env, episodes + 2, seed)


def play_wrapped(env, episodes, seed):
    uniform(gymnasium.wrappers.TransformReward(env, lambda reward: 10 * reward), episodes, seed)


def test_unfinished_runs_and_wrong_names_are_rejected(tmp_path):
    for learn, label, out, words in (
        (reset_early, "mine", None, "reset after 1 steps: an episode must be played to its end"),
        (play_less, "mine", None, r"agent 'mine' has played 1 of 2 episodes of seed 0 .* not in a copy"),
        (uniform, "mine@tuned", None, "the name 'mine@tuned' of an agent is not allowed"),
        (uniform, "_mine", None, "the name '_mine' of an agent is not allowed"),
        (uniform, "mine", tmp_path, "it is a folder"),
    ):
        with pytest.raises(InputError, match=words):
            gym.play(learn, gym.BefEnv(**CHAIN), 2, [0], label, out)


def test_further_episodes_and_rescaled_rewards_do_not_change_the_regret():
    expected = gym.play(uniform, gym.BefEnv(**CHAIN), 3, [0], "mine")
    for learn in (play_more, play_wrapped):
        assert np.array_equal(gym.play(learn, gym.BefEnv(**CHAIN), 3, [0], "mine"), expected)


def test_the_agent_of_the_page_is_in_the_tables_and_in_the_figure(tmp_path, monkeypatch):
    """The page's code and commands, with 40 episodes and 3 seeds."""
    monkeypatch.chdir(tmp_path)
    guide = Guide("gymnasium")
    code, commands = guide.block("python"), guide.block("sh")
    for word, other in SHORTER.items():
        code, commands = code.replace(word, other), commands.replace(word, other)
    exec(compile(code, "docs/gymnasium.md", "exec"), {})
    for command in commands.splitlines():
        assert cli.main(command.removeprefix("befrl ").split()) == 0
    tables = (tidy.read(tmp_path / "tables" / f"{name}.csv") for name in ("summary", "paired", "curves"))
    summary, paired, curves = tables
    assert list(summary["agent"]) == ["bef-rlsvi", "ucbvi", "q-learning"]
    row = summary.set_index("agent").loc["q-learning"]
    assert (row["role"], row["algorithm"], row["specification"]) == ("outside", "outside", "unknown")
    assert "its regret is estimated by gaps" in row["remarks"]
    assert 0 <= row["low"] <= row["mean"] <= row["high"]
    assert {"q-learning"} < set(paired["first"]) | set(paired["second"])
    figure = regret_figure.draw([{"summary": summary, "curves": curves}])
    names = [text.get_text().strip() for axis in figure.axes for text in axis.texts]
    assert "q-learning" in names
    assert "estimated regret" in render.describe("regret", [{"summary": summary, "curves": curves}])["caption"]
