"""tools/run_study.py: one run at a time, and the leftovers of a dead one are cleared."""

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from befrl.common.errors import InputError
from helpers import PROJECT

sys.path.insert(0, str(PROJECT / "tools"))
import run_study

SLEEP = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # `prepare` sets it for the Snakemake that follows.
    monkeypatch.setenv(run_study.VARIABLE, "nowhere")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("output: build/mine\n")
    return tmp_path


@contextlib.contextmanager
def started(command, **options):
    """A process that has printed its first line, until the end of the block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, **options) as process:
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_the_config_files_are_the_words_after_their_option():
    assert run_study.config_files(["-n", "--configfile", "a.yaml", "b.yaml", "--quiet", "c"]) == ["a.yaml", "b.yaml"]
    assert run_study.config_files(["target"]) == ["config/config.yaml"]


def test_a_second_run_is_refused_while_the_first_is_alive_and_not_afterwards(folder):
    holder = "import fcntl, sys, time; f = open('.snakemake/befrl.lock', 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
    (folder / ".snakemake").mkdir()
    with started([sys.executable, "-c", f"{holder} print(flush=True); time.sleep(60)"]):
        with pytest.raises(InputError, match="another run is alive in this folder"):
            run_study.prepare([])
    run_study.prepare([])
    with open(".snakemake/befrl.lock") as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_jobs_of_a_dead_run_are_stopped_and_no_others(folder):
    environments = [os.environ | {run_study.VARIABLE: name} for name in (str(folder), f"{folder}/other")]
    with started(SLEEP, env=environments[0]) as left, started(SLEEP, env=environments[1]) as other:
        run_study.prepare([])
        assert left.poll() is not None
        assert other.poll() is None


def test_a_snakemake_that_was_started_by_hand_is_not_disturbed(folder):
    Path("snakemake").write_text("import time\nprint(flush=True)\ntime.sleep(60)\n")
    (folder / ".snakemake" / "locks").mkdir(parents=True)
    (folder / ".snakemake" / "locks" / "0.input.lock").touch()
    with started([sys.executable, "snakemake", "--cores", "all"]) as by_hand:
        with pytest.raises(InputError, match=f"Snakemake runs in this folder, as process {by_hand.pid}"):
            run_study.prepare([])
    assert (folder / ".snakemake" / "locks" / "0.input.lock").exists()


def test_what_a_dead_run_left_is_removed_and_nothing_else(folder):
    for name in ("results/runs/.a.npz.x1.part", "results/runs/a.npz", "figures/.b.svg.y2.part"):
        path = folder / "build" / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    run_study.clear(["build/mine"])
    assert len(list((folder / "build").rglob("*.part"))) == 2, "no run has died: somebody may be writing"
    (folder / ".snakemake" / "locks").mkdir(parents=True)
    (folder / ".snakemake" / "locks" / "0.input.lock").touch()
    run_study.prepare([])
    assert [path.name for path in (folder / "build").rglob("*") if path.is_file()] == ["a.npz"]
    assert not (folder / ".snakemake" / "locks").exists()


def test_a_dry_run_needs_no_lock(folder):
    run_study.prepare(["-n"])
    assert not (folder / ".snakemake").exists()


@pytest.mark.parametrize("text", ["a: &a [*a]", "seeds: 1\nseeds: 2\n", None])
def test_a_bad_config_is_one_sentence_before_anything_else(folder, text):
    if text:
        Path("bad.yaml").write_text(text)
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, PROJECT / "tools" / "run_study.py", "smoke", "--configfile", "bad.yaml"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and time.monotonic() - begun < 30
    assert done.stderr.startswith("befrl: config bad.yaml cannot be read: ") and done.stderr.count("\n") == 1
    assert not (folder / ".snakemake").exists()


def test_a_user_without_a_home_has_caches_here(folder, monkeypatch):
    for name in ("XDG_CACHE_HOME", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    run_study.without_home()
    assert "XDG_CACHE_HOME" not in os.environ
    # No such folder, and a user whom the system does not know.
    monkeypatch.setenv("HOME", str(folder / "none"))
    run_study.without_home()
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda number: {}[number])
    run_study.without_home()
    assert os.environ["XDG_CACHE_HOME"] == str(folder / ".snakemake" / "cache")
    assert os.environ["MPLCONFIGDIR"].startswith(os.environ["XDG_CACHE_HOME"])
