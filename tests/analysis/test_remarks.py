"""Remarks on rows of the tables: planted handicaps are named, and a fair run of the same agent has no remark."""

import pytest

from befrl import agents, instances
from befrl.analysis import regret_columns, remarks, table1
from befrl.common import tidy
from befrl.common.layout import Layout
from befrl.experiment.tuning import Halving
from cases import Entry, play_all, write_tables

HALVING = Halving(8, 0, (4, 30), (4,))
X, ETA = [0.01, 1000], [0.01, 100]
FAIR = {
    "bef-rlsvi": Entry("bef-rlsvi", tune={"x": X, "eta": ETA}),
    "lsvi-phe": Entry("lsvi-phe", {"share": "steps"}, tune={"scale": [0.0001, 0.1], "lam": [0.001, 10]}),
    "oracle": Entry("oracle"),
}
# The same agents, each with a handicap.
HANDICAPPED = {
    "wrong-ridge": Entry("bef-rlsvi", tune={"x": X, "eta": 0.001}),
    "narrow": Entry("bef-rlsvi", tune={"x": [100, 1_000_000], "eta": [0.1, 100]}),
    "untuned": Entry("bef-rlsvi"),
    "untuned-counts": Entry("ucbvi"),
}


def read_tables(folder, entries, instance=None, **options):
    """The summary of a case by variant, and its layout and name."""
    instance = instance or instances.build("chain", {"bins": 3, "horizon": 6})
    layout, options = Layout(folder), {"seeds": 100, "episodes": 40, "halving": HALVING} | options
    name = write_tables(layout, play_all(instance, entries, **options))
    table = tidy.read(layout.regret("summary", *name), regret_columns.SUMMARY)
    table["remarks"] = table["remarks"].astype(object).fillna("")
    return table.set_index("variant"), layout, name


@pytest.fixture(scope="module")
def fair(tmp_path_factory):
    return read_tables(tmp_path_factory.mktemp("fair"), FAIR)[0]


@pytest.fixture(scope="module")
def handicapped(tmp_path_factory):
    return read_tables(tmp_path_factory.mktemp("handicapped"), HANDICAPPED)


def listed(table, variant):
    return [text for text in table.loc[variant, "remarks"].split("; ") if text]


def rows_of(table, agent):
    return [variant for variant in table.index if variant.split("@")[0] == agent]


def test_a_fair_run_has_no_remark(fair):
    assert not any(listed(fair, variant) for variant in (*rows_of(fair, "bef-rlsvi"), "lsvi-phe@tuned"))
    assert fair.loc["lsvi-phe", "tied"] == 1.0
    assert listed(fair, "lsvi-phe") == ["its actions tie everywhere, so it plays at random"]
    assert listed(fair, "oracle") == ["zero regret from the first episode", "its policy never changes"]


def test_the_ridge_of_every_agent_counts_as_held_unless_it_has_a_range():
    """By the declaration of its parameters; a ridge at a number is not tuned either."""
    row = {"mean": 1.0, "changed": 0.5, "tied": 0.0, "seeds": 100, "at_edge": ""}
    found = {name: remarks.to_tune(name) for name in agents.registry.names() if remarks.to_tune(name)}
    assert len(found) > 10
    for algorithm, ridges in found.items():
        meta = {"ties": "random", "algorithm": algorithm, "constants": "theory"}
        scale, ranges = {"scale": [0.1, 10]}, {name: [0.1, 10] for name in ridges}
        assert remarks.of(row, meta, {"tune": ranges | scale}) == ""
        for name in ridges:
            for tune in (scale | ranges | {name: 1}, {key: ranges[key] for key in ridges if key != name}):
                assert remarks.of(row, meta, {"tune": tune}) == f"held fixed in tuning: {name}"
        assert remarks.of(row, meta, None) == "not tuned"


def test_ties_that_go_to_the_first_action_are_named_in_every_row(tmp_path):
    entries = {"bef-rlsvi": Entry("bef-rlsvi"), "lsvi-phe": Entry("lsvi-phe", {"share": "steps"})}
    table, *_ = read_tables(tmp_path, entries, ties="first")
    assert all("ties go to the first action" in listed(table, variant) for variant in table.index)
    # All values are at the cap, in all plans, and nothing but the first action is ever played.
    expected = {"its actions tie everywhere, so it plays the first one", "its policy never changes"}
    assert expected <= set(listed(table, "lsvi-phe"))


def test_a_policy_that_never_changes_and_few_seeds_are_named(tmp_path):
    """UCRL-MNL+ on RiverSwim with known rewards: its bonus prefers swimming, from the start to the end."""
    river = instances.build("riverswim", {"states": 4, "horizon": 12})
    entries = {name: Entry(name) for name in ("ucrl-mnl-plus", "ucrl-mnl")}
    table, *_ = read_tables(tmp_path, entries, river, track="K", episodes=30, seeds=99)
    assert table.loc["ucrl-mnl-plus", "changed"] == 0 < table.loc["ucrl-mnl", "changed"]
    assert [name for name in entries if "its policy never changes" in listed(table, name)] == ["ucrl-mnl-plus"]
    assert all("fewer than 100 seeds" in listed(table, variant) for variant in table.index)


def test_handicaps_in_tuning_are_named_and_shown_in_table1(fair, handicapped):
    """Of `untuned-counts` also, which has a multiplier alone, and no ridge."""
    table, layout, name = handicapped
    ridge = [listed(table, variant) for variant in rows_of(table, "wrong-ridge")]
    assert len(ridge) == 2 and all("held fixed in tuning: eta" in each for each in ridge)
    assert all("not tuned" in listed(table, agent) for agent in ("untuned", "untuned-counts"))
    (edge,) = listed(table, "narrow@tuned")
    assert edge.startswith("best at the edge of its range: x low")
    assert "no setting inside the range is as good" in edge and table.loc["narrow@tuned", "edge_matters"]
    assert [listed(table, variant) for variant in rows_of(table, "narrow") if variant != "narrow@tuned"] == [[]]
    # With the handicap the best setting is worse than in the fair run, beyond both intervals.
    assert table.loc[["narrow@tuned", "wrong-ridge@tuned"], "low"].min() > fair.loc["bef-rlsvi@tuned", "high"]
    rows = {row["agent"]: row for row in table1.rows(layout, [name])}
    assert rows["untuned"]["theory_remarks"] == "not tuned" and "tuned_remarks" not in rows["untuned"]
    for agent in ("wrong-ridge", "narrow"):
        assert rows[agent]["tuned_remarks"] == table.loc[f"{agent}@tuned", "remarks"] != ""
