"""README and docs/findings.md have what the committed tables have."""

import re

from befrl.claims import ledger
from befrl.cli.verbs import findings
from befrl.common import tidy
from befrl.common.layout import Layout
from helpers import PROJECT

README = (PROJECT / "README.md").read_text()
FINDINGS = (PROJECT / "docs/findings.md").read_text()
REPAIR = (PROJECT / "docs/repair.md").read_text()
AGENTS = (PROJECT / "docs/agents.md").read_text()
GALLERY = (PROJECT / "docs/gallery.md").read_text()


def verdicts(folder):
    table = tidy.read(Layout(results=PROJECT / folder).ledger(), ledger.COLUMNS)
    return table.astype(object).fillna("").to_dict("records")


def test_printed_blocks_are_those_of_the_committed_tables(monkeypatch):
    """A page is what `befrl findings --update` makes of it, also if the numbers of its blocks are changed."""
    monkeypatch.chdir(PROJECT)
    for page, count in ((README, 1), (FINDINGS, 6), (AGENTS, 1), (GALLERY, 1)):
        assert len(findings.BLOCK.findall(page)) == count
        assert findings.updated(page) == page
    stale = findings.BLOCK.sub(
        lambda block: f"<!-- befrl findings {block[1]} -->\n1.0 [2.0, 3.0]\n<!-- end -->", FINDINGS
    )
    assert stale != FINDINGS and findings.updated(stale) == FINDINGS


def test_the_gallery_has_every_committed_figure_of_the_reference():
    reference = PROJECT / "results/reference/figures"
    names = sorted(path.stem for path in reference.glob("*.json"))
    assert sorted(re.findall(r"\]\(\.\./figures/([\w-]+)\.png\)", GALLERY)) == names
    assert all((PROJECT / "figures" / f"{name}.{ending}").exists() for name in names for ending in ("png", "svg"))
    assert not re.search(r"!\[\]", GALLERY)


def test_intervals_are_in_printed_blocks_only():
    for page in (README, FINDINGS, REPAIR):
        assert re.search(r"\d \[\d", findings.BLOCK.sub("", page)) is None


def test_the_letter_has_the_verdicts_of_the_reference():
    table = verdicts("results/reference")
    letter = (PROJECT / "docs/errata.md").read_text()
    assert ledger.headline(table) in letter
    listed = re.findall(r"^### \[(\w+)\]", letter, re.MULTILINE)
    wanted = ("fails", "hypothesis", "constant", "open")
    assert sorted(listed) == sorted(row["id"] for row in table if row["kind"] == "claim" and row["verdict"] in wanted)


def test_files_and_targets_that_it_names_exist():
    for page in (*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md"), *PROJECT.glob("docs/claims/[CRS]*.md")):
        for path in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / path).exists(), f"{page}: {path}"
    targets = re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"`make ([a-z-]+)`", README + FINDINGS)) <= set(targets)
