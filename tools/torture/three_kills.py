"""Kill the study at three times with SIGKILL, each followed by `make reproduce` and nothing else: `make kill-test`.

PYTHONPATH=tools python tools/torture/three_kills.py FOLDER      a new one

The last commit is cloned into FOLDER. First Snakemake alone is killed, so that its jobs keep running; then one job;
then everything at once, as in a power cut. The last run goes to its end, and `make verify` compares its results with
the committed ones. Exit code 1 if a job was lost besides those that were running, if the last run failed, or if
`make verify` did.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

from kills import PROJECT, processes, send, starts

BEGUN = time.time()


def say(text):
    print(f"{time.strftime('%H:%M:%S', time.gmtime(time.time() - BEGUN))}  {text}", flush=True)


def only_snakemake(folder):
    return send(signal.SIGKILL, processes(folder, "snakemake"))


def one_job(folder):
    return send(signal.SIGKILL, processes(folder, "befrl")[:1])


def everything(folder):
    alive = processes(folder)
    send(signal.SIGSTOP, alive)
    return send(signal.SIGKILL, alive)


# Seconds from the start of each run to its kill, and what is killed.
KILLS = [(150, only_snakemake), (360, one_job), (360, everything), (0, None)]


def main(folder):
    subprocess.run(["git", "clone", "--quiet", PROJECT, folder], check=True)
    subprocess.run(["make", "setup"], cwd=folder, check=True, capture_output=True)
    faults, left = [], None
    for seconds, kill in KILLS:
        say("$ make reproduce")
        with open(f"{folder}.log", "a") as log:
            command = ["make", "--no-print-directory", "reproduce"]
            run = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, start_new_session=True)
        if kill:
            time.sleep(seconds)
            reached = kill(folder)
            say(f"kill -9: {kill.__name__.replace('_', ' ')} ({reached} processes)")
        code = run.wait()
        last = starts(folder)[-1]
        done, begun = len(last.finished), len(last.started)
        say(f"make ends with {code}: {done} of {last.planned} jobs done, {begun - done} cut off")
        if kill and not (reached and code):
            faults.append("nothing was killed")
        if not kill and code:
            faults.append("the last run failed")
        # One less if Snakemake died between storing a job and logging it.
        if not last.planned or (left is not None and last.planned > left):
            faults.append(f"{last.planned} jobs were planned where {left} were left")
        left = last.planned - done
    say("$ make verify")
    if subprocess.run(["make", "--no-print-directory", "verify"], cwd=folder).returncode:
        faults.append("make verify failed")
    for fault in faults:
        say(f"FAILED: {fault}")
    return bool(faults)


if __name__ == "__main__":
    if len(sys.argv) != 2 or Path(sys.argv[1]).exists():
        print("befrl: name one new folder, such as build/kill-test", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(Path(sys.argv[1]).resolve()))
