"""Certificates on the command line and from Python."""

import json

import numpy as np
import pytest

import befrl
from befrl import cli
from befrl.experiment import run_file
from befrl.study.config import check

SMALL = "--instance riverswim --instance-set states=3 horizon=3 --agent orlc --seeds 4"


def say(capsys, words, code=0):
    try:
        assert (cli.main(words.split()) or 0) == code
    except SystemExit as ended:
        assert (ended.code or 0) == code
    return capsys.readouterr()


def test_run_sums_certificates_and_counts_broken_ones(capsys):
    own, tiny = json.loads(say(capsys, f"run {SMALL} --episodes 60 --sweep scale=[0.0001] --json").out)["variants"]
    assert own["certificates"] == {"certified": 180.0, "trivial": 180, "broken_seeds": 0, "delta": 0.05}
    assert tiny["certificates"]["certified"] < 100 and tiny["certificates"]["delta"] == 1
    assert tiny["certificates"]["broken_seeds"] > 0
    text = say(capsys, f"run {SMALL} --episodes 60").out
    assert "180 of HK = 180 in all, broken in 0 of 4 seeds\n" in text
    assert "certificates" not in say(capsys, f"run {SMALL.replace('orlc', 'greedy')} --episodes 5").out


def test_run_stops_when_certified_from_the_command_line_and_from_python(capsys, tmp_path):
    """The run is the beginning of the one that does not stop, and its file can be read and aggregated."""
    path = tmp_path / "run.npz"
    words = f"run {SMALL} --episodes 3000 --until-certified 2.5 --lockstep 1 --json --out {path}"
    found = json.loads(say(capsys, words).out)
    stop, K = found["until_certified"], found["episodes"]
    mdp = befrl.instance("riverswim", states=3, horizon=3)
    whole = befrl.run(mdp, "orlc", episodes=3000, seeds=4, show=False)
    low = whole.certificate <= 2.5
    assert K == low.all(0).argmax() + 1 < 3000 and stop["first_episodes"] == (low.argmax(1) + 1).tolist()
    log, meta = run_file.load(path)
    assert np.array_equal(log["certificate"][0], whole.certificate[:, :K]) and meta["until_certified"] == stop
    runs = befrl.run(mdp, "orlc", episodes=3000, seeds=4, show=False, until_certified=2.5)
    assert np.array_equal(runs.regret, whole.regret[:, :K]) and runs.meta["until_certified"] == stop
    text = say(capsys, words.replace("--json", "")).out
    assert f"after {K} episodes the policy is within 2.5 of optimal, with probability 95 %" in text
    text = say(capsys, f"run {SMALL} --episodes 20 --until-certified 2.5").out
    assert "not within 20 episodes; the smallest certificate of all seeds is 3\n" in text


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (SMALL.replace("orlc", "greedy") + " --until-certified 1", "agent 'greedy' gives no certificates"),
        (SMALL + " --until-certified 0", "until_certified = 0.0 is not allowed: it must be a positive number"),
        (SMALL + " --until-certified soon", "invalid float value"),
    ],
)
def test_impossible_thresholds_are_rejected(capsys, words, reason):
    assert reason in say(capsys, f"run {words}", code=2).err


def test_only_cases_in_which_an_agent_gives_certificates_have_their_figure():
    agents = {name: {"algorithm": name} for name in ("orlc", "greedy")}
    families = {"a": {"family": "chain", "set": {"bins": 3}}, "b": {"family": "chain", "set": {"bins": 4}}}
    cases = {"a": {"episodes": 5, "agents": ["orlc", "greedy"]}, "b": {"episodes": 5, "agents": ["greedy"]}}
    found = check({"instances": families, "agents": agents, "study": cases})
    assert found.certified_cases() == [("a", "U")]
    assert [name for name in found.figures if name.startswith("certificate")] == ["certificate_a_U"]
