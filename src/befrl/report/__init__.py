"""The report: all results of a study on one page that opens offline.

`build` lays out its arguments; it reads no files and computes no results. A new figure, claim, instance or agent needs
no change here.
"""

from befrl.report.builder import build

__all__ = ["build"]
