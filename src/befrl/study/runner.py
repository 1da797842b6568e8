"""Run a study with Snakemake; resume it after any interruption.

python -m befrl.study.runner NAME [OPTIONS OF SNAKEMAKE]      e.g. smoke --configfile config/smoke.yaml

NAME is that of the table of expected seconds in workflow/seconds. Exit code 2: the config cannot be read, or another
run is active in this folder. `befrl study` calls it for a config in any folder.

Whatever ended the last run (Ctrl-C, SIGTERM, kill -9 of Snakemake or of a job, a power cut), the next one completes it:

- A lock shows whether a run is active. It is held by this process, which becomes Snakemake, and the kernel releases it
  when its holder dies. A Snakemake that was started by hand in this folder has no such lock and is searched for.
- The jobs of a killed Snakemake keep running. They are stopped: Snakemake would run them again anyway, and what they
  write later could be the result of an older config or older code. They are recognised by a variable in their
  environment. They write to temporary names, so that stopping them damages nothing.
- Snakemake's own lock and the temporary files of the killed run are removed, and unfinished files are made again
  (`--rerun-incomplete`).
"""

import argparse
import contextlib
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
DRY = {"-n", "--dry-run", "--dryrun"}
SECONDS_TO_END = 5


def lock():
    """Take the lock of this folder until the end of the process; raise if another run has it."""
    STATE.mkdir(exist_ok=True)
    handle = os.open(STATE / "befrl.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError("another run is active in this folder: wait for its end, or stop it") from None
    # The lock outlives the exec below; Snakemake closes it in its jobs.
    os.set_inheritable(handle, True)


def stop_others(folder):
    """Stop the jobs that a killed run left in this folder; raise if a Snakemake runs here."""
    me, left = psutil.Process(), []
    mine = {me.pid, *(parent.pid for parent in me.parents())}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # it has ended, or belongs to another user
            if process.pid in mine or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.environ().get(VARIABLE) == folder:
                left.append(process)
            elif process.cwd() == folder and any(Path(word).name == "snakemake" for word in process.cmdline()[:4]):
                about = f"Snakemake runs in this folder, as process {process.pid}"
                raise InputError(f"{about}: wait for its end, or stop it")
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                end(process)
        _, left = psutil.wait_procs(left, timeout=SECONDS_TO_END)


def clear(outputs):
    """Remove Snakemake's lock and the temporary files of a killed run."""
    if not any(path for name in ("locks", "incomplete") for path in (STATE / name).glob("*")):
        return
    shutil.rmtree(STATE / "locks", ignore_errors=True)
    for output in outputs:
        for folder in ("results", "figures"):
            for path in (Path(output) / folder).rglob(f".*{UNFINISHED}"):
                path.unlink(missing_ok=True)


def prepare(words):
    """Read the config files; make sure that no other run is active, and clear what a killed one left."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=["config/config.yaml"])
    outputs = set()
    for path in parser.parse_known_args(words)[0].configfile:
        config = read_yaml(path)
        if not isinstance(config, dict):
            raise InputError(f"config {path} must be a mapping with keys such as seeds and study")
        outputs.add(str(config.get("output", ".")))
    if DRY & set(words):
        return
    lock()
    stop_others(os.getcwd())
    clear(outputs)
    # Snakemake has a thread for every job; with few arenas of malloc it fits into a small address space.
    os.environ |= {VARIABLE: os.getcwd(), "MPLBACKEND": "agg", "MALLOC_ARENA_MAX": "2"}


def main(name, *words):
    """Replace this process by Snakemake; raise if no run can start."""
    prepare(words)
    # Without a home that can be written to, as in a container, Snakemake and matplotlib keep their caches here.
    if not os.access(os.path.expanduser("~"), os.W_OK):
        os.environ.setdefault("XDG_CACHE_HOME", str(Path.cwd() / STATE / "cache"))
        os.environ.setdefault("MPLCONFIGDIR", str(Path.cwd() / STATE / "cache" / "matplotlib"))
    # Rules call `python`, which must be this one.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    command = [sys.executable, "-P", "-m", "snakemake", "--cores", "all", "--scheduler", "greedy", "--rerun-incomplete"]
    command += ["--logger", "progress", "--logger-progress-seconds", f"workflow/seconds/{name}.csv", *words]
    os.execv(sys.executable, command)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except InputError as error:
        print(f"befrl: {error}", file=sys.stderr)
        sys.exit(2)
