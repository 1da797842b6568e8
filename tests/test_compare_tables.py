"""The comparison of tables with their references: what counts as drift and what does not."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from befrl.analysis import components

ROOT = Path(__file__).resolve().parents[1]
TOOL = ROOT / "tools" / "compare_tables.py"
REFERENCE = ROOT / "tests" / "reference" / "smoke"
TABLE = """name,value,size,share
a,1.5,0.25,
b,-2000000,0.5,0.1
c,0,0.75,True
"""


@pytest.fixture
def compare(monkeypatch, capsys):
    """Calls it: compare(made, reference) -> (exit code, lines)."""
    monkeypatch.syspath_prepend(TOOL.parent)
    main = importlib.import_module(TOOL.stem).main

    def call(made, reference):
        with pytest.raises(SystemExit) as end:
            main(made, reference)
        printed = capsys.readouterr().out.splitlines()
        # `sys.exit` takes a number, a truth value or a sentence.
        return (1, [end.value.code]) if isinstance(end.value.code, str) else (int(end.value.code), printed)

    return call


@pytest.fixture
def folders(tmp_path):
    """Two folders with the same table, below the same folder."""
    for name in ("made", "reference"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner" / "table.csv").write_text(TABLE)
    return tmp_path / "made", tmp_path / "reference"


@pytest.fixture
def changed(compare, folders):
    """Compares again after some text was replaced in the table that was made."""

    def call(old, new):
        path = folders[0] / "inner" / "table.csv"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        return compare(*folders)

    return call


def test_the_same_tables_do_not_drift(compare, folders):
    assert compare(*folders) == (0, [f"1 tables compared with {folders[1]}, 1 the same to the byte: no drift"])


def test_the_command_has_that_exit_code(folders):
    made, reference = folders
    for content, code in ((TABLE, 0), (TABLE.replace("1.5", "2.5"), 1)):
        (made / "inner" / "table.csv").write_text(content)
        assert subprocess.run([sys.executable, TOOL, made, reference], stdout=subprocess.DEVNULL).returncode == code


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1.5", "1.5000001"),
        ("-2000000", "-2000001"),
        ("c,0", "c,1e-10"),
    ],
    ids=["a digit", "a large number", "nearly zero"],
)
def test_what_is_no_drift(changed, old, new):
    code, _ = changed(old, new)
    assert code == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("1.5", "1.50001", "value in row 1 (a): 1.50001, the reference has 1.5"),
        ("c,0", "c,1e-5", "value in row 3 (c True): 1e-05, the reference has 0"),
        ("1.5", "", "value in row 1 (a): nan, the reference has 1.5"),
        ("b,-2", "B,-2", "name in row 2 (b 0.1): B, the reference has b"),
        ("0.25,", "0.25,x", "share in row 1 (a): x, the reference has nan"),
        ("size,share", "width,share", "'width'"),
        ("a,1.5,0.25,\n", "", "2 rows of"),
    ],
    ids=["a number", "no zero", "no number", "a name", "no name", "a column", "a row"],
)
def test_what_is_drift(changed, old, new, words):
    code, lines = changed(old, new)
    assert code == 1
    assert len(lines) == 2 and words in lines[0] and lines[0].startswith("inner/table.csv: ")
    assert lines[1].endswith("DRIFT")


def test_a_table_that_was_not_made_is_drift_and_one_without_reference_is_none(compare, folders):
    made, reference = folders
    (made / "more.csv").write_text(TABLE)
    assert compare(made, reference)[0] == 0
    (made / "inner" / "table.csv").unlink()
    assert compare(made, reference) == (
        1,
        ["inner/table.csv: not made", f"1 tables compared with {reference}, 0 the same to the byte: DRIFT"],
    )


def test_no_references_at_all_is_a_mistake(compare, folders, tmp_path):
    (tmp_path / "empty").mkdir()
    code, lines = compare(folders[0], tmp_path / "empty")
    assert code == 1 and "no reference tables" in lines[0]


def test_the_references_do_not_drift_from_themselves_and_are_of_every_stage(compare):
    code, lines = compare(REFERENCE, REFERENCE)
    count = len(list(REFERENCE.rglob("*.csv")))
    assert (code, lines) == (0, [f"{count} tables compared with {REFERENCE}, {count} the same to the byte: no drift"])
    names = {path.relative_to(REFERENCE).parts[0] for path in REFERENCE.rglob("*.csv")}
    tables = {"coverage.csv", "instances.csv", "table1.csv", "columns.csv"}
    assert names == {"regret", "components", "published"} | tables
    studies = {path.parents[1].name for path in (REFERENCE / "components").rglob("*.csv")}
    assert studies == set(components.registry.names())
