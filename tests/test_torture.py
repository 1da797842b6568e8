"""A small part of `make torture`: no attack ends in anything but a result or one sentence."""

import sys

import pytest

from befrl.common.errors import InputError
from helpers import PROJECT

sys.path.insert(0, str(PROJECT / "tools"))
sys.path.insert(0, str(PROJECT / "tools" / "torture"))
import commands
import configs
import files
import kernels
import stock
import tally

# Of damaged numbers; what counts is how a command ends.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def same_environment(monkeypatch):
    """`befrl.cli.main` sets these for its process."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")


def assert_survived(tallies, least):
    assert [failure for found in tallies for failure in found.failures] == []
    for found in tallies:
        assert found.refused + found.survived == found.tried
    assert sum(found.tried for found in tallies) >= least


def test_configs():
    assert_survived(configs.attack(200, seed=1), 200)


def test_command_lines_and_files():
    with stock.made_in_a_folder() as (study, layout):
        assert_survived(files.attack_here(study, layout, 50, seed=1), 300)
        assert_survived(commands.attack_here(100, seed=1), 100)


def test_other_kernels():
    assert_survived(kernels.attack(("greedy",), ("riverswim",)), 4)


def test_the_judge_knows_a_failure():
    """A refusal, a result, a traceback, a hang, several lines and a wrong result."""

    def refuse():
        raise InputError("no")

    def wrong():
        raise AssertionError("wrong")

    found = tally.Tally("test")
    for attack in (refuse, lambda: None, lambda: 1 / 0, lambda: "befrl: a\nb", lambda: "Traceback", wrong):
        found.judge("case", attack)
    assert found.row == ("test", 6, 1, 1, 4)
    with pytest.raises(TimeoutError), tally.at_most(1):
        while True:
            pass
