"""Kills: Snakemake or a job of the smoke study is killed at a random time, and the study is started again.

Every start is the command of `make smoke`, in a copy of the project. After some kills it runs to its end: it must
succeed, make the same tables and figures as an undisturbed run, and have finished no job twice.
"""

import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
from outcomes import Outcomes

from befrl.study import runner

PROJECT = Path(__file__).resolve().parents[2]
COPIED = ("Snakefile", "workflow", "config", "src", "tools", "environment.yml", "requirements.lock")
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
KILLS_PER_RUN = 20
SECONDS = 900  # for a whole run, on a busy machine
OUTPUT = "build/smoke"


class Copy:
    """A copy of the project in which the smoke study runs."""

    def __init__(self, folder, name="project"):
        self.folder = Path(folder) / name
        self.folder.mkdir()
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        for source in (PROJECT / name for name in COPIED):
            if source.is_dir():
                shutil.copytree(source, self.folder / source.name, ignore=ignored)
            else:
                shutil.copy2(source, self.folder)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = os.environ | {"PATH": path, "PYTHONPATH": str(self.folder / "src")}

    def start(self, **options):
        command = [sys.executable, "-P", "-m", "befrl.study.runner", "smoke", "--configfile", "config/smoke.yaml"]
        with open(self.folder / "log", "w") as log:
            return subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=log, stderr=log, **options)

    def finish(self, **options):
        self.succeeded(self.start(**options).wait())

    def succeeded(self, code):
        assert code == 0, f"exit code {code}: {(self.folder / 'log').read_text(errors='replace')[-3000:]}"

    def results(self):
        """The hashes of all tables and drawings that code and config determine."""
        output = self.folder / OUTPUT
        measured = {path.stem for path in output.glob("figures/*.json") if json.loads(path.read_text())["measured"]}
        paths = [path for path in output.rglob("*.csv") if "timings" not in path.parts]
        for ending in ("svg", "png"):
            paths += [path for path in output.glob(f"figures/*.{ending}") if path.stem not in measured]
        return {str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}

    def forget(self):
        """Make the next start one from nothing, with logs of its own."""
        shutil.rmtree(self.folder / OUTPUT)
        shutil.rmtree(self.folder / runner.STATE / "log")


def processes(folder, word=None):
    """The processes of the run in a folder, or those with a word in their command line: `snakemake` or `befrl`."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(runner.VARIABLE) == str(folder):
                if word is None or word in process.cmdline():
                    found.append(process)
    return found


def send(number, alive):
    """Send a signal to processes; return how many it has reached."""
    reached = 0
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)
            reached += 1
    return reached


@dataclass
class Start:
    """The number of jobs that one start of Snakemake planned, and the jobs that it started and finished."""

    planned: int
    started: list[str]
    finished: list[str]


def starts(folder):
    """Every start of Snakemake in a folder, from its logs; a job is identified by its rule and its outputs."""
    logs = sorted((Path(folder) / runner.STATE / "log").glob("*.snakemake.log"))
    return [start_of(log.read_text(errors="replace")) for log in logs]


def start_of(text):
    planned = re.search(r"^total +(\d+)$", text, re.MULTILINE)
    jobs = {}
    for rule, about in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)*)", text, re.MULTILINE):
        output = re.search(r"^ {4}output: (.*)$", about, re.MULTILINE)
        number = re.search(r"^ {4}jobid: (\d+)$", about, re.MULTILINE)
        if number:  # a log that was cut off may end before it
            jobs[number[1]] = f"{rule}: {output[1] if output else ''}"
    finished = re.findall(r"^Finished jobid: (\d+)", text, re.MULTILINE)
    return Start(int(planned[1]) if planned else 0, list(jobs.values()), [jobs[number] for number in finished])


def inject(number, seed=0):
    """Outcomes of `number` kills, and of the completed runs."""
    rng = random.Random(seed)
    kills = Outcomes("kills of Snakemake and its jobs", seconds=SECONDS)
    runs = Outcomes("completed after kills", seconds=SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        copy.finish()
        undisturbed = copy.results()
        while kills.tried < number:
            copy.forget()
            for _ in range(min(KILLS_PER_RUN, number - kills.tried)):
                kills.count(kills.tried + 1, partial(kill, rng, copy))
            runs.count(runs.tried + 1, partial(complete, copy, undisturbed))
    return [kills, runs]


def kill(rng, copy):
    """Start the study and kill Snakemake or one of its jobs; it must live until then, or have finished."""
    run = copy.start()
    time.sleep(rng.uniform(1, 10))
    number, jobs = rng.choice(SIGNALS), processes(copy.folder, "befrl")
    if run.poll() is not None:
        return copy.succeeded(run.returncode)
    if jobs and rng.random() < 0.4:
        send(signal.SIGKILL, [rng.choice(jobs)])
        # Snakemake ends by itself once the other jobs are done, unless it is killed, too.
        if rng.random() < 0.5:
            run.kill()
    else:
        run.send_signal(number)
    run.wait()


def complete(copy, undisturbed):
    copy.finish()
    made = copy.results()
    different = sorted(name for name in {*made, *undisturbed} if made.get(name) != undisturbed.get(name))
    assert not different, f"{len(different)} files differ from those of the undisturbed run: {different[:5]}"
    left = sorted((copy.folder / OUTPUT).rglob("*.part"))
    assert not left, f"temporary files are left: {left[:5]}"
    seen = starts(copy.folder)
    planned, finished = max(start.planned for start in seen), Counter(job for start in seen for job in start.finished)
    twice = [job for job, times in finished.items() if times > 1]
    assert not twice, f"{len(twice)} jobs were lost, and finished twice: {twice[:5]}"
    # Fewer, if Snakemake died between storing a job and logging it.
    assert 0 < len(finished) <= planned, f"{len(finished)} jobs were finished, of {planned}"
