"""Run a study with Snakemake, and go on by itself after any interruption.

python tools/run_study.py NAME [WORDS OF SNAKEMAKE]      e.g. smoke --configfile config/smoke.yaml

NAME is that of the table of expected seconds in workflow/seconds. Exit code 2: the config cannot be read, or another
run is alive in this folder.

Whatever ended the last run (Ctrl-C, SIGTERM, kill -9 of Snakemake or of a job, a power cut), the next one completes it:

- A lock tells whether a run is alive. The kernel releases it when its holder dies: it is held by this process, which
  becomes Snakemake. A Snakemake that was started by hand in this folder has no such lock, and is looked for.
- The jobs of a killed Snakemake live on. They are stopped, not waited for: Snakemake does not know whether they
  finished and would run them again, and what they write later could be the result of an older config or older code.
  They are known by a variable in their environment. They write to temporary names: stopping them damages nothing.
- Snakemake's own lock and the temporary files of the dead run are removed, and files that were not finished are made
  again (`--rerun-incomplete`).
"""

import fcntl
import os
import shutil
import sys
from pathlib import Path

import psutil

from befrl.common.errors import InputError
from befrl.common.storage import UNFINISHED
from befrl.study.yaml_file import read_yaml

VARIABLE = "BEFRL_RUN_IN"
STATE = Path(".snakemake")
DRY = ("-n", "--dry-run", "--dryrun")
SECONDS_TO_END = 5


def config_files(words):
    """The files that follow --configfile, up to the next option."""
    found = []
    for option in ("--configfile", "--configfiles"):
        if option in words:
            after = words[words.index(option) + 1 :]
            ends = [i for i, word in enumerate(after) if word.startswith("-")]
            found += after[: ends[0]] if ends else after
    return found or ["config/config.yaml"]


def lock():
    """Take the lock of this folder, until the end of the process; raise if another run has it."""
    STATE.mkdir(exist_ok=True)
    handle = os.open(STATE / "befrl.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError("another run is alive in this folder: wait for its end, or stop it") from None
    # The lock outlives the exec below; Snakemake closes it in its jobs.
    os.set_inheritable(handle, True)


def others(folder):
    """The processes of other runs in this folder: living Snakemakes, and jobs that a dead one left."""
    me = psutil.Process()
    mine = {me.pid, *(parent.pid for parent in me.parents())}
    alive, left = [], []
    for process in psutil.process_iter():
        try:
            if process.pid in mine or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.environ().get(VARIABLE) == folder:
                left.append(process)
            elif process.cwd() == folder and any(Path(word).name == "snakemake" for word in process.cmdline()[:4]):
                alive.append(process)
        except psutil.Error:
            continue  # it has ended, or is somebody else's
    return alive, left


def stop(processes):
    """Ask processes to end, then make them."""
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for process in processes:
            try:
                end(process)
            except psutil.NoSuchProcess:
                pass
        _, processes = psutil.wait_procs(processes, timeout=SECONDS_TO_END)


def clear(outputs):
    """Remove Snakemake's lock and the temporary files of a run that died."""
    marks = [STATE / name for name in ("locks", "incomplete")]
    if not any(mark.is_dir() and any(mark.iterdir()) for mark in marks):
        return
    shutil.rmtree(STATE / "locks", ignore_errors=True)
    for output in outputs:
        for place in ("results", "figures"):
            for path in (Path(output) / place).rglob(f".*{UNFINISHED}"):
                path.unlink(missing_ok=True)


def prepare(words):
    """Check the config files; make sure that this run is alone, and clear what a dead one left."""
    configs = [read_yaml(path) for path in config_files(words)]
    if any(word in DRY for word in words):
        return
    lock()
    folder = os.getcwd()
    alive, left = others(folder)
    if alive:
        raise InputError(f"Snakemake runs in this folder, as process {alive[0].pid}: wait for its end, or stop it")
    stop(left)
    clear({str(config.get("output", ".")) for config in configs if isinstance(config, dict)})
    os.environ[VARIABLE] = folder


def without_home():
    """Let Snakemake and matplotlib keep their caches here if the user has no home to write to, as in a container."""
    if not os.access(os.path.expanduser("~"), os.W_OK):
        os.environ.setdefault("XDG_CACHE_HOME", str(Path.cwd() / STATE / "cache"))
        os.environ.setdefault("MPLCONFIGDIR", str(Path.cwd() / STATE / "cache" / "matplotlib"))


def main(name, *words):
    try:
        prepare(words)
    except InputError as error:
        print(f"befrl: {error}", file=sys.stderr)
        sys.exit(2)
    without_home()
    command = [sys.executable, "-m", "snakemake", "--cores", "all", "--scheduler", "greedy", "--rerun-incomplete"]
    command += ["--logger", "progress", "--logger-progress-seconds", f"workflow/seconds/{name}.csv", *words]
    os.execv(sys.executable, command)


if __name__ == "__main__":
    main(*sys.argv[1:])
