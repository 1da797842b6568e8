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
from kills import processes, starts

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
            return subprocess.Popen(
                ["make", "--no-print-directory", target],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def only_snakemake(alive):
    return send(signal.SIGKILL, [process for process, words in alive if "snakemake" in words])


def one_job(alive):
    return send(signal.SIGKILL, [process for process, words in alive if "befrl" in words][:1])


def everything(alive):
    all_of_them = [process for process, _ in alive]
    send(signal.SIGSTOP, all_of_them)
    return send(signal.SIGKILL, all_of_them)


def send(number, alive):
    """Send a signal to processes; return how many it has reached."""
    reached = 0
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)
            reached += 1
    return reached


def main(folder):
    study, faults, left = Study(folder), [], None
    subprocess.run(["make", "setup"], cwd=study.folder, check=True, capture_output=True)
    for seconds, victim in zip((*MOMENTS, None), (only_snakemake, one_job, everything, None), strict=True):
        run = study.make("reproduce")
        if victim:
            time.sleep(seconds)
            hit = victim(processes(study.folder))
            say(f"kill -9: {victim.__name__.replace('_', ' ')} ({hit} of its processes)")
        code = run.wait()
        last = starts(study.folder)[-1]
        done, begun = len(last.finished), len(last.started)
        say(f"make ends with {code}: {done} of {last.planned} jobs done, {begun - done} cut off")
        if victim and not (hit and code):
            faults.append("nothing was killed")
        if not victim and code:
            faults.append("the last run failed")
        # One less if Snakemake died between storing a job and telling so.
        if not last.planned or (left is not None and last.planned > left):
            faults.append(f"{last.planned} jobs were planned where {left} were left")
        left = last.planned - done
    say("$ make verify")
    verified = subprocess.run(
        ["make", "--no-print-directory", "verify"], cwd=study.folder, capture_output=True, text=True
    )
    print(verified.stdout.strip())
    if verified.returncode:
        faults.append("make verify failed")
    for fault in faults:
        say(f"FAILED: {fault}")
    return bool(faults)


if __name__ == "__main__":
    if len(sys.argv) != 2 or Path(sys.argv[1]).exists():
        print("befrl: name one new folder, such as build/kill-test", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1]))
