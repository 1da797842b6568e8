"""The logger plugin: from Snakemake's records to the line on the screen."""

import logging
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from snakemake_logger_plugin_progress.run import Job, Run, clock, line, read_seconds, write_seconds
from snakemake_logger_plugin_progress.screen import Screen

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
        self.screen = Screen(sys.stdout if self.common_settings.stdout else sys.stderr)
        self.run: Run | None = None
        self.given = Path(self.settings.seconds) if self.settings and self.settings.seconds else None
        self.log_file = self.said = ""
        self._ended = threading.Event()
        threading.Thread(target=self._tick, daemon=True).start()

    def emit(self, record):
        try:
            if self.common_settings.dryrun:
                self.screen.write(f"{self.format(record)}\n")
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
        event, now, run = getattr(record, "event", None), record.created, self.run
        if event == LogEvent.RUN_INFO:
            counts = {rule: int(number) for rule, number in record.stats.items() if rule != "total"}
            given = self.given
            self.run = Run(counts, read_seconds(given) | read_seconds(MEASURED / given.name) if given else {})
            self.screen.say(f"{self.run.total} jobs; Snakemake's own lines go to .snakemake/log/")
        elif event == LogEvent.JOB_INFO and run:
            name = " ".join([record.rule_name, *map(str, dict(record.wildcards).values())])
            output = str(record.output[0]) if record.output else name
            run.start(record.jobid, Job(record.rule_name, name, output, now))
            self._show(now)
        elif event == LogEvent.JOB_FINISHED and run:
            run.finish(record.job_id, now)
            self._show(now)
        elif event == LogEvent.JOB_ERROR:
            # Snakemake logs every failure a second time at the end.
            if run and (job := run.fail(record.jobid)):
                self.screen.say(failure(job.name, record.log, record.shellcmd))
                self._show(now)
        elif getattr(record, "exception", None) == "RuleException" and run and run.running:
            pass  # the command of a failed job; the JOB_ERROR follows
        elif record.levelno >= logging.WARNING or (event is None and str(record.msg).startswith(SHOWN)):
            before, self.said = self.said, self.format(record)
            if self.said != before:  # Snakemake repeats some while it waits
                self.screen.say(self.said)
        elif event is None and str(record.msg).startswith("Complete log"):
            self.log_file = str(record.msg).partition(": ")[2]

    def _show(self, now):
        share = self.run.done / self.run.total if self.run.total else 1.0
        self.screen.show(lambda width: line(self.run, now, width), share, now)

    def _tick(self):
        """Update the clocks of the line while no record comes."""
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
            write_seconds(measured, read_seconds(measured) | run.seconds)


def failure(name, logs, command) -> str:
    """What is shown of a failed job: the last lines of its log, or its command if it has none."""
    text = [f"FAILED: {name}"]
    for path in map(Path, logs):
        lines = path.read_text(errors="replace").splitlines()[-LAST_LINES:] if path.is_file() else []
        text += [f"  the last lines of {path}:" if lines else f"  {path} is empty", *(f"    {row}" for row in lines)]
    if not logs and command:
        text.append(f"  it has no log; its command was: {command.strip()}")
    return "\n".join(text)
