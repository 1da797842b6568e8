"""Print what the jobs of a study took, by kind, from their logs: python tools/cluster/usage.py results/logs

The largest seconds and megabytes say what to request from a cluster (`jobs.runtime`, `jobs.mem_mb`), the sum of the
processor's seconds what the study costs. Jobs that failed or were killed left no such line in their log: they are not
counted.
"""

import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from befrl.common import usage

HEAD = ("kind", "jobs", "median s", "largest s", "processor s", "largest MB")


def by_kind(folder):
    """The usages of the jobs below a folder, by the folder that their logs are in."""
    found = defaultdict(list)
    for log in sorted(Path(folder).rglob("*.log")):
        used = usage.read(log)
        if used:
            found[log.relative_to(folder).parts[0].removesuffix(".log")].append(used)
    return found


def row(kind, jobs):
    seconds, processor, memory = ([job[key] for job in jobs] for key in ("seconds", "processor", "megabytes"))
    numbers = f"{median(seconds):.1f}", f"{max(seconds):.1f}", f"{sum(processor):.0f}", f"{max(memory):.0f}"
    return kind, str(len(jobs)), *numbers


def refuse(message):
    print(f"befrl: {message}", file=sys.stderr)
    sys.exit(2)


def main(folder):
    found = by_kind(folder)
    if not found:
        refuse(f"no log below {folder} says what its job used: name the folder of a study's logs")
    everything = [job for jobs in found.values() for job in jobs]
    print("| " + " | ".join(HEAD) + " |\n" + "|---" * len(HEAD) + "|")
    for kind, jobs in [*sorted(found.items()), ("all", everything)]:
        print("| " + " | ".join(row(kind, jobs)) + " |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        refuse("name one folder of logs, such as results/logs")
    main(sys.argv[1])
