"""Snakemake with the progress plugin, on a workflow of a second: what a person sees and the exit code."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
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
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    words = [sys.executable, "-m", "snakemake", "--cores", "1", "--scheduler", "greedy"]
    words += ["--logger", "progress", "--logger-progress-seconds", "elsewhere/study.csv"]
    return lambda *more: {
        "args": [*words, *more],
        "cwd": tmp_path,
        "env": os.environ | {"PYTHONPATH": str(ROOT / "src"), "TERM": "xterm"},
    }


@pytest.fixture
def call(command):
    """Runs Snakemake to its end: call(words) -> (exit code, lines of stderr, lines of stdout)."""

    def called(*words):
        done = subprocess.run(**command(*words), capture_output=True, text=True, timeout=120)
        return done.returncode, done.stderr.splitlines(), done.stdout.splitlines()

    return called


def log_file(folder):
    (path,) = (folder / ".snakemake" / "log").iterdir()
    return path.read_text()


def test_a_run_and_then_nothing_to_be_done(call, tmp_path):
    code, lines, printed = call()
    assert (code, printed) == (0, [])
    assert lines[1] == "4 jobs; Snakemake's own lines go to .snakemake/log/"
    # a tenth of the jobs is less than one, so that every job has its line
    assert [line.split(" | ")[0] for line in lines[2:-1]] == [f"{n}/4 jobs" for n in range(5)]
    assert "| now job " in lines[2]
    assert lines[-1].startswith("4 jobs done in ")
    assert "rule job:" in log_file(tmp_path) and not any("rule job:" in line for line in lines)
    rows = (tmp_path / ".snakemake" / "seconds" / "study.csv").read_text().splitlines()
    assert [row.rpartition(",")[0] for row in rows] == ["rule,output", "all,all", *(f"job,{n}.txt" for n in range(3))]
    code, lines, _ = call()
    assert code == 0 and len(lines) == 2 and lines[1].startswith("Nothing to be done")


def test_a_failing_job_shows_the_end_of_its_log(call, tmp_path):
    code, lines, _ = call("--config", "bad=1")
    assert code == 1
    start = lines.index("FAILED: job 1")
    assert lines[start + 1] == "  the last lines of logs/1.log:"
    assert lines[start + 2 : start + 22] == [f"    line {n}" for n in range(11, 31)]
    assert lines.count("FAILED: job 1") == 1
    assert lines[-1].startswith("stopped after ") and "FAILED: job 1; Snakemake's log: " in lines[-1]
    assert Path(lines[-1].rpartition(": ")[2]).is_file()


def test_a_refused_config_is_one_sentence_and_exit_code_2(call):
    assert call("--config", "wrong=1") == (2, ["befrl: wrong = 1 is not allowed"], [])


def test_a_dry_run_is_snakemakes_own(call, tmp_path):
    code, _, printed = call("-n")
    assert code == 0 and not (tmp_path / "0.txt").exists()
    assert sum(line.startswith("rule job:") for line in printed) == 3 and "    output: 0.txt" in printed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interruption_lets_the_running_job_end_and_leaves_no_lock(command, call, tmp_path, number):
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
    assert call("--rerun-incomplete")[0] == 0


def test_on_a_terminal_one_line_moves(command, tmp_path):
    ours, theirs = pty.openpty()
    run = subprocess.Popen(**command(), stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert run.wait() == 0
    *_, last = [line for line in shown.decode().split("\r\n") if line]
    assert last.startswith("\r\x1b[K") and last.rpartition("\x1b[K")[2].startswith("4 jobs done in ")
    # Between the first jobs and the last nothing starts a new line.
    assert [f"{n}/4 jobs" in last for n in range(5)] == 5 * [True]
