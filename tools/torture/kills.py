"""Attacks by signals: Snakemake or a job of the smoke study is killed at a random time, and the study started again.

Every start is the plain command of `make smoke`, in a copy of the project. After some kills it is left to its end: it
must succeed, make the same tables and figures as a run that nobody disturbed, and have finished no job twice.
"""

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
from pathlib import Path

import psutil
import run_study
import tally

PROJECT = Path(__file__).resolve().parents[2]
COPIED = ("Snakefile", "workflow", "config", "src", "tools", "environment.yml", "requirements.lock")
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
KILLS_PER_RUN = 20
# A whole run, on a machine that does other things too.
SECONDS = 900
OUTPUT = "build/smoke"


class Copy:
    """A copy of the project in which the smoke study runs."""

    def __init__(self, folder):
        self.folder = Path(folder) / "project"
        self.folder.mkdir()
        for name in COPIED:
            source = PROJECT / name
            if source.is_dir():
                shutil.copytree(source, self.folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
            else:
                shutil.copy2(source, self.folder)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = os.environ | {"PATH": path, "PYTHONPATH": str(self.folder / "src")}

    def start(self):
        command = [sys.executable, "tools/run_study.py", "smoke", "--configfile", "config/smoke.yaml"]
        with open(self.folder / "log", "w") as log:
            return subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=log, stderr=log)

    def finish(self):
        code = self.start().wait()
        assert code == 0, f"exit code {code}: {self.said()}"

    def said(self):
        return (self.folder / "log").read_text(errors="replace")[-3000:]

    def jobs(self):
        """The running processes of the study's jobs."""
        return [process for process, words in processes(self.folder) if "befrl" in words]

    def results(self):
        """The hashes of all tables and drawings that code and config determine."""
        output = self.folder / OUTPUT
        measured = {p.stem for p in output.glob("figures/*.json") if json.loads(p.read_text())["measured"]}
        tables = [p for p in output.rglob("*.csv") if "timings" not in p.parts]
        drawings = [p for p in output.glob("figures/*") if p.suffix in (".svg", ".png") and p.stem not in measured]
        paths = sorted([*tables, *drawings])
        return {str(p.relative_to(output)): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}

    def leftovers(self):
        return [str(path) for path in (self.folder / OUTPUT).rglob("*.part")]

    def forget(self):
        """Make the next start one from nothing, with logs of its own."""
        shutil.rmtree(self.folder / OUTPUT)
        shutil.rmtree(self.folder / run_study.STATE / "log")


def processes(folder):
    """The processes of the run in a folder, with the words of their command lines: Snakemake, its jobs, their parts."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(run_study.VARIABLE) == str(folder):
                found.append((process, process.cmdline()))
        except psutil.Error:
            continue
    return found


@dataclass
class Start:
    """What the log of one start of Snakemake tells: the number of jobs planned, and the jobs started and finished."""

    planned: int
    started: list[str]
    finished: list[str]


def starts(folder):
    """Every start of Snakemake in a folder; a job is known by its rule and its outputs."""
    logs = sorted((Path(folder) / run_study.STATE / "log").glob("*.snakemake.log"))
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


def attack(number, seed=0):
    """A tally of `number` kills, and one of the completed runs."""
    rng = random.Random(seed)
    kills = tally.Tally("kills of Snakemake and its jobs", seconds=SECONDS)
    runs = tally.Tally("completed after kills", seconds=SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        copy.finish()
        undisturbed = copy.results()
        while kills.tried < number:
            copy.forget()
            for _ in range(min(KILLS_PER_RUN, number - kills.tried)):
                kills.judge(kills.tried + 1, lambda: kill(rng, copy))
            runs.judge(runs.tried + 1, lambda: complete(copy, undisturbed))
    return [kills, runs]


def kill(rng, copy):
    """Start the study and hit Snakemake or one of its jobs; it must live until then, or have finished."""
    started = copy.start()
    time.sleep(rng.uniform(1, 10))
    number, jobs = rng.choice(SIGNALS), copy.jobs()
    if started.poll() is None:
        if jobs and rng.random() < 0.4:
            victim = rng.choice(jobs)
            try:
                victim.kill()
            except psutil.NoSuchProcess:
                pass
            # Snakemake ends by itself once the other jobs are done; not waiting for that is one attack more.
            if rng.random() < 0.5:
                started.kill()
        else:
            started.send_signal(number)
        started.wait()
    else:
        assert started.returncode == 0, f"exit code {started.returncode}: {copy.said()}"


def complete(copy, undisturbed):
    copy.finish()
    made = copy.results()
    different = sorted(name for name in {*made, *undisturbed} if made.get(name) != undisturbed.get(name))
    assert not different, f"{len(different)} files differ from those of the undisturbed run: {different[:5]}"
    assert not copy.leftovers(), f"temporary files are left: {copy.leftovers()[:5]}"
    seen = starts(copy.folder)
    planned, finished = max(start.planned for start in seen), Counter(job for start in seen for job in start.finished)
    twice = [job for job, times in finished.items() if times > 1]
    assert not twice, f"{len(twice)} jobs were lost, and finished twice: {twice[:5]}"
    # Fewer, if a Snakemake died between storing a job and telling so.
    assert 0 < len(finished) <= planned, f"{len(finished)} jobs were finished, of {planned}"
