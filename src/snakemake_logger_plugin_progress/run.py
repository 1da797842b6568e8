"""The state of a run: jobs to do, running, finished and failed, and the time left.

Every method that needs the time takes it as `now`, in seconds.
"""

from dataclasses import dataclass
from statistics import fmean

# The seconds of finished jobs are held against their expectations as if this many more had been as expected.
WEIGHT_OF_EXPECTATION = 10.0


@dataclass(frozen=True)
class Job:
    rule: str
    name: str  # short, for people
    output: str  # its first output file, or its name: the same in every run
    started: float


class Run:
    """expected: {(rule, output): seconds} from earlier runs, here or elsewhere; it may be empty."""

    def __init__(self, counts: dict[str, int], expected=None):
        self.counts = dict(counts)  # rule -> number of jobs
        self.expected = expected or {}
        self.running: dict[int, Job] = {}
        self.seconds = {}  # (rule, output) -> seconds of the finished jobs
        self.failed = []
        self.begun = None
        self._seen = set()

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        return len(self.seconds)

    def start(self, number, job: Job):
        self.begun = job.started if self.begun is None else self.begun
        self.running[number] = job
        self._seen.add((job.rule, job.output))

    def finish(self, number, now):
        job = self.running.pop(number, None)
        if job is not None:
            self.seconds[job.rule, job.output] = now - job.started

    def fail(self, number) -> Job | None:
        """The job that failed, or None if that is known already."""
        job = self.running.pop(number, None)
        if job is not None:
            self.failed.append(job)
        return job

    def time_left(self, now) -> float | None:
        """Seconds until the end; None while jobs of unknown length wait that are more than half of all jobs.

        The seconds of all jobs to come, over the number of jobs that run side by side; at least what the longest
        running job still needs.
        """
        waiting = self._waiting()
        unknown = sum(number for rule, number in waiting.items() if not (self._earlier(rule) or self._own(rule)))
        if self.begun is None or not (self.seconds or self.expected) or 2 * unknown > self.total:
            return None
        still = [max(0.0, self._expectation(job.rule, job.output) - now + job.started) for job in self.running.values()]
        to_come = sum(number * self._expectation(rule) for rule, number in waiting.items() if number)
        return max([(sum(still) + to_come) / self._side_by_side(now), *still])

    def _waiting(self) -> dict[str, int]:
        """The number of jobs of each rule that have not started."""
        seen = [rule for rule, _ in self._seen]
        return {rule: max(0, number - seen.count(rule)) for rule, number in self.counts.items()}

    def _side_by_side(self, now):
        """The mean number of jobs that ran at once so far, or, if that is more, the number that run now."""
        elapsed = now - self.begun
        busy = sum(self.seconds.values()) + sum(now - job.started for job in self.running.values())
        return max(1.0, len(self.running), busy / elapsed if elapsed > 0 else 0.0)

    def _expectation(self, rule, output=None):
        """Seconds of a job, or, without output, of a job of the rule that has not started.

        From earlier runs, in proportion to how this run compares with them; else from finished jobs of the same rule;
        else from all finished jobs.
        """
        if (rule, output) in self.expected:
            return self._pace() * self.expected[rule, output]
        if earlier := self._earlier(rule):
            return self._pace() * fmean(earlier)
        if self.seconds:
            return fmean(self._own(rule) or self.seconds.values())
        return self._pace() * fmean(self.expected.values())

    def _earlier(self, rule):
        """Seconds of earlier runs of those jobs of the rule that have not started now."""
        return [seconds for key, seconds in self.expected.items() if key[0] == rule and key not in self._seen]

    def _own(self, rule):
        return [seconds for key, seconds in self.seconds.items() if key[0] == rule]

    def _pace(self):
        """How long jobs take here, as a multiple of what was expected."""
        known = [key for key in self.seconds if key in self.expected]
        taken, expected = (sum(table[key] for key in known) for table in (self.seconds, self.expected))
        return (taken + WEIGHT_OF_EXPECTATION) / (expected + WEIGHT_OF_EXPECTATION)


def in_words(run: Run, now, width=None) -> str:
    """The line that is shown, cut to a width if one is given."""
    elapsed = now - run.begun if run.begun is not None else 0.0
    parts = [f"{run.done}/{run.total} jobs", f"{clock(elapsed)} elapsed"]
    if run.failed:
        # Snakemake only waits for the jobs that run.
        parts.insert(1, f"{len(run.failed)} FAILED")
    else:
        left = run.time_left(now)
        parts.append("time left not known yet" if left is None else f"about {clock(left)} left")
    if run.running:
        parts.append("now " + ", ".join(job.name for job in run.running.values()))
    line = " | ".join(parts)
    return line if width is None or len(line) <= width else line[: max(0, width - 3)] + "..."


def clock(seconds) -> str:
    """A duration as 0:07, 12:34 or 1:02:03."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
