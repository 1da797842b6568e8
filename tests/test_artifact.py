"""ARTIFACT.md has the values of the committed tables, and `make artifact-check` finds what differs from them."""

import shutil
import subprocess
from types import SimpleNamespace

import pytest

import artifact


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A folder of results like the reference, and the files that Snakemake is asked for."""
    asked = []
    monkeypatch.setattr(artifact, "RESULTS", tmp_path)
    monkeypatch.setattr(subprocess, "run", lambda words, **_: asked.extend(words) or SimpleNamespace(returncode=0))
    for row in artifact.rows():
        (tmp_path / row["table"]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(artifact.REFERENCE / row["table"], tmp_path / row["table"])
    return tmp_path, asked


def test_page_is_that_of_the_committed_tables():
    page = artifact.PAGE.read_text()
    assert [block[1] for block in artifact.BLOCK.finditer(page)] == ["costs", "claims"]
    assert artifact.page(artifact.BLOCK.sub(lambda block: f"<!-- {block[1]} -->\n<!-- end -->", page)) == page


def test_check_makes_the_short_rows_and_finds_what_differs(made, capsys):
    folder, asked = made
    assert artifact.main(["check"]) == 0
    assert "results/claims.csv" in asked and "results/regret/chain-8_U/summary.csv" not in asked
    ledger = folder / "claims.csv"
    ledger.write_text(ledger.read_text().replace(",fails,", ",holds,"))
    assert artifact.main(["check", "3", "12"]) == 1
    assert "row 3: holds, expected fails: DIFFERS" in capsys.readouterr().out


def test_rows_of_other_numbers_are_rejected(capsys):
    assert artifact.check(["3", "13"]) == 2
    assert capsys.readouterr().err == "ROWS=13 is not allowed: choose from 1 to 12\n"


@pytest.mark.parametrize("words", [[], ["updat"], ["update", "3"]])
def test_nothing_is_overwritten_unless_it_is_asked_for(words, monkeypatch):
    monkeypatch.setattr(artifact, "measure", lambda: pytest.fail("the costs are measured"))
    with pytest.raises(SystemExit) as end:
        artifact.main(words)
    assert end.value.code == 2
