"""Table 1, measured: what the paper prints, joined with the numbers of a study's tables."""

import itertools
import re
from pathlib import Path

import pytest

from befrl import agents, instances
from befrl.analysis import components, regret_columns, table1
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.common.layout import Layout
from cases import Entry, play_all, write_tables

AGENTS = {
    "bef-rlsvi": Entry("bef-rlsvi", tune={"x": [0.1, 1000], "eta": [0.1, 10]}, sweep={"x": [0.3, 3]}),
    "shared": Entry("lsvi-ucb", {"share": "steps"}, tune={"scale": [0.001, 0.1], "lam": [0.01, 1]}),
    "ren-ts": Entry("ren-ts"),
    "greedy": Entry("greedy"),
    "own": Entry("greedy", {"eta": 5.0}),
}
CASES = [("tiny", "U")]
# Exponents in d and H by (algorithm, setting): of all settings of the case that a scaling study measures.
GROWTH = {
    ("bef-rlsvi", ""): (1.5, 0.9), ("lsvi-ucb", ""): (7.0, 7.0), ("lsvi-ucb", "share=steps"): (2.5, None),
    ("ren-ts", ""): (1.0, 1.0), ("greedy", ""): (0.5, 0.6),
}  # fmt: skip


def write_scaling(layout, growth):
    rows = [{"instance": "tiny", "role": "point", "varied": "d", "algorithm": "greedy", "setting": "", "seconds": 1.0}]
    for (algorithm, setting), exponents in growth.items():
        row = {"instance": "tiny", "role": "exponent", "algorithm": algorithm, "setting": setting}
        rows += [row | {"varied": varied, "exponent": each} for varied, each in zip("dH", exponents, strict=True)]
    text = tidy.text(rows, components.tables("scaling")["timings"])
    storage.write_text(layout.component_timings("scaling", "tiny"), text)


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    layout = Layout(tmp_path_factory.mktemp("study"))
    instance = instances.build("chain", {"bins": 3, "horizon": 4})
    assert write_tables(layout, play_all(instance, AGENTS, seeds=5, episodes=25)) == CASES[0]
    write_scaling(layout, GROWTH)
    return layout


def path_of(layout, name):
    return layout.regret_timings(*CASES[0]) if name == "timings" else layout.regret(name, *CASES[0])


def read_back(layout, rows, columns):
    path = f"{layout.results}/made.csv"
    storage.write_text(path, tidy.text(rows, columns))
    return tidy.read(path, columns).set_index("agent")


@pytest.fixture(scope="module")
def table(layout):
    return read_back(layout, table1.rows(layout, CASES), table1.COLUMNS)


def test_there_is_a_row_for_each_agent_with_what_the_paper_prints(table):
    assert list(table.index) == ["bef-rlsvi", "shared", "ren-ts", "greedy", "own"]
    assert list(table["constants"]) == ["theory"] * 3 + ["baseline"] * 2
    assert list(table["specification"]) == ["exact", "exact", "misspecified", "exact", "exact"]
    ours = ["printed", "rate", "tractable_exploration", "tractable_planning", "free_of_clipping"]
    assert table.loc["bef-rlsvi", ours].tolist() == ["BEF-RLSVI", "sqrt(d^3 H^3 K)", "yes", "yes", "yes"]
    assert table.loc["ren-ts", "rewards"] == "known"
    assert table.loc[["shared", "greedy"], "printed"].isna().all()


def test_numbers_and_letters_are_those_of_the_regret_tables(layout, table):
    summary = tidy.read(path_of(layout, "summary"), regret_columns.SUMMARY)
    for agent in ("bef-rlsvi", "shared"):
        mine = summary[summary["agent"] == agent].set_index("role")
        for role, name in itertools.product(("theory", "tuned"), table1.MEASURED):
            assert table.loc[agent, f"{role}_{name}"] == pytest.approx(mine.loc[role, name], rel=1e-9), name
        for name in ("setting", "at_edge", "remarks"):
            shown = table.loc[agent, name if name == "at_edge" else f"tuned_{name}"]
            assert str(shown) == str(mine.loc["tuned", name])
        assert table.loc[agent, "theory_remarks"] == mine.loc["theory", "remarks"]
    for name in ("tuned_mean", "tuned_setting"):
        assert table[name].isna().tolist() == [False, False, True, True, True]
    assert table["theory_mean"].gt(0).all()
    order = tidy.read(path_of(layout, "order"), regret_columns.ORDER)
    for family in ("theory", "tuned"):
        letters = order[order["family"] == family].set_index("agent")["group"]
        assert table[f"{family}_group"].to_dict() == letters.to_dict()


def test_timings_are_those_of_all_settings_of_the_agent_and_growth_that_of_its_own(layout, table):
    timings = read_back(layout, table1.timings(layout, CASES, ["tiny"]), table1.TIMINGS)
    seconds = tidy.read(path_of(layout, "timings"), regret_columns.TIMINGS).set_index("agent")
    assert seconds["rows"].to_dict() == {"bef-rlsvi": 20, "shared": 10, "ren-ts": 5, "greedy": 5, "own": 5}
    assert list(timings.index) == list(table.index) and set(table["plans"]) == {1}
    for agent in AGENTS:
        for name, column in (("seconds", "seconds_per_episode"), ("exponent_k", "exponent_k")):
            assert timings.loc[agent, name] == pytest.approx(seconds.loc[agent, column], rel=1e-9)
    growth = timings[["setting", "exponent_d", "exponent_H"]].fillna("").loc[["bef-rlsvi", "shared", "own"]]
    # Scaling studies do not measure this setting of greedy.
    assert growth.to_numpy().tolist() == [["", 1.5, 0.9], ["share=steps", 2.5, ""], ["eta=5", "", ""]]


def copied(layout, folder, **changed):
    """The tables of the case in another folder, the texts of some of them changed."""
    other = Layout(folder)
    for name in ("summary", "order", "timings"):
        text = Path(path_of(layout, name)).read_text()
        storage.write_text(path_of(other, name), changed.get(name, str)(text))
    return other


def test_missing_rows_are_named(layout, tmp_path):
    assert not any("exponent_d" in row for row in table1.timings(layout, CASES, []))
    other = copied(layout, tmp_path)
    write_scaling(other, {key: value for key, value in GROWTH.items() if key[1] == ""})
    with pytest.raises(InputError, match="has no row of 'lsvi-ucb' with setting 'share=steps'"):
        table1.timings(other, CASES, ["tiny"])
    other = copied(layout, tmp_path, timings=lambda text: re.sub(r"(?m)^tiny,U,ren-ts.*\n", "", text))
    with pytest.raises(InputError, match=r"tiny_U\.csv: there is no row of 'ren-ts'"):
        table1.timings(other, CASES, [])
    other = copied(layout, tmp_path, summary=lambda text: text.replace(",ren-ts,ren-ts,ren-ts,", ",ren-ts,ren-ts,x,"))
    with pytest.raises(InputError, match=r"summary\.csv: it has 0 rows of 'ren-ts' alone"):
        table1.rows(other, CASES)


def test_marks_and_rates_are_those_that_the_paper_prints():
    """`table1.tex` is the table in the source of the paper."""
    assert set(table1.PRINTED) <= set(agents.registry.names())
    lines = Path(__file__).with_name("table1.tex").read_text().splitlines()
    own = {"ren-ts": "Thompson sampling", "lsvi-phe": "PHE-LSVI} \\cite", "bef-rlsvi": "(this work)"}
    tex = own | {name.lower(): name for name in ("EXP-UCRL", "SMRL", "UCRL-VTR", "UC-MatrixRL", "OPT-RLSVI")}
    assert tex.keys() == table1.PRINTED.keys() - {"bef-seed"}
    assert "not in the paper" in table1.PRINTED["bef-seed"].printed and "ours" in table1.PRINTED["bef-seed"].rate
    for algorithm, words in tex.items():
        (line,) = [line for line in lines if words in line and "&" in line]
        marks = re.findall(r"\\ding\{(\d+)\}|(N\.A)", line)
        read = [{"51": "yes", "55": "no", "": "n.a."}[number] for number, _ in marks]
        printed = table1.PRINTED[algorithm]
        assert [printed.tractable_exploration, printed.tractable_planning, printed.free_of_clipping] == read, algorithm
        if algorithm != "lsvi-phe":  # its rates stand in two lines
            assert re.findall(r"\^(\d)", printed.rate) == re.findall(r"\^(\d)", line.split("&")[1]), algorithm
