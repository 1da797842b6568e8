"""From Snakemake's log records to the line on the screen."""

import logging
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from snakemake_logger_plugin_progress import seconds
from snakemake_logger_plugin_progress.run import Job, Run, clock, in_words
from snakemake_logger_plugin_progress.screen import screen, write

MEASURED = Path(".snakemake/seconds")
LAST_LINES = 20
SECONDS_BETWEEN_TICKS = 1.0
# The messages of Snakemake without an event that are shown, besides warnings and errors.
SHOWN = (
    "Building DAG of jobs",
    "Nothing to be done",
    "Terminating processes on user request",
    "Unlocked working directory",
    "Will exit after finishing",
)


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    seconds: str = field(
        default="",
        metadata={
            "help": "Table of the seconds that each job took elsewhere, for the first estimate of the time left. The "
            "seconds measured here are stored below .snakemake/seconds under the same file name, and take precedence."
        },
    )


class LogHandler(LogHandlerBase):
    """Snakemake calls `emit` for every record, from one thread, and `close` at the end."""

    writes_to_stream = True  # so that Snakemake itself writes to its log file alone
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self):
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.screen = screen(self.stream)
        self.run: Run | None = None
        self.given = Path(self.settings.seconds) if self.settings and self.settings.seconds else None
        self.log_file = ""
        self.said = ""
        self._ended = threading.Event()
        threading.Thread(target=self._tick, daemon=True).start()

    def emit(self, record):
        try:
            if self.common_settings.dryrun:
                write(self.stream, f"{self.format(record)}\n")
            else:
                self._take(record)
        except Exception:
            self.handleError(record)

    def close(self):
        if not self._ended.is_set():
            self._ended.set()
            with self.lock:
                self._end()
        super().close()

    def _take(self, record):
        event, now = getattr(record, "event", None), record.created
        if event == LogEvent.RUN_INFO:
            counts = {rule: int(number) for rule, number in record.stats.items() if rule != "total"}
            self.run = Run(counts, self._expected())
            self.screen.say(f"{self.run.total} jobs; Snakemake's own lines go to .snakemake/log/")
        elif event == LogEvent.JOB_INFO and self.run:
            name = " ".join([record.rule_name, *map(str, dict(record.wildcards).values())])
            output = str(record.output[0]) if record.output else name
            self.run.start(record.jobid, Job(record.rule_name, name, output, now))
            self._show(now)
        elif event == LogEvent.JOB_FINISHED and self.run:
            self.run.finish(record.job_id, now)
            self._show(now)
        elif event == LogEvent.JOB_ERROR:
            # Snakemake logs every failure a second time at the end.
            job = self.run.fail(record.jobid) if self.run else None
            if job:
                self.screen.say(failure(job.name, record.log, record.shellcmd))
                self._show(now)
        elif getattr(record, "exception", None) == "RuleException" and self.run and self.run.running:
            pass  # a failed job's command; the JOB_ERROR follows
        elif record.levelno >= logging.WARNING or (event is None and str(record.msg).startswith(SHOWN)):
            text, before = self.format(record), self.said
            self.said = text
            if text != before:  # Snakemake repeats some while it waits
                self.screen.say(text)
        elif event is None and str(record.msg).startswith("Complete log"):
            self.log_file = str(record.msg).partition(": ")[2]

    def _expected(self):
        return seconds.read(self.given) | seconds.read(MEASURED / self.given.name) if self.given else {}

    def _show(self, now):
        share = self.run.done / self.run.total if self.run.total else 1.0
        self.screen.show(lambda width: in_words(self.run, now, width), share, now)

    def _tick(self):
        """Let the clocks of the line move while no record comes."""
        while not self._ended.wait(SECONDS_BETWEEN_TICKS):
            with self.lock:
                if self.run and self.run.running and not self._ended.is_set():
                    self._show(time.time())

    def _end(self):
        """Print the last line, and store the seconds of the finished jobs for the next run."""
        run = self.run
        if run is None or run.begun is None:
            return
        elapsed = clock(time.time() - run.begun)
        if run.done == run.total:
            self.screen.say(f"{run.total} jobs done in {elapsed}")
        else:
            failed = f"; FAILED: {', '.join(job.name for job in run.failed)}" if run.failed else ""
            log = f"; Snakemake's log: {self.log_file}" if self.log_file else ""
            self.screen.say(f"stopped after {run.done} of {run.total} jobs in {elapsed}{failed}{log}")
        if self.given and run.seconds and MEASURED.parent.is_dir():
            measured = MEASURED / self.given.name
            seconds.write(measured, seconds.read(measured) | run.seconds)


def failure(name, logs, command) -> str:
    """What is shown of a job that failed: the last lines of its own log, or its command if it has none."""
    text = [f"FAILED: {name}"]
    for path in logs:
        try:
            lines = deque(Path(path).read_text(errors="replace").splitlines(), maxlen=LAST_LINES)
        except OSError:
            lines = []
        text += [f"  the last lines of {path}:" if lines else f"  {path} is empty", *(f"    {line}" for line in lines)]
    if not logs and command:
        text.append(f"  it has no log; its command was: {command.strip()}")
    return "\n".join(text)
