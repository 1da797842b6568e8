"""The state of a run: jobs to do, running, finished and failed, and the time left.

Times are in seconds, and `now` is the current one. A job is identified by its rule and its first output file, which are
the same in every run; tables of seconds are {(rule, output): seconds}.
"""

import csv
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

# Seconds that are added to those measured and to those expected, before their ratio is taken.
PRIOR_SECONDS = 10.0


@dataclass(frozen=True)
class Job:
    rule: str
    name: str  # short, for people
    output: str
    started: float


class Run:
    """counts: {rule: number of jobs}; expected: the seconds of jobs in earlier runs, here or elsewhere."""

    def __init__(self, counts: dict[str, int], expected=None):
        self.counts = counts
        self.total = sum(counts.values())
        self.expected = expected or {}
        self.running: dict[int, Job] = {}
        self.seconds: dict[tuple[str, str], float] = {}  # of the finished jobs
        self.failed: list[Job] = []
        self.begun = None
        self._seen = set()

    @property
    def done(self) -> int:
        return len(self.seconds)

    def start(self, number, job: Job):
        self.begun = job.started if self.begun is None else self.begun
        self.running[number] = job
        self._seen.add((job.rule, job.output))

    def finish(self, number, now):
        if job := self.running.pop(number, None):
            self.seconds[job.rule, job.output] = now - job.started

    def fail(self, number) -> Job | None:
        """The job that failed, or None if its failure is known already."""
        job = self.running.pop(number, None)
        if job:
            self.failed.append(job)
        return job

    def time_left(self, now) -> float | None:
        """Seconds until the end; None while more than half of all jobs wait and have no known length.

        The seconds of all jobs to come, over the number of jobs that run in parallel; at least what the longest running
        job still needs. Seconds of earlier runs are scaled by how this run compares with them. A job without any gets
        the mean of its rule in this run, or of all jobs.
        """
        if self.begun is None or not (self.seconds or self.expected):
            return None
        known = self.seconds.keys() & self.expected.keys()
        taken, expected = (sum(table[key] for key in known) for table in (self.seconds, self.expected))
        pace = (taken + PRIOR_SECONDS) / (expected + PRIOR_SECONDS)
        mean = fmean(self.seconds.values()) if self.seconds else pace * fmean(self.expected.values())
        of_rule = {rule: self._mean(rule, pace) for rule in self.counts}
        started = Counter(rule for rule, _ in self._seen)
        waiting = {rule: max(0, number - started[rule]) for rule, number in self.counts.items()}
        if 2 * sum(number for rule, number in waiting.items() if of_rule[rule] is None) > self.total:
            return None
        still = []
        for job in self.running.values():
            earlier, guess = self.expected.get((job.rule, job.output)), of_rule.get(job.rule)
            length = pace * earlier if earlier is not None else mean if guess is None else guess
            still.append(max(0.0, length - (now - job.started)))
        to_come = sum(number * (mean if of_rule[rule] is None else of_rule[rule]) for rule, number in waiting.items())
        busy = sum(self.seconds.values()) + sum(now - job.started for job in self.running.values())
        parallel = max(1.0, len(self.running), busy / (now - self.begun) if now > self.begun else 0.0)
        return max([(sum(still) + to_come) / parallel, *still])

    def _mean(self, rule, pace):
        """The mean seconds of a rule's jobs that have not started, or None if nothing is known of the rule."""
        earlier = [seconds for key, seconds in self.expected.items() if key[0] == rule and key not in self._seen]
        if earlier:
            return pace * fmean(earlier)
        own = [seconds for key, seconds in self.seconds.items() if key[0] == rule]
        return fmean(own) if own else None


def line(run: Run, now, width=None) -> str:
    """The line that is shown, cut to a width if one is given."""
    parts = [f"{run.done}/{run.total} jobs", f"{clock(now - run.begun if run.begun is not None else 0)} elapsed"]
    if run.failed:  # Snakemake only waits for the running jobs
        parts.insert(1, f"{len(run.failed)} FAILED")
    else:
        left = run.time_left(now)
        parts.append("time left not known yet" if left is None else f"about {clock(left)} left")
    if run.running:
        parts.append("now " + ", ".join(job.name for job in run.running.values()))
    text = " | ".join(parts)
    return text if width is None or len(text) <= width else text[: max(0, width - 3)] + "..."


def clock(seconds) -> str:
    """A duration as 0:07, 12:34 or 1:02:03."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def read_seconds(path) -> dict[tuple[str, str], float]:
    """A table of seconds; empty if it is missing or damaged, since it is used for an estimate alone."""
    try:
        with open(path, newline="") as file:
            return {(row["rule"], row["output"]): float(row["seconds"]) for row in csv.DictReader(file)}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def write_seconds(path, table):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with open(temporary, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("rule", "output", "seconds"))
        rows.writerows((*key, f"{seconds:.1f}") for key, seconds in sorted(table.items()))
    os.replace(temporary, path)
