"""docs/your-own-algorithm.md: its file works as it stands, and does what it says."""

import importlib
import re
import sys

import numpy as np
import pytest
import yaml

from befrl import agents, cli
from befrl.experiment import loop
from befrl.experiment.spec import TRACKS, RunSpec
from befrl.study import config
from helpers import INSTANCES, LOG, PROJECT, ROOT, assert_optimal, light, optimal, play, random_episodes, trained

PAGE = (PROJECT / "docs" / "your-own-algorithm.md").read_text()


def block(language):
    """The page's only block of code in a language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    return text


@pytest.fixture
def count_bonus(tmp_path, monkeypatch):
    """The page's file among the agents."""
    (tmp_path / "count_bonus.py").write_text(block("python"))
    importlib.invalidate_caches()
    path = [*agents.__path__, str(tmp_path)]
    monkeypatch.setattr(agents, "__path__", path)
    monkeypatch.setattr(agents.catalogue, "path", path)
    yield "count-bonus"
    if sys.modules.pop("befrl.agents.count_bonus", None):
        del agents.count_bonus


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("track", TRACKS)
def test_a_row_has_the_same_bytes_alone(count_bonus, name, track):
    problem, settings = light(name), [{}, {"scale": 0.1}, {"scale": 0.1, "eta": 3.0}]
    together = loop.run(RunSpec.of(problem, "test", count_bonus, settings, 6, (0, 1), track=track, root_seed=ROOT))
    assert np.all(together["regret"] >= -1e-9)
    for i, values in enumerate(settings):
        alone = play(count_bonus, problem, track, seeds=(1,), episodes=6, **values)
        for key in LOG:
            assert alone[key][0].tobytes() == together[key].reshape(3, 2, -1)[i, 1].tobytes()


@pytest.mark.parametrize("track", TRACKS)
def test_its_plan_by_loops(count_bonus, track):
    """Visits are counted sample by sample, and the plan is optimal for the estimates with the bonus."""
    problem = light("chain", horizon=6)
    agent = trained(count_bonus, problem, track, episodes=9, scale=0.2)
    plan, history = agent.plan(9), random_episodes(problem, (0, 1), 9)
    for i in range(2):
        visits = np.zeros(problem.R.shape)
        for t in history:
            np.add.at(visits, (t.cells[i], t.actions[i]), 1)
        R = problem.model.mean_reward(agent.learner.theta_r[i : i + 1])[0]
        R = R + 0.2 * 6 / np.sqrt(np.maximum(visits, 1))
        Q, V = optimal(R, problem.model.kernel(agent.learner.theta_p[i : i + 1])[0], 6)
        assert np.allclose(plan.values[i], V[0], rtol=0, atol=1e-10)
        assert_optimal(problem, plan.policy[i], Q)


def test_without_a_bonus_it_is_greedy(count_bonus):
    problem = light("chain")
    without, greedy = play(count_bonus, problem, episodes=12, scale=0), play("greedy", problem, episodes=12)
    assert all(without[key].tobytes() == greedy[key].tobytes() for key in LOG)


def test_the_command_runs_and_the_config_is_one(count_bonus, capsys):
    (command,) = re.findall(r"^    python -m befrl (run .*)$", PAGE, flags=re.MULTILINE)
    words = command.replace("--episodes 500", "--episodes 3").replace("--seeds 10", "--seeds 2").split()
    assert cli.main(words) == 0
    assert "count-bonus" in capsys.readouterr().out
    study = yaml.safe_load(block("yaml")) | {
        "instances": {"chain-3": {"family": "chain", "set": {"bins": 3}}},
        "study": {"chain-3": {"episodes": 5, "agents": ["count-bonus"]}},
    }
    checked = config.check(study, config.read_yaml(config.SCHEMA))
    assert set(checked.agent("chain-3", "count-bonus")["tune"]) == {"scale", "eta"}
