"""A small part of `make torture`: every injected fault ends in a result or in one error message."""

import os
import shlex
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from befrl.common.errors import InputError
from befrl.experiment import run_file
from helpers import PROJECT

sys.path.insert(0, str(PROJECT / "tools" / "torture"))
import commands
import configs
import files
import kernels
import kills
import outcomes
import stock

# Warnings of damaged numbers.
pytestmark = pytest.mark.filterwarnings("ignore")
# One case of the study, whose figures take most of the time.
STUDY = stock.STUDY | {
    "instances": {"tiny": stock.STUDY["instances"]["tiny"]},
    "study": {"tiny": {"episodes": 5, "agents": ["bef-rlsvi", "eps", "greedy"]}},
    "components": {},
}


def assert_handled(found, least):
    assert [failure for each in found for failure in each.failures] == []
    assert sum(each.rejected + each.completed for each in found) == sum(each.tried for each in found) >= least


def test_faulty_configs_are_rejected_or_completed():
    assert_handled(configs.inject(200, seed=1), 200)


@pytest.mark.parametrize("study", [STUDY, pytest.param(stock.STUDY, marks=pytest.mark.slow)], ids=["one case", "whole"])
def test_faulty_command_lines_and_files_are_rejected_or_completed(study):
    with stock.study_in_a_folder(study) as made:
        assert_handled(files.inject(made, 50, seed=1), 300)
        assert_handled(commands.inject(100, seed=1), 100)


def test_run_on_another_processor_differs_by_rounding(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stock.made(*"instance riverswim --set states=4 horizon=6 --out i.npz".split())
    words = "run --instance i.npz --agent bef-rlsvi --episodes 40 --seeds 4 --quiet --out".split()
    stock.made(*words, "here/0-3.npz")
    environment = os.environ | kernels.processor("Prescott")
    subprocess.run([sys.executable, "-m", "befrl", *words, "there/0-3.npz"], env=environment, check=True)
    regret = [run_file.load(f"{folder}/0-3.npz")[0]["regret"] for folder in ("here", "there")]
    np.testing.assert_allclose(*regret, rtol=kernels.RELATIVE, atol=kernels.ABSOLUTE)


def test_tables_that_differ_by_more_than_rounding_fail(tmp_path):
    for folder, value in (("usual", 2.0), ("near", 2.0 * (1 + 1e-10)), ("far", 2.0 * (1 + 1e-8))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "claims.csv").write_text(f"id,number,instance\nC01,{value!r},{folder}\n")
    kernels.compare(tmp_path / "near", tmp_path / "usual", Path("claims.csv"))
    with pytest.raises(AssertionError, match="differ by more than rounding: number in row 1"):
        kernels.compare(tmp_path / "far", tmp_path / "usual", Path("claims.csv"))


def test_outcomes_are_told_apart():
    """A rejection, a result, a traceback, several lines, no message, a wrong result, and a hang that is caught."""

    def reject():
        raise InputError("no")

    def wrong():
        raise AssertionError("wrong")

    def hang():
        try:
            time.sleep(60)
        except Exception:
            return "befrl: the disk is slow"

    found = outcomes.Outcomes("test", seconds=1)
    for function in (reject, lambda: None, lambda: 1 / 0, lambda: "befrl: a\nb", lambda: "Traceback", wrong, hang):
        found.count("case", function)
    assert found.row == ("test", 7, 1, 1, 5)
    assert found.failures[-1] == ("case", "it takes more than 1 seconds")


LOG = """
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


def test_log_of_snakemake_is_read_up_to_where_it_was_cut_off():
    start = kills.start_of(LOG)
    assert start == kills.Start(12, ["instance: i.npz", "run: r.npz", "all: "], ["instance: i.npz"])
    assert kills.start_of(LOG.partition("    jobid: 3")[0]).started == ["instance: i.npz"]
    assert kills.start_of("").planned == 0


def test_pipes_and_devices_are_rejected_at_once(tmp_path, monkeypatch):
    """Nobody writes to the pipe, and the device has no end."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.py")
    os.symlink("/dev/zero", "endless.py")
    found = outcomes.Outcomes("pipes and devices", seconds=10)
    for words in (
        "run --instance {} --agent greedy --episodes 2 --seeds 2",
        "compare {} --agents greedy random --episodes 2 --seeds 2",
        "bench --page {}",
        "job report --study {}",
        "check {}",
        "list agents --plugin {}",
    ):
        for name in ("pipe.py", "endless.py"):
            found.count((words, name), partial(commands.message, shlex.split(words.format(name, name))))
    assert found.row == ("pipes and devices", 12, 12, 0, 0)
