"""A small part of `make torture`: no attack ends in anything but a result or one sentence."""

import os
import sys

import pytest

from befrl.common.errors import InputError
from helpers import PROJECT

sys.path[:0] = [str(PROJECT / "tools"), str(PROJECT / "tools" / "torture")]
import commands
import configs
import files
import kernels
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
    before = os.getcwd()
    assert_survived(commands.attack(100, seed=1), 100)
    assert_survived(files.attack(100, seed=1), 300)
    assert os.getcwd() == before


def test_other_kernels():
    assert_survived(kernels.attack(("greedy",)), 12)


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
