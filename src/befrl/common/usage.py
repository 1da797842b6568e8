"""The last line in the log of a workflow's job: its seconds and memory, from which requests to a cluster are sized.

The workflow sets the environment variable for its jobs; other commands print no such line.
"""

import os
import re
import resource
import sys
import time
from contextlib import suppress
from pathlib import Path

NAME = "BEFRL_USAGE"
# A megabyte, as clusters count it, in the units of getrusage: kilobytes, on macOS bytes.
MEGABYTE = 2**20 if sys.platform == "darwin" else 2**10
LINE = re.compile(
    r"^usage: (?P<seconds>[\d.]+) s, of a processor (?P<processor>[\d.]+) s, (?P<megabytes>\d+) MB$", re.MULTILINE
)


def wanted() -> bool:
    return bool(os.environ.get(NAME))


def want():
    """Make the commands that this process starts print their usage."""
    os.environ[NAME] = "1"


def peak() -> float:
    """The largest memory of this process so far, in MB."""
    # A process that replaces another one inherits the ru_maxrss of its predecessor, but not its VmHWM.
    return _of_process(Path("/proc/self"))[1] or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE


def line(begun: float) -> str:
    """The usage of this process and of its parallel workers; `begun` is its start on the monotonic clock."""
    own, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    processor = sum(usage.ru_utime + usage.ru_stime for usage in (own, ended))
    megabytes = peak()
    for worker in _workers():
        seconds, memory = _of_process(worker)
        processor, megabytes = processor + seconds, megabytes + memory
    return f"usage: {time.monotonic() - begun:.2f} s, of a processor {processor:.2f} s, {megabytes:.0f} MB"


def _workers() -> list[Path]:
    """The folders in /proc of the processes that this one has started and that are alive; none without /proc."""
    found = []
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # the thread has just ended
            found += path.read_text().split()
    return [Path("/proc") / number for number in found]


def _of_process(folder: Path) -> tuple[float, float]:
    """Processor seconds and largest memory of a process; zero if it has just ended, or without /proc."""
    try:
        times = (folder / "stat").read_text().rpartition(")")[2].split()[11:13]
        memory = re.search(r"^VmHWM:\s+(\d+) kB", (folder / "status").read_text(), re.MULTILINE)
    except OSError:
        return 0.0, 0.0
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK"), int(memory[1]) / 2**10 if memory else 0.0


def read(log) -> dict[str, float] | None:
    """The usage in a job's log, in seconds and MB; None if the job did not succeed."""
    found = LINE.findall(Path(log).read_text(errors="replace"))
    return dict(zip(LINE.groupindex, map(float, found[-1]), strict=True)) if found else None
