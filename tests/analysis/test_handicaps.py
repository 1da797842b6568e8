"""Handicaps are planted, one at a time, and the tables must say so; a fair run of the same agent has no remark.

The case is a chain of three bins with 60 episodes; each agent tries 8 configurations, of which 4 play all 30 tuning
seeds.
"""

import html
import re

import pandas as pd
import pytest

from befrl import agents, instances
from befrl.analysis import regret_columns, remarks, table1
from befrl.common import tidy
from befrl.common.layout import Layout
from befrl.experiment.tuning import Halving
from befrl.report import build
from cases import Entry, play_all, write_tables

HALVING = Halving(8, (4, 30), (4,))
X, ETA = [0.01, 1000], [0.01, 100]
FAIR = {
    "bef-rlsvi": Entry("bef-rlsvi", tune={"x": X, "eta": ETA}),
    "lsvi-phe": Entry("lsvi-phe", {"share": "steps"}, tune={"scale": [0.0001, 0.1], "lam": [0.001, 10]}),
    "ucbvi": Entry("ucbvi", tune={"scale": [0.00001, 0.1]}),
    "oracle": Entry("oracle"),
}
# The same agents, each with a handicap.
HANDICAPPED = {
    "wrong-ridge": Entry("bef-rlsvi", tune={"x": X, "eta": 0.001}),
    "default-ridge": Entry("bef-rlsvi", tune={"x": X}),
    "narrow": Entry("bef-rlsvi", tune={"x": [100, 1_000_000], "eta": [0.1, 100]}),
    "untuned": Entry("bef-rlsvi"),
    "untuned-counts": Entry("ucbvi"),
}


@pytest.fixture(scope="module")
def chain():
    return instances.build("chain", {"bins": 3, "horizon": 6})


def read_tables(folder, instance, entries, **options):
    """The summary of a case by variant, and its layout and name."""
    case = play_all(instance, entries, **({"seeds": 100, "episodes": 60, "halving": HALVING} | options))
    layout = Layout(folder)
    name = write_tables(layout, case)
    table = tidy.read(layout.regret("summary", *name), regret_columns.SUMMARY)
    table["remarks"] = table["remarks"].astype(object).fillna("")
    return table.set_index("variant"), layout, name


@pytest.fixture(scope="module")
def fair(chain, tmp_path_factory):
    return read_tables(tmp_path_factory.mktemp("fair"), chain, FAIR)[0]


@pytest.fixture(scope="module")
def handicapped(chain, tmp_path_factory):
    return read_tables(tmp_path_factory.mktemp("handicapped"), chain, HANDICAPPED)


def listed(table, variant):
    """The remarks on a row."""
    return [text for text in table.loc[variant, "remarks"].split("; ") if text]


def rows_of(table, agent):
    return [variant for variant in table.index if variant.split("@")[0] == agent]


def test_a_fair_run_has_no_remark(fair):
    """Nor have its median and worst settings; what ties at its theory's constants does not tie when tuned."""
    for variant in rows_of(fair, "bef-rlsvi"):
        assert listed(fair, variant) == []
    assert listed(fair, "lsvi-phe@tuned") == listed(fair, "ucbvi@tuned") == []


# A ridge that is held at a wrong value, or simply left where it is.


@pytest.mark.parametrize("agent", ["wrong-ridge", "default-ridge"])
def test_a_ridge_that_is_not_tuned_is_named_in_every_row(handicapped, agent):
    table = handicapped[0]
    assert len(rows_of(table, agent)) == 4
    for variant in rows_of(table, agent):
        assert "held fixed in tuning: eta" in listed(table, variant)


def test_the_wrong_ridge_is_a_handicap(fair, handicapped):
    """The best multiplier for it is worse than the fair run, beyond both intervals: the remark is not for nothing."""
    assert handicapped[0].loc["wrong-ridge@tuned", "low"] > fair.loc["bef-rlsvi@tuned", "high"]


@pytest.mark.parametrize("algorithm", [name for name in agents.registry.names() if remarks.to_tune(name)])
def test_every_agent_with_a_ridge_is_told_that_it_was_held(algorithm):
    """By the declaration of its parameters; the ridge at a number is as little tuned as the ridge that is left out."""
    row = {"mean": 1.0, "changed": 0.5, "tied": 0.0, "seeds": 100, "at_edge": ""}
    meta = {"ties": "random", "algorithm": algorithm, "constants": "theory"}
    ridges = remarks.to_tune(algorithm)
    ranges = {name: [0.1, 10] for name in ridges}
    assert remarks.of(row, meta, {"tune": ranges | {"scale": [0.1, 10]}}) == ""
    for name in ridges:
        for tune in ({"scale": [0.1, 10]} | ranges | {name: 1}, {key: ranges[key] for key in ridges if key != name}):
            assert remarks.of(row, meta, {"tune": tune}) == f"held fixed in tuning: {name}"
    assert remarks.of(row, meta, None) == "not tuned"


# Ties.


@pytest.fixture(scope="module")
def first_ties(chain, tmp_path_factory):
    entries = {name: FAIR[name] for name in ("bef-rlsvi", "lsvi-phe")}
    return read_tables(tmp_path_factory.mktemp("first"), chain, entries, ties="first")[0]


def test_ties_that_go_to_the_first_action_are_named_in_every_row(first_ties):
    for variant in first_ties.index:
        assert "ties go to the first action" in listed(first_ties, variant)


def test_an_agent_that_ties_everywhere_is_marked(fair, first_ties):
    """LSVI-PHE with the constants of its theory: all values are at the cap, in all plans."""
    assert fair.loc["lsvi-phe", "tied"] == fair.loc["ucbvi", "tied"] == 1.0
    for agent in ("lsvi-phe", "ucbvi"):
        assert listed(fair, agent) == ["its actions tie everywhere, so it plays at random"]
    assert "its actions tie everywhere, so it plays the first one" in listed(first_ties, "lsvi-phe")
    # The first action always: nothing else is ever played.
    assert remarks.CONSTANT in listed(first_ties, "lsvi-phe")


# Seeds.


def test_ten_seeds_are_too_few(chain, fair, tmp_path):
    table, *_ = read_tables(tmp_path, chain, {"bef-rlsvi": FAIR["bef-rlsvi"]}, seeds=10)
    assert set(table["seeds"]) == {10}
    same = fair.loc[rows_of(fair, "bef-rlsvi"), "setting"]
    assert table["setting"].fillna("").tolist() == same.fillna("").tolist()
    for variant in table.index:
        assert listed(table, variant) == ["fewer than 100 seeds"]


# No tuning, or in too narrow a range.


@pytest.mark.parametrize("agent", ["untuned", "untuned-counts"])
def test_an_agent_that_is_not_tuned_is_named(handicapped, agent):
    """Also one that has a multiplier alone, and no ridge."""
    assert "not tuned" in listed(handicapped[0], agent)


def test_the_best_at_the_edge_of_a_narrow_range_is_flagged(fair, handicapped):
    """The fair range reaches further down, and there the agent is better."""
    table = handicapped[0]
    (edge,) = listed(table, "narrow@tuned")
    assert edge.startswith("best at the edge of its range: x low")
    assert "no setting inside the range is as good" in edge and table.loc["narrow@tuned", "edge_matters"]
    assert [listed(table, variant) for variant in rows_of(table, "narrow") if variant != "narrow@tuned"] == [[], [], []]
    assert table.loc["narrow@tuned", "low"] > fair.loc["bef-rlsvi@tuned", "high"]


# Agents that do not learn.


def test_zero_regret_from_the_start_is_marked(fair):
    assert listed(fair, "oracle") == ["zero regret from the first episode", "its policy never changes"]


def test_an_agent_whose_policy_never_changes_is_marked(tmp_path):
    """UCRL-MNL+ on RiverSwim with known rewards: its bonus prefers swimming, from the start to the end."""
    river = instances.build("riverswim", {"states": 4, "horizon": 12})
    entries = {name: Entry(name) for name in ("ucrl-mnl-plus", "ucrl-mnl")}
    table, *_ = read_tables(tmp_path, river, entries, track="K", episodes=30)
    assert table.loc["ucrl-mnl-plus", "changed"] == 0 < table.loc["ucrl-mnl", "changed"]
    assert "its policy never changes" in listed(table, "ucrl-mnl-plus")
    assert "its policy never changes" not in listed(table, "ucrl-mnl")


# Where a reader sees it.


def test_remarks_reach_the_page_and_table1(handicapped):
    table, layout, name = handicapped
    nothing = {"instances": [], "costs": [], "figures": [], "published": [], "claims": [], "stages": []}
    summary = tidy.read(layout.regret("summary", *name), regret_columns.SUMMARY)
    page = build(config={}, summaries=[summary], versions={}, hashes={}, **nothing)

    def text(part):
        return html.unescape(re.sub(r"<[^>]+>", "", part)).strip()

    cells = [re.findall(r"(?s)<t[hd].*?</t[hd]>", row) for row in re.findall(r"(?s)<tr>.*?</tr>", page)]
    shown = {
        (text(row[0]), text(row[1]).split()[0]): " ".join(
            map(text, re.findall(r'(?s)<div class="note">.*?</div>', row[1]))
        )
        for row in cells
        if len(row) == 10
    }
    for row in summary.itertuples():
        remark = "" if pd.isna(row.remarks) else row.remarks
        assert shown[row.agent, row.role] == remark
    assert sum(bool(text) for text in shown.values()) >= 11
    rows = {row["agent"]: row for row in table1.rows(layout, [name])}
    assert rows["untuned"]["theory_remarks"] == "not tuned" and "tuned_remarks" not in rows["untuned"]
    for agent in ("wrong-ridge", "narrow"):
        assert rows[agent]["tuned_remarks"] == table.loc[f"{agent}@tuned", "remarks"] != ""
