"""befrl from Python: instances, runs, comparisons and files. Users import it as `befrl` (docs/python.md)."""

from befrl.api.comparison import Comparison, compare
from befrl.api.files import read
from befrl.api.given import instance
from befrl.api.runs import Runs, run
from befrl.common.errors import InputError

__all__ = ["Comparison", "InputError", "Runs", "compare", "instance", "read", "run"]
