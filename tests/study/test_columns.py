"""The columns of all tables: every committed table opens with plain pandas, and the list of columns explains it."""

import re

import pandas as pd
import pytest

from befrl import cli
from befrl.common import tidy
from befrl.common.errors import InputError
from befrl.study import columns
from helpers import PROJECT

FOLDERS = ("results/reference", "results/full", "tests/reference/smoke")


def explained(name):
    """The tables whose path with wildcards matches a name."""
    return [table for table in columns.tables() if re.fullmatch(re.sub(r"{\w+}", "[^/]+", table.path), name)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_committed_tables_open_with_plain_pandas_and_are_explained(folder):
    paths = sorted((PROJECT / folder).rglob("*.csv"))
    assert len(paths) > 10
    for path in paths:
        (table,) = explained(f"results/{path.relative_to(PROJECT / folder).as_posix()}")
        assert list(pd.read_csv(path).columns) == list(table.columns), path


def test_every_column_has_a_meaning_and_every_table_an_own_path_and_verb():
    tables = columns.tables()
    assert len({table.path for table in tables}) == len(tables)
    for table in tables:
        assert all(len(meaning) > 5 for meaning in table.columns.values())
        assert table.made_by.split()[1] in cli.verbs.registry.names()


def test_a_table_is_found_by_its_columns():
    for table in columns.tables():
        assert columns.of(table.columns).columns == table.columns
    with pytest.raises(InputError, match="no table of befrl has the columns a, b"):
        columns.of(["a", "b"])


def test_the_list_explains_itself(tmp_path, capsys):
    assert cli.main(["columns", "--out", str(tmp_path / "columns.csv")]) == 0
    written = tidy.read(tmp_path / "columns.csv", columns.COLUMNS)
    assert set(written["column"][written["table"] == "results/columns.csv"]) == set(columns.COLUMNS)
    assert cli.main(["columns"]) == 0
    assert capsys.readouterr().out == (tmp_path / "columns.csv").read_text()
