"""README has what the committed tables have."""

import re

from befrl.analysis import findings
from befrl.claims import ledger
from befrl.common import tidy
from befrl.common.layout import Layout
from helpers import PROJECT

README = (PROJECT / "README.md").read_text()


def block(pattern):
    """The matched parts of the comment with the command that made a block of README, and the block."""
    return re.search(rf"<!-- {pattern} -->\n(.*?)<!-- end -->", README, re.DOTALL).groups()


def test_tables_are_those_of_the_reference():
    folder, names, tables = block(r"befrl findings [^>]*?--results (\S+) [^>]*?--cases ([^>]+?)")
    cases = [tuple(case.rsplit("_", 1)) for case in names.split()]
    assert tables.strip() == findings.markdown(Layout(results=PROJECT / folder), cases).strip()


def test_verdicts_and_errata_are_those_of_the_reference():
    folder, counted = block(r"befrl findings --ledger --results (\S+)")
    table = (
        tidy.read(Layout(results=PROJECT / folder).ledger(), ledger.COLUMNS)
        .astype(object)
        .fillna("")
        .to_dict("records")
    )
    assert counted.strip() == f"{ledger.headline(table)}\n\n{ledger.counts(table)}"
    letter = (PROJECT / "docs/errata.md").read_text()
    assert ledger.headline(table) in letter
    listed = re.findall(r"^### \[(\w+)\]", letter, re.MULTILINE)
    wanted = ("fails", "hypothesis", "constant", "open")
    assert sorted(listed) == sorted(row["id"] for row in table if row["kind"] == "claim" and row["verdict"] in wanted)


def test_files_and_targets_that_it_names_exist():
    for path in re.findall(r"\]\(((?:figures|docs|results)/[^)]+)\)", README):
        assert (PROJECT / path).exists(), path
    targets = re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"`make ([a-z-]+)`", README)) <= set(targets)
