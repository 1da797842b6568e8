"""Snakemake with the progress plugin on a workflow of a second: output and exit code."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers import PROJECT

SNAKEFILE = """
import sys

if config.get("wrong"):
    print("befrl: wrong = 1 is not allowed", file=sys.stderr)
    sys.exit(2)


rule all:
    input:
        expand("{n}.txt", n=range(3)),


rule job:
    output:
        "{n}.txt",
    log:
        "logs/{n}.log",
    params:
        bad=config.get("bad", ""),
        wait=config.get("wait", ""),
    shell:
        "(for i in $(seq 30); do echo line $i; done; [ '{wildcards.n}' != '{params.bad}' ] || exit 3;"
        " touch started; until [ -z '{params.wait}' -o -e go ]; do sleep 0.05; done; echo x > {output}) > {log} 2>&1"
"""


@pytest.fixture
def command(tmp_path):
    """The arguments of a process that runs Snakemake: command(words)."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    words = [sys.executable, "-m", "snakemake", "--cores", "1", "--scheduler", "greedy"]
    words += ["--logger", "progress", "--logger-progress-seconds", "elsewhere/study.csv"]
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "src"), "TERM": "xterm"}
    return lambda *more: {"args": [*words, *more], "cwd": tmp_path, "env": environment}


@pytest.fixture
def call(command):
    """Runs Snakemake to its end: call(words) -> (exit code, lines of stderr, lines of stdout)."""

    def called(*words):
        done = subprocess.run(**command(*words), capture_output=True, text=True, timeout=120)
        return done.returncode, done.stderr.splitlines(), done.stdout.splitlines()

    return called


def test_run_has_a_line_for_every_tenth_of_the_jobs(call, tmp_path):
    code, lines, printed = call()
    assert (code, printed) == (0, [])
    assert lines[1] == "4 jobs; Snakemake's own lines go to .snakemake/log/"
    assert [line.split(" | ")[0] for line in lines[2:-1]] == [f"{n}/4 jobs" for n in range(5)]
    assert "| now job " in lines[2]
    assert lines[-1].startswith("4 jobs done in ")
    (log,) = (tmp_path / ".snakemake" / "log").iterdir()
    assert "rule job:" in log.read_text() and not any("rule job:" in line for line in lines)
    rows = (tmp_path / ".snakemake" / "seconds" / "study.csv").read_text().splitlines()
    assert [row.rpartition(",")[0] for row in rows] == ["rule,output", "all,all", *(f"job,{n}.txt" for n in range(3))]


def test_failed_job_is_shown_once_with_the_end_of_its_log(call):
    code, lines, _ = call("--config", "bad=1")
    assert code == 1
    start = lines.index("FAILED: job 1")
    assert lines[start + 1] == "  the last lines of logs/1.log:"
    assert lines[start + 2 : start + 22] == [f"    line {n}" for n in range(11, 31)]
    assert lines.count("FAILED: job 1") == 1
    assert lines[-1].startswith("stopped after ") and "FAILED: job 1; Snakemake's log: " in lines[-1]
    assert Path(lines[-1].rpartition(": ")[2]).is_file()


def test_bad_config_is_one_error_message_and_exit_code_2(call):
    assert call("--config", "wrong=1") == (2, ["befrl: wrong = 1 is not allowed"], [])


def test_output_of_a_dry_run_is_snakemakes_own(call, tmp_path):
    code, _, printed = call("-n")
    assert code == 0 and not (tmp_path / "0.txt").exists()
    assert sum(line.startswith("rule job:") for line in printed) == 3 and "    output: 0.txt" in printed


@pytest.mark.parametrize("number", [pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGINT])
def test_run_resumes_after_an_interruption_and_on_a_terminal_has_one_line(command, tmp_path, number):
    def heard():
        # Processes that a shell starts in the background ignore interrupts, and their children inherit that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    options = {"stderr": subprocess.PIPE, "text": True, "preexec_fn": heard}
    with subprocess.Popen(**command("--config", "wait=1"), **options) as run:
        while not (tmp_path / "started").exists():
            assert run.poll() is None
            time.sleep(0.05)
        run.send_signal(number)
        time.sleep(0.5)  # for the signal to arrive before the job ends
        (tmp_path / "go").touch()
        _, shown = run.communicate(timeout=120)
    assert run.returncode == 1
    assert shown.splitlines()[-1].startswith("stopped after ")
    assert "Will exit after finishing" in shown or "Terminating processes on user request" in shown
    assert len(list(tmp_path.glob("*.txt"))) < 3
    # No lock is left, and nothing but text above the line starts a new line.
    ours, theirs = pty.openpty()
    run = subprocess.Popen(**command("--rerun-incomplete", "--config", "wait=1"), stdout=theirs, stderr=theirs)
    os.close(theirs)
    pieces = []
    with contextlib.suppress(OSError):  # the other end is closed
        while pieces[-1:] != [b""]:
            pieces.append(os.read(ours, 4096))
    os.close(ours)
    assert run.wait() == 0
    *_, last = [text for text in b"".join(pieces).decode().split("\r\n") if text]
    total = int(re.fullmatch(r"\r\x1b\[K.*\r\x1b\[K(\d) jobs done in [\d:]+", last).group(1))
    assert total > 1 and all(f"{n}/{total} jobs" in last for n in range(total + 1))
