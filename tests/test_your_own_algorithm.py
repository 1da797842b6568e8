"""docs/your-own-algorithm.md: its file works as it stands, and does what it says."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from befrl import agents, cli
from befrl.experiment.run_file import LOGGED
from befrl.experiment.spec import TRACKS
from befrl.study import config
from helpers import INSTANCES, light, play

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "your-own-algorithm.md").read_text()


def block(language):
    """The page's only block of code in a language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    return text


@pytest.fixture
def explore_commit(tmp_path, monkeypatch):
    """The page's file among the agents."""
    (tmp_path / "explore_commit.py").write_text(block("python"))
    importlib.invalidate_caches()
    path = [*agents.__path__, str(tmp_path)]
    monkeypatch.setattr(agents, "__path__", path)
    monkeypatch.setattr(agents.catalogue, "path", path)
    yield "explore-commit"
    if sys.modules.pop("befrl.agents.explore_commit", None):
        del agents.explore_commit


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("track", TRACKS)
def test_a_seed_gives_the_same_bytes_alone(explore_commit, name, track):
    problem = light(name)
    together = play(explore_commit, problem, track, seeds=(0, 1, 2), episodes=6, explore=3)
    alone = play(explore_commit, problem, track, seeds=(1,), episodes=6, explore=3)
    assert np.all(together["regret"] >= -1e-9)
    for key in LOGGED:
        assert alone[key].tobytes() == together[key][1:2].tobytes()


def test_it_explores_and_then_commits(explore_commit):
    """Its regret is that of random play first, and that of greedy, which has seen the same, when it explores never."""
    problem = light("chain")
    log = play(explore_commit, problem, episodes=12, explore=8)
    random = play("random", problem, episodes=12)
    assert np.array_equal(log["regret"][:, :8], random["regret"][:, :8])
    assert np.all(log["regret"][:, 8:] != random["regret"][:, 8:])
    never = play(explore_commit, problem, episodes=12, explore=0)
    assert np.array_equal(never["regret"], play("greedy", problem, episodes=12)["regret"])


def test_the_command_runs_and_the_config_is_one(explore_commit, capsys):
    (command,) = re.findall(r"^    python -m befrl (run .*)$", PAGE, flags=re.MULTILINE)
    words = command.replace("--episodes 500", "--episodes 3").replace("--seeds 10", "--seeds 2").split()
    assert cli.main(words) == 0
    assert "explore-commit" in capsys.readouterr().out
    study = yaml.safe_load(block("yaml")) | {
        "instances": {"chain-3": {"family": "chain", "set": {"bins": 3}}},
        "study": {"chain-3": {"episodes": 5, "agents": ["explore-commit"]}},
    }
    checked = config.check(study, config.read_yaml(config.SCHEMA))
    assert len(checked.variants("chain-3")) == 9
