"""The start of a study: one run at a time, and what a killed run left is cleared."""

import contextlib
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from befrl import cli
from befrl.common.errors import InputError
from befrl.study import runner

SLEEP = "import time; print(flush=True); time.sleep(60)"
LOCK = Path(".snakemake/locks/0.input.lock")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # `prepare` sets it for the Snakemake that follows.
    monkeypatch.setenv(runner.VARIABLE, "nowhere")
    Path("config").mkdir()
    Path("config/config.yaml").write_text("output: build/mine\n")
    return tmp_path


@contextlib.contextmanager
def started(*words, **environment):
    """A Python process that has printed its first line, until the end of the block."""
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, env=os.environ | environment) as process:
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_only_one_run_has_the_lock():
    Path(".snakemake").mkdir()
    holder = "import fcntl; f = open('.snakemake/befrl.lock', 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
    with started("-c", holder + SLEEP), pytest.raises(InputError, match="another run is active in this folder"):
        runner.prepare([])
    runner.prepare([])
    with open(".snakemake/befrl.lock") as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_only_jobs_of_a_killed_run_in_this_folder_are_stopped(folder):
    mine, others = ({runner.VARIABLE: name} for name in (str(folder), f"{folder}/other"))
    with started("-c", SLEEP, **mine) as left, started("-c", SLEEP, **others) as other:
        runner.prepare([])
        assert left.poll() is not None and other.poll() is None


def test_snakemake_started_by_hand_is_not_disturbed():
    Path("snakemake").write_text(SLEEP)
    LOCK.parent.mkdir(parents=True)
    LOCK.touch()
    with started("snakemake", "--cores", "all") as by_hand:
        with pytest.raises(InputError, match=f"Snakemake runs in this folder, as process {by_hand.pid}"):
            runner.prepare([])
    assert LOCK.exists()


@pytest.mark.parametrize("words", [[], ["-q", "--configfile", "other.yaml", "config/config.yaml", "--forceall", "x"]])
def test_only_leftovers_of_a_killed_run_are_removed(words):
    Path("other.yaml").write_text("output: elsewhere\n")
    for name in ("results/runs/.a.npz.x1.part", "results/runs/a.npz", "figures/.b.svg.y2.part"):
        path = Path("build/mine") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    runner.clear(["build/mine"])
    assert len(list(Path("build").rglob("*.part"))) == 2, "no run was killed: another process may be writing"
    LOCK.parent.mkdir(parents=True)
    LOCK.touch()
    runner.prepare([*words, "-n"])
    assert LOCK.exists(), "a dry run changes nothing"
    runner.prepare(words)
    assert [path.name for path in Path("build").rglob("*") if path.is_file()] == ["a.npz"]
    assert not LOCK.parent.exists()


@pytest.mark.parametrize("text", ["a: &a [*a]", "seeds: 1\nseeds: 2\n", None, "output", "# empty"])
def test_bad_config_is_an_error_message_before_anything_else(capsys, text):
    if text:
        Path("bad.yaml").write_text(text)
    with pytest.raises(InputError) as error:
        runner.main("smoke", "--configfile", "bad.yaml")
    assert cli.main(["study", "bad.yaml"]) == 2
    printed = capsys.readouterr().err
    assert printed == f"befrl: {error.value}\n" and printed.count("\n") == 1
    mapping = text in ("output", "# empty")
    assert printed.startswith(f"befrl: config bad.yaml {'must be a mapping' if mapping else 'cannot be read: '}")
    assert not Path(".snakemake").exists()
    command = [sys.executable, "-m", "befrl.study.runner", "smoke", "--configfile", "bad.yaml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, printed)


def test_caches_are_here_if_there_is_no_home(folder, monkeypatch):
    """No such folder, or a user that the system does not know."""
    caches = {"XDG_CACHE_HOME": f"{folder}/.snakemake/cache", "MPLCONFIGDIR": f"{folder}/.snakemake/cache/matplotlib"}
    seen = []
    monkeypatch.setattr(os, "execv", lambda program, command: seen.append(command))
    monkeypatch.setattr("pwd.getpwuid", lambda number: {}[number])
    for home in (folder, folder / "none", None):
        for name in (*caches, "HOME"):
            monkeypatch.setenv(name, str(home))
            monkeypatch.delenv(name)
        if home:
            monkeypatch.setenv("HOME", str(home))
        runner.main("study", "-n")
        assert {name: os.environ.get(name) for name in caches} == (dict.fromkeys(caches) if home == folder else caches)
    assert seen[0][-2:] == ["workflow/seconds/study.csv", "-n"]
