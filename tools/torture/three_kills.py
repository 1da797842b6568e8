"""Kill the study at three moments with SIGKILL, each followed by `make reproduce` and nothing else: `make kill-test`.

PYTHONPATH=tools python tools/torture/three_kills.py FOLDER

FOLDER is new: the last commit is cloned into it. First Snakemake alone dies, so that its jobs live on; then one job;
then everything at once, as in a power cut. The last run goes to its end, and `make verify` holds its results against
the committed ones. Printed is a log of it. Exit code 1 if a job was lost besides those that were running, if the last
run failed, or if `make verify` did.
"""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import run_study

PROJECT = Path(__file__).resolve().parents[2]
# Seconds after the start of a run: while agents are tuned, while they run, and towards the end.
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

    def processes(self):
        """Those of the run: Snakemake first, then its jobs and their parts."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(run_study.VARIABLE) == str(self.folder):
                    found.append(process)
            except psutil.Error:
                continue
        return sorted(found, key=lambda process: "snakemake" not in process.cmdline())

    def count(self):
        """What Snakemake's last log says: the number of jobs that it planned, started and finished."""
        logs = sorted((self.folder / run_study.STATE / "log").glob("*.snakemake.log"))
        text = logs[-1].read_text()
        planned = re.search(r"^total +(\d+)$", text, re.MULTILINE)
        started = len(set(re.findall(r"^ +jobid: (\d+)$", text, re.MULTILINE)))
        return int(planned[1]) if planned else 0, started, text.count("Finished jobid: ")


def only_snakemake(processes):
    processes[0].send_signal(signal.SIGKILL)


def one_job(processes):
    """The oldest process of befrl."""
    next(process for process in processes if "befrl" in process.cmdline()).send_signal(signal.SIGKILL)


def everything(processes):
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    for process in processes:
        process.send_signal(signal.SIGKILL)


def main(folder):
    study, faults, left = Study(folder), [], None
    subprocess.run(["make", "setup"], cwd=study.folder, check=True, capture_output=True)
    for seconds, victim in zip(MOMENTS, (only_snakemake, one_job, everything), strict=True):
        run = study.make("reproduce")
        time.sleep(seconds)
        processes = study.processes()
        say(f"kill -9: {victim.__name__.replace('_', ' ')} ({len(processes)} processes are alive)")
        victim(processes)
        code = run.wait()
        planned, started, finished = study.count()
        if left is not None and planned != left:
            faults.append(f"{planned} jobs were planned where {left} were left")
        left = planned - finished
        say(f"make ends with {code}: {finished} of {planned} jobs done, {started - finished} cut off, {left} left")
    code = study.make("reproduce").wait()
    planned, _, finished = study.count()
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
