"""The committed page of speeds is that of its two committed tables."""

from befrl.analysis import benchmark
from befrl.common import tidy
from helpers import PROJECT

DOCS = PROJECT / "docs"
TABLES = [DOCS / "speed" / f"{name}.csv" for name in ("before", "after")]


def test_the_page_of_speeds_is_made_from_its_tables():
    page = benchmark.page(*(tidy.read(path, benchmark.COLUMNS) for path in TABLES))
    assert (DOCS / "speed.md").read_text(encoding="utf-8") == page
