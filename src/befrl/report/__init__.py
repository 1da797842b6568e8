"""The report: everything that the workflow made, on one page that opens offline.

`build` lays out what it is given: it reads no results from files and computes none. A new figure, claim,
instance or agent appears by itself.
"""

from befrl.report.builder import build

__all__ = ["build"]
