"""docs/your-own-algorithm.md, followed step by step in an empty folder, and the agent of its file."""

import numpy as np
import pytest

from befrl import cli, plugins
from befrl.common import tidy
from befrl.experiment import checking
from guides import Guide
from helpers import LOG, assert_optimal, light, optimal, play, random_episodes, trained

GUIDE = Guide("your-own-algorithm")
CHECK, RUN, STUDY = GUIDE.commands


@pytest.fixture
def count_bonus(tmp_path, unplugged):
    """The page's file as a plug-in."""
    GUIDE.save(tmp_path)
    ((_, name),) = plugins.load(tmp_path / "count_bonus.py")
    return name


@pytest.mark.parametrize("track", ["U", "K"])
def test_plan_by_loops(count_bonus, track):
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


def test_without_a_bonus_the_agent_is_greedy(count_bonus):
    problem = light("chain")
    without, greedy = play(count_bonus, problem, episodes=12, scale=0), play("greedy", problem, episodes=12)
    assert all(without[key].tobytes() == greedy[key].tobytes() for key in LOG)


def test_a_reader_saves_the_file_checks_it_and_runs_it(tmp_path, unplugged, monkeypatch, capsys):
    """In this process, with two of the instances of the contract and fewer episodes."""
    assert list(GUIDE.files) == ["count_bonus.py", "study.yaml"]
    GUIDE.save(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checking, "INSTANCES", {name: checking.INSTANCES[name] for name in ("riverswim", "lds")})
    for command, words in ((CHECK, "all hold"), (RUN.replace("--episodes 500", "--episodes 50"), "count-bonus")):
        assert cli.main(command.split()[1:]) == 0
        assert words in capsys.readouterr().out


@pytest.mark.slow
def test_a_reader_runs_all_commands_at_full_length(tmp_path):
    GUIDE.save(tmp_path)
    assert "all hold" in GUIDE.run(CHECK, tmp_path)
    GUIDE.run(RUN, tmp_path)
    GUIDE.run(STUDY, tmp_path)
    summary = tidy.read(tmp_path / "results" / "regret" / "chain-4_U" / "summary.csv")
    assert {"bef-rlsvi@tuned", "count-bonus@tuned", "greedy@tuned"} <= set(summary["variant"])
    assert (tmp_path / "figures" / "regret_chain-4_U.png").exists()
