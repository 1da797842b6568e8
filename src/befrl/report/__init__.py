"""The report: all results of a study on one page that opens offline. New figures and claims need no change here."""

from befrl.report.builder import build

__all__ = ["build"]
