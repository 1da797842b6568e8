"""A small part of `make torture`: no attack ends in anything but a result or one sentence."""

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from befrl.common.errors import InputError
from befrl.experiment import run_file
from helpers import PROJECT

sys.path.insert(0, str(PROJECT / "tools"))
sys.path.insert(0, str(PROJECT / "tools" / "torture"))
import commands
import configs
import files
import kernels
import kills
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


def test_another_processor_reads_an_instance_and_plays_the_same(tmp_path):
    def befrl(words, environment):
        command = [sys.executable, "-m", "befrl", *words.split()]
        subprocess.run(command, env=os.environ | environment, cwd=tmp_path, check=True)

    befrl("instance riverswim --set states=4 horizon=6 --out i.npz", {})
    regret = []
    for kernel in (None, "Prescott"):
        environment = kernels.processor(kernel) if kernel else {}
        befrl("run --instance i.npz --agent bef-rlsvi --episodes 40 --seeds 4 --quiet --out 0-3.npz", environment)
        regret.append(run_file.load(tmp_path / "0-3.npz")[0]["regret"])
    np.testing.assert_allclose(*regret, rtol=kernels.RELATIVE, atol=kernels.ABSOLUTE)


def test_tables_that_differ_by_more_than_rounding_are_told(tmp_path):
    for folder, value in (("usual", 2.0), ("near", 2.0 * (1 + 1e-10)), ("far", 2.0 * (1 + 1e-8))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "claims.csv").write_text(f"id,number,instance\nC01,{value!r},{folder}\n")
    kernels.same(tmp_path / "near", tmp_path / "usual", Path("claims.csv"))
    with pytest.raises(AssertionError, match="differ by more than rounding: number in row 1"):
        kernels.same(tmp_path / "far", tmp_path / "usual", Path("claims.csv"))


def test_the_judge_knows_a_failure():
    """A refusal, a result, a traceback, several lines, no sentence, a wrong result, and a hang that seems a refusal."""

    def refuse():
        raise InputError("no")

    def wrong():
        raise AssertionError("wrong")

    def hang():
        try:
            time.sleep(60)
        except (OSError, Exception):
            return "befrl: the disk is slow"

    found = tally.Tally("test", seconds=1)
    for attack in (refuse, lambda: None, lambda: 1 / 0, lambda: "befrl: a\nb", lambda: "Traceback", wrong, hang):
        found.judge("case", attack)
    assert found.row == ("test", 7, 1, 1, 5)
    assert found.failures[-1] == ("case", "it takes more than 1 seconds")


LOG = """
job         count
--------  -------
all             1
total          12

localrule instance:
    output: i.npz
    log: i.log
    jobid: 15
    reason: Missing output files: i.npz
Finished jobid: 15 (Rule: instance)
1 of 12 steps (8%) done
rule run:
    input: i.npz
    output: r.npz
    jobid: 3
Error in rule run:
    message: None
    jobid: 3
localrule all:
    jobid: 0
"""


def test_the_log_of_a_start_is_read():
    start = kills.start_of(LOG)
    assert start == kills.Start(12, ["instance: i.npz", "run: r.npz", "all: "], ["instance: i.npz"])
    # Snakemake was killed while it wrote.
    assert kills.start_of(LOG.partition("    jobid: 3")[0]).started == ["instance: i.npz"]
    assert kills.start_of("").planned == 0


COMMANDS = {
    "an instance": "run --instance {} --agent greedy --episodes 2 --seeds 2",
    "tuning": "run --instance chain --agent greedy --tuned {} --episodes 2 --seeds 2",
    "a table": "figure regret --tables {} {} --out f",
    "a study": "report --study {} --out r.html",
    "a claim": "ledger {} --out l.csv --errata e.md",
    "a plug-in": "list agents --plugin {}",
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_pipes_and_devices_are_refused_at_once(tmp_path, monkeypatch, words):
    """Nobody writes to the pipe, and the device has no end."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.py")
    os.symlink("/dev/zero", "endless.py")
    found = tally.Tally("pipes and devices", seconds=10)
    for name in ("pipe.py", "endless.py"):
        found.judge(name, lambda name=name: commands.sentence(shlex.split(words.format(name, name))))
    assert found.row == ("pipes and devices", 2, 2, 0, 0)
