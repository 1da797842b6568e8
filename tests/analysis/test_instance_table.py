"""The table of a study's instances: numbers from their files, joined with the answer about exploration."""

import pytest

from befrl import instances
from befrl.analysis import components, instance_table
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.common.layout import Layout
from helpers import instance


@pytest.fixture
def layout(tmp_path):
    """Two instances, of which the first has an exploration table."""
    layout = Layout(tmp_path)
    for name, made in (("walk", instance("chain", bins=3, horizon=4)), ("swim", instance("riverswim"))):
        instances.save(layout.instance(name), name, made, {})
    ends = {"instance": "walk", "episodes": 30, "seeds": 4, "low": 1.0, "high": 2.0}
    rows = [
        {"role": "greedy", "agent": "greedy", "mean": 8.0},
        {"role": "best", "agent": "bef-rlsvi", "parameter": "x", "value": 0.3, "mean": 3.5},
        {"role": "random", "agent": "random", "mean": 60.0},
        {"role": "difference", "agent": "bef-rlsvi", "parameter": "x", "value": 0.3, "mean": 4.5},
    ]
    table = tidy.text([ends | row for row in rows], components.tables("exploration")["points"])
    storage.write_text(layout.component("exploration", "points", "walk"), table)
    return layout


@pytest.fixture
def table(layout):
    rows = instance_table.rows(layout, {"walk": 30, "swim": None}, ["walk"])
    storage.write_text(layout.instances(), tidy.text(rows, instance_table.COLUMNS))
    return tidy.read(layout.instances(), instance_table.COLUMNS).set_index("name")


def test_numbers_are_those_of_the_instances_and_the_answer_is_joined_where_there_is_one(table):
    assert (list(table.index), ["name", *table.columns]) == (["walk", "swim"], list(instance_table.COLUMNS))
    for name, made in (("walk", instance("chain", bins=3, horizon=4)), ("swim", instance("riverswim"))):
        row = table.loc[name]
        assert (row["family"], row["horizon"], row["d"]) == (made.family_name, made.horizon, made.model.d)
        assert (row["n_cells"], row["n_actions"]) == made.R.shape
        for key in ("optimal_value", "uniform_value", "gap", *instance_table.CONSTANTS):
            value = made.constants[key] if key in instance_table.CONSTANTS else getattr(made, key)
            assert row[key] == pytest.approx(value, rel=1e-9)
        assert row["uniform_value"] < row["optimal_value"]
    assert table.loc["walk", list(instance_table.ANSWER)].to_dict() == {
        "episodes": 30, "seeds": 4, "random": 60.0, "greedy": 8.0, "best": 3.5,
        "best_agent": "bef-rlsvi, x = 0.3", "low": 1.0, "high": 2.0, "matters": True,
    }  # fmt: skip
    assert table.loc["swim", list(instance_table.ANSWER)].isna().all()
    assert table.loc["walk", "longest"] == 30 and table["longest"].isna()["swim"]
    assert table.loc["swim", [*instance_table.CONSTANTS, "gap"]].notna().all()


def test_missing_and_damaged_files_are_named(layout):
    """Whether there is an answer is for the study to say, not for the files that happen to lie there."""
    for names, explored, missing in ((["swim"], ["swim"], "swim/points.csv"), (["walk", "ring"], ["walk"], "ring.npz")):
        with pytest.raises(InputError, match=f"{missing}: there is no such file"):
            instance_table.rows(layout, dict.fromkeys(names), explored)
    assert "matters" not in instance_table.rows(layout, {"walk": 1}, [])[0]
    for text in ("", "a,b\n1,2\n"):
        storage.write_text(layout.component("exploration", "points", "walk"), text)
        with pytest.raises(InputError, match=r"points\.csv: .*delete it and run again"):
            instance_table.rows(layout, {"walk": 1}, ["walk"])
