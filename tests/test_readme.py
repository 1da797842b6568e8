"""README says what the committed tables say."""

import re

import pytest

from befrl.analysis import findings
from befrl.claims.toolbox import ledger
from befrl.common import tidy
from befrl.common.layout import Layout
from helpers import PROJECT

README = (PROJECT / "README.md").read_text()


def block():
    """The command that made the tables of README, and the tables."""
    found = re.search(r"<!-- (befrl findings .*?) -->\n(.*?)<!-- end -->", README, re.DOTALL)
    return found.group(1), found.group(2)


def test_the_tables_are_those_of_the_reference():
    command, tables = block()
    folder = re.search(r"--results (\S+)", command).group(1)
    cases = [tuple(case.rsplit("_", 1)) for case in command.split("--cases ")[1].split()]
    assert tables.strip() == findings.markdown(Layout(results=PROJECT / folder), cases).strip()


def test_the_counted_verdicts_are_those_of_the_reference():
    table, counted = re.search(r"<!-- befrl ledger --counts (\S+) -->\n(.*?)<!-- end -->", README, re.DOTALL).groups()
    assert counted.strip() == ledger.counts(tidy.read(PROJECT / table, ledger.COLUMNS))


def test_the_errata_are_those_of_the_reference():
    listed = re.findall(r"^## \d+\. (\w+):", (PROJECT / "docs/errata.md").read_text(), re.MULTILINE)
    table = tidy.read(PROJECT / "results/reference/claims.csv", ledger.COLUMNS)
    assert listed == list(table["id"][table["verdict"].isin(["corrected", "fails", "open"])])


@pytest.mark.parametrize("path", re.findall(r"\]\(((?:figures|docs|results)/[^)]+)\)", README))
def test_what_it_shows_is_there(path):
    assert (PROJECT / path).exists()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`make ([a-z-]+)`", README))))
def test_every_target_that_it_names_exists(name):
    assert re.search(rf"^{name}:", (PROJECT / "Makefile").read_text(), re.MULTILINE)
