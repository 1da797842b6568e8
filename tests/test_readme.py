"""README and docs/findings.md have what the committed tables have."""

import re

from befrl.analysis import findings
from befrl.claims import ledger
from befrl.common import tidy
from befrl.common.layout import Layout
from helpers import PROJECT

README = (PROJECT / "README.md").read_text()
FINDINGS = (PROJECT / "docs/findings.md").read_text()


def block(pattern, page=FINDINGS):
    """The matched parts of the comment with the command that made a block of a page, and the block."""
    return re.search(rf"<!-- {pattern} -->\n(.*?)<!-- end -->", page, re.DOTALL).groups()


def verdicts(folder):
    table = tidy.read(Layout(results=PROJECT / folder).ledger(), ledger.COLUMNS)
    return table.astype(object).fillna("").to_dict("records")


def test_tables_are_those_of_the_reference():
    folder, names, tables = block(r"befrl findings [^>]*?--results (\S+) [^>]*?--cases ([^>]+?)")
    cases = [tuple(case.rsplit("_", 1)) for case in names.split()]
    layout = Layout(results=PROJECT / folder)
    assert tables.strip() == findings.markdown(layout, cases).strip()
    folder, names, said = block(r"befrl findings --results (\S+) --answers ([^>]+?)", README)
    assert said == findings.answers(Layout(results=PROJECT / folder), cases, ledger.headline(verdicts(folder)))


def test_verdicts_and_errata_are_those_of_the_reference():
    folder, counted = block(r"befrl findings --ledger --results (\S+)")
    table = verdicts(folder)
    assert counted.strip() == ledger.summary(table)
    letter = (PROJECT / "docs/errata.md").read_text()
    assert ledger.headline(table) in letter
    listed = re.findall(r"^### \[(\w+)\]", letter, re.MULTILINE)
    wanted = ("fails", "hypothesis", "constant", "open")
    assert sorted(listed) == sorted(row["id"] for row in table if row["kind"] == "claim" and row["verdict"] in wanted)


def test_files_and_targets_that_it_names_exist():
    for folder, page in ((PROJECT, README), (PROJECT / "docs", FINDINGS)):
        for path in re.findall(r"\]\(([^)#:]+)\)", page):
            assert (folder / path).exists(), path
    targets = re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"`make ([a-z-]+)`", README + FINDINGS)) <= set(targets)
