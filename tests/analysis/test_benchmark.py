"""The committed page of speeds is that of its committed table."""

from befrl.analysis import benchmark
from befrl.common import tidy
from helpers import PROJECT


def test_the_page_of_speeds_is_made_from_its_table():
    table = tidy.read(PROJECT / "docs/speed.csv", benchmark.COLUMNS)
    assert (PROJECT / "docs/speed.md").read_text(encoding="utf-8") == benchmark.page(table)
