"""A logger plugin of Snakemake that shows a run in one line: `snakemake --logger progress`.

The line has the jobs done, the time left and the running jobs. Warnings, errors and the last lines of a failed job's
log are printed above it. All other lines of Snakemake go to its log file below `.snakemake/log/` alone. The output of a
dry run is Snakemake's own.

Snakemake finds logger plugins by the name of their package, which is why this one is not a part of befrl.
"""

from snakemake_logger_plugin_progress.handler import LogHandler, LogHandlerSettings

__all__ = ["LogHandler", "LogHandlerSettings"]
