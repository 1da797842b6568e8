"""A logger plugin of Snakemake that shows a run in one line: `snakemake --logger progress`.

The line has the jobs done, the time left and the jobs that run now. What a person must see at once is printed above it:
warnings, errors, and the last lines of a failed job's own log. Snakemake's lines for each job go to its log file below
`.snakemake/log/` alone. A dry run prints what Snakemake prints without the plugin.

Snakemake finds logger plugins by the name of their package, which is why this one is not a part of befrl.
"""

from snakemake_logger_plugin_progress.handler import LogHandler, LogHandlerSettings

__all__ = ["LogHandler", "LogHandlerSettings"]
