"""Kill the study at three moments with SIGKILL, each followed by `make reproduce` and nothing else: `make kill-test`.

PYTHONPATH=tools python tools/torture/three_kills.py FOLDER      a new one

The last commit is cloned into FOLDER. First Snakemake alone dies, so that its jobs live on; then one job; then
everything at once, as in a power cut. The last run goes to its end, and `make verify` holds its results against the
committed ones. Exit code 1 if a job was lost besides those that were running, if the last run failed, or if
`make verify` did.
"""

import contextlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
from kills import counts, processes

PROJECT = Path(__file__).resolve().parents[2]
# Seconds from the start of each run to its kill.
MOMENTS = (150, 360, 360)
BEGUN = time.time()


def say(text):
    print(f"{time.strftime('%H:%M:%S', time.gmtime(time.time() - BEGUN))}  {text}", flush=True)


class Study:
    """The study in a fresh clone of the last commit."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        subprocess.run(["git", "clone", "--quiet", PROJECT, self.folder], check=True)

    def make(self, target):
        say(f"$ make {target}")
        with open(self.folder.parent / f"{self.folder.name}.log", "a") as log:
            return subprocess.Popen(["make", target], cwd=self.folder, stdout=log, stderr=log, start_new_session=True)


def only_snakemake(alive):
    send(signal.SIGKILL, [process for process, words in alive if "snakemake" in words])


def one_job(alive):
    send(signal.SIGKILL, [process for process, words in alive if "befrl" in words][:1])


def everything(alive):
    for number in (signal.SIGSTOP, signal.SIGKILL):
        send(number, [process for process, _ in alive])


def send(number, alive):
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def main(folder):
    study, faults, left = Study(folder), [], None
    subprocess.run(["make", "setup"], cwd=study.folder, check=True, capture_output=True)
    for seconds, victim in zip(MOMENTS, (only_snakemake, one_job, everything), strict=True):
        run = study.make("reproduce")
        time.sleep(seconds)
        alive = processes(study.folder)
        say(f"kill -9: {victim.__name__.replace('_', ' ')} ({len(alive)} processes are alive)")
        victim(alive)
        code = run.wait()
        planned, started, finished = counts(study.folder)[-1]
        if left is not None and planned != left:
            faults.append(f"{planned} jobs were planned where {left} were left")
        left = planned - finished
        say(f"make ends with {code}: {finished} of {planned} jobs done, {started - finished} cut off, {left} left")
    code = study.make("reproduce").wait()
    planned, _, finished = counts(study.folder)[-1]
    say(f"make ends with {code}: {finished} of {planned} jobs done")
    if planned != left:
        faults.append(f"{planned} jobs were planned where {left} were left")
    if code:
        faults.append("the last run failed")
    say("$ make verify")
    verified = subprocess.run(["make", "verify"], cwd=study.folder, capture_output=True, text=True)
    print(verified.stdout.strip())
    if verified.returncode:
        faults.append("make verify failed")
    for fault in faults:
        say(f"FAILED: {fault}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
