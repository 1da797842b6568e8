"""The usage of a job, as its log tells it, is that of its processes."""

import subprocess
import sys
import time

import pytest

from befrl import cli
from befrl.common import usage

# Holds 300 MB in this process and as much in a worker that is alive; both compute until they have used half a second.
JOB = """
import multiprocessing, time
from befrl.common import usage

def work(ready):
    held = bytearray(300 * 2**20)
    while time.process_time() < 0.5:
        pass
    ready.set()
    time.sleep(60 if multiprocessing.parent_process() else 0)

if __name__ == "__main__":
    begun = time.monotonic()
    fork = multiprocessing.get_context("fork")
    ready = fork.Event()
    fork.Process(target=work, args=[ready], daemon=True).start()
    work(fork.Event())
    ready.wait()
    print(usage.line(begun))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="workers are counted where there is /proc")
def test_usage_counts_the_workers(tmp_path):
    log = tmp_path / "job.log"
    begun = time.monotonic()
    with open(log, "w") as file:
        subprocess.run([sys.executable, "-c", JOB], stdout=file, check=True)
    passed, used = time.monotonic() - begun, usage.read(log)
    assert 600 <= used["megabytes"] < 800
    assert 1.0 <= used["processor"] < 2.0
    assert 0.5 <= used["seconds"] <= passed


def test_a_job_says_its_usage_and_a_command_does_not(tmp_path, monkeypatch, capsys):
    log = tmp_path / "job.log"
    for wanted in ("", "1"):
        monkeypatch.setenv(usage.NAME, wanted)
        assert cli.main(["list", "agents"]) == 0
        log.write_text(capsys.readouterr().err)
        assert (usage.read(log) is not None) == bool(wanted)
