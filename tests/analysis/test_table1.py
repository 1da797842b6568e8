"""Table 1, measured: what the paper prints, joined with the numbers of a study's tables."""

import re

import numpy as np
import pytest

from befrl import agents, instances
from befrl.analysis import table1
from befrl.analysis.aggregation import aggregate
from befrl.common import storage, tidy
from befrl.experiment import run_file, runs
from helpers import PROJECT

AGENTS = {
    "bef-rlsvi": ("bef-rlsvi", {}),
    "bef-rlsvi@x=0.3": ("bef-rlsvi", {"x": 0.3}),
    "bef-rlsvi@x=3": ("bef-rlsvi", {"x": 3}),
    "shared": ("lsvi-ucb", {"share": "steps"}),
    "shared@scale=0.1": ("lsvi-ucb", {"share": "steps", "scale": 0.1}),
    "shared@scale=0.3": ("lsvi-ucb", {"share": "steps", "scale": 0.3}),
    "ren-ts": ("ren-ts", {}),
    "greedy": ("greedy", {}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The tables of one case, and of one scaling study that knows two of its settings."""
    root = tmp_path_factory.mktemp("study")
    instance = instances.build("chain", {"bins": 3, "horizon": 4})
    paths = []
    for label, (algorithm, values) in AGENTS.items():
        common = (algorithm, agents.parameters(algorithm, values), "U", 25, list(range(0 if "@" in label else 2, 5)), 3)
        log, seconds = runs.run_seeds("tiny", instance, *common, lockstep=5)
        paths.append(root / "runs" / f"{label}.npz")
        run_file.save(paths[-1], log, runs.describe("tiny", instance, label, *common, seconds))
    for name, text in aggregate(paths, 2, 200, 0.95).items():
        storage.write_text(root / "regret" / "tiny_U" / f"{name}.csv", text)
    columns = ("role", "varied", "algorithm", "setting", "exponent")
    scaled = [
        ("point", "d", "bef-rlsvi", "", None),
        ("exponent", "d", "bef-rlsvi", "", 1.5),
        ("exponent", "H", "bef-rlsvi", "", 0.9),
        ("exponent", "d", "lsvi-ucb", "", 7.0),
        ("exponent", "d", "lsvi-ucb", "share=steps", 2.5),
    ]
    text = tidy.text([dict(zip(columns, row, strict=True)) for row in scaled], dict.fromkeys(columns, ""))
    storage.write_text(root / "library" / "scaling" / "tiny.csv", text)
    return root


@pytest.fixture(scope="module")
def table(folder):
    path = folder / "table1.csv"
    storage.write_text(path, tidy.text(table1.rows(folder, [("tiny", "U")], ["tiny"]), table1.COLUMNS))
    return tidy.read(path, table1.COLUMNS).set_index("agent")


def test_there_is_a_row_for_each_agent(table):
    assert list(table.index) == ["bef-rlsvi", "shared", "ren-ts", "greedy"]
    assert list(table["constants"]) == ["theory", "theory", "theory", "baseline"]
    assert list(table["fit"]) == ["exact", "exact", "misspecified", "exact"]


def test_both_scales_are_those_of_the_summary(folder, table):
    summary = tidy.read(folder / "regret/tiny_U/summary.csv", tidy.SUMMARY)
    for agent in ("bef-rlsvi", "shared"):
        mine = summary[summary["agent"] == agent].set_index("role")
        for role in ("theory", "tuned"):
            for name in table1.MEASURED:
                assert table.loc[agent, f"{role}_{name}"] == pytest.approx(mine.loc[role, name], rel=1e-9), (
                    agent,
                    name,
                )
        assert table.loc[agent, "value"] == mine.loc["tuned", "value"]
        assert table.loc[agent, "at_edge"]  # of two points both are edges
    # Without a grid nothing is tuned.
    assert np.isnan(table.loc["greedy", "tuned_mean"]) and table.loc["greedy", "theory_mean"] > 0


def test_cost_is_that_of_the_tuned_variant(folder, table):
    timings = tidy.read(folder / "regret/tiny_U/timings.csv", tidy.TIMINGS).set_index("variant")
    tuned = f"bef-rlsvi@x={table.loc['bef-rlsvi', 'value']:g}"
    assert table.loc["bef-rlsvi", "seconds"] == pytest.approx(timings.loc[tuned, "seconds_per_episode"], rel=1e-9)
    assert table.loc["greedy", "seconds"] == pytest.approx(timings.loc["greedy", "seconds_per_episode"], rel=1e-9)
    assert set(table["plans"]) == {1}


def test_growth_is_that_of_the_same_setting(table):
    assert (table.loc["bef-rlsvi", "exponent_d"], table.loc["bef-rlsvi", "exponent_H"]) == (1.5, 0.9)
    assert table.loc["shared", "setting"] == "share=steps" and table.loc["shared", "exponent_d"] == 2.5
    assert np.isnan(table.loc["shared", "exponent_H"])
    assert np.isnan(table.loc["greedy", "exponent_d"])


def test_marks_stand_with_their_algorithms(table):
    ours = table.loc["bef-rlsvi"]
    assert (ours["printed"], ours["rate"]) == ("BEF-RLSVI", "sqrt(d^3 H^3 K)")
    assert (ours["tractable_exploration"], ours["tractable_planning"], ours["free_of_clipping"]) == ("yes",) * 3
    assert table.loc["ren-ts", "rewards"] == "known"
    assert table.loc[["shared", "greedy"], "printed"].isna().all()


def test_every_algorithm_of_the_paper_is_there_with_what_the_paper_prints():
    """Against the source of the paper, where it lies beside the project."""
    assert set(table1.PRINTED) <= set(agents.catalogue.names())
    source = PROJECT.parent / "shared" / "paper" / "bef-rlsvi.tex"
    if not source.exists():
        return
    text = source.read_text()
    body = text[text.index(r"\label{tab:comparison_RL_algos}") :]
    lines = body[: body.index(r"\end{tabular}")].splitlines()
    tex = {
        "ren-ts": "Thompson sampling", "exp-ucrl": "EXP-UCRL", "smrl": "SMRL", "ucrl-vtr": "UCRL-VTR",
        "lsvi-phe": "PHE-LSVI} \\cite", "uc-matrixrl": "UC-MatrixRL", "opt-rlsvi": "OPT-RLSVI",
        "bef-rlsvi": "(this work)",
    }  # fmt: skip
    for algorithm, words in tex.items():
        (line,) = [line for line in lines if words in line and "&" in line]
        marks = re.findall(r"\\ding\{(\d+)\}|(N\.A)", line)
        read = [{"51": "yes", "55": "no", "": "n.a."}[number] for number, _ in marks]
        printed = table1.PRINTED[algorithm]
        stated = [printed.tractable_exploration, printed.tractable_planning, printed.free_of_clipping]
        assert stated == read, algorithm
        if algorithm != "lsvi-phe":  # its rates stand in two lines
            powers = re.findall(r"\^(\d)", line.split("&")[1])
            assert re.findall(r"\^(\d)", printed.rate) == powers, algorithm
