"""The committed page of speeds is that of its two committed tables."""

from befrl.analysis import benchmark
from befrl.common import tidy
from helpers import PROJECT


def test_the_page_of_speeds_is_made_from_its_tables():
    docs = PROJECT / "docs"
    tables = (tidy.read(docs / "speed" / f"{name}.csv", benchmark.COLUMNS) for name in ("before", "after"))
    assert (docs / "speed.md").read_text(encoding="utf-8") == benchmark.page(*tables)
