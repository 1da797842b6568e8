"""The columns of all tables: every committed table opens with plain pandas, and the list of columns explains it."""

import re

import pandas as pd
import pytest

from befrl import cli, jobs
from befrl.common.errors import InputError
from befrl.study import columns
from helpers import PROJECT


@pytest.mark.parametrize("folder", ["results/reference", "results/full", "tests/reference/smoke"])
def test_committed_tables_open_with_plain_pandas_and_are_explained(folder):
    patterns = {re.compile(re.sub(r"{\w+}", "[^/]+", table.path)): table for table in columns.tables()}
    paths = sorted((PROJECT / folder).rglob("*.csv"))
    assert len(paths) > 4
    for path in paths:
        name = f"results/{path.relative_to(PROJECT / folder).as_posix()}"
        (table,) = [table for pattern, table in patterns.items() if pattern.fullmatch(name)]
        assert list(pd.read_csv(path).columns) == list(table.columns), path


def test_every_table_has_a_path_of_its_own_a_command_and_meanings():
    tables = columns.tables()
    assert len({table.path for table in tables}) == len(tables)
    for table in tables:
        assert all(len(meaning) > 5 for meaning in table.columns.values())
        words = [*table.made_by.split(), "--study", "study.json"] if " job " in table.made_by else table.made_by.split()
        args = cli.build_parser().parse_args(words[1:])
        assert args.verb == "bench" or args.kind in jobs.registry.names()
    assert {row["column"] for row in columns.rows() if row["table"] == "results/columns.csv"} == set(columns.COLUMNS)


def test_meanings_are_those_that_are_committed():
    """Two meanings that are swapped are still meanings: a change must be seen in the reference, too."""
    committed = pd.read_csv(PROJECT / "tests/reference/smoke/columns.csv")[["table", "column", "meaning"]]
    assert [tuple(row) for row in committed.to_numpy()] == [
        (row["table"], row["column"], row["meaning"]) for row in columns.rows()
    ]


def test_table_is_found_by_its_columns():
    for table in columns.tables():
        assert columns.of(table.columns).columns == table.columns
    with pytest.raises(InputError, match="no table of befrl has the columns a, b"):
        columns.of(["a", "b"])
