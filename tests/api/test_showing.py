"""Keeping and showing: folders of comparisons, sweeps, several MDPs, tables as text, figures in one's own axes."""

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

import befrl
from befrl import cli
from befrl.experiment import run_file

SMALL = {"episodes": 12, "seeds": 3}


@pytest.fixture(scope="module")
def mdp():
    return befrl.instance("chain", bins=3, horizon=4)


@pytest.fixture(scope="module")
def compared(mdp):
    return befrl.compare(mdp, {"own": ("bef-rlsvi", {"x": 2, "eta": [1, 4]}), "psrl": "psrl"}, **SMALL)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch, unplugged):
    monkeypatch.chdir(tmp_path)


def same(compared, other):
    return set(compared.runs) == set(other.runs) and all(
        runs.log[key].tobytes() == other.runs[label].log[key].tobytes()
        for label, runs in compared.runs.items()
        for key in (*run_file.LOGGED, *run_file.TRACED)
    )


def test_a_saved_comparison_is_read_and_aggregated(compared):
    compared.save("kept")
    again = befrl.read("kept")
    assert same(again, compared) and again.table().equals(compared.table().sort_index())
    words = "aggregate --runs kept --agents own@eta=1 psrl --batches 0-2 --out tables --timings timings.csv"
    assert cli.main(words.split()) == 0
    with pytest.raises(befrl.InputError, match="kept: is not empty: name a new folder"):
        compared.save("kept")
    # Batches of a study are one run each.
    compared.runs["psrl"][:2].save("case/psrl/0-1.npz")
    compared.runs["psrl"][2].save("case/psrl/2-2.npz")
    assert np.array_equal(befrl.read("case").runs["psrl"].regret, compared.runs["psrl"].regret)


def test_a_sweep_existing_runs_and_several_instances(mdp, compared):
    assert set(compared.runs) == {"own@eta=1", "own@eta=4", "psrl", "greedy", "random", "oracle"}
    assert (
        compared.runs["own@eta=4"].meta["settings"][0] | {"x": 2, "eta": 4}
        == compared.runs["own@eta=4"].meta["settings"][0]
    )
    kept = compared.runs["psrl"]
    again = befrl.compare(mdp, {"own": ("bef-rlsvi", {"x": 2, "eta": [1, 4]}), "psrl": kept}, **SMALL)
    assert same(again, compared) and again.runs["psrl"].seconds == kept.seconds
    both = befrl.compare([mdp, befrl.instance("jao")], ["psrl"], **SMALL)
    assert list(both) == ["chain", "jao"] and np.array_equal(both["chain"].runs["psrl"].regret, kept.regret)


def test_tables_as_text_markdown_and_latex(compared, capsys):
    """All three have the same cells; special characters are escaped."""
    odd = befrl.Comparison({"a_b|c%": compared.runs["psrl"], "psrl": compared.runs["greedy"]})
    text, markdown, latex = (odd.text(form).splitlines() for form in ("text", "markdown", "latex"))
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in [markdown[0], *markdown[2:]]]
    assert [re.split("  +", line) for line in text] == [
        [cell.replace("\\|", "|") for cell in row if cell] for row in rows
    ]
    body = [line.removesuffix(r" \\").split(" & ") for line in latex if line.endswith(r"\\")]
    assert body[0] == rows[0] and body[1][0] in (r"a\_b|c\%", "psrl") and len(body) == 3
    assert [row[2:5] for row in body] == [row[2:5] for row in rows] and latex[-1] == r"\end{tabular}"
    words = "compare chain --set bins=3 horizon=4 --agents bef-rlsvi:x=2 psrl --episodes 12 --seeds 3 --form markdown"
    assert cli.main([*words.split(), "--out", "kept"]) == 0
    printed, kept = capsys.readouterr().out, befrl.read("kept")
    assert printed.startswith("| agent | setting |") and set(kept.runs) == {
        "bef-rlsvi",
        "psrl",
        "greedy",
        "random",
        "oracle",
    }
    assert [line.split(" | ")[:4] for line in printed.splitlines()] == [
        line.split(" | ")[:4] for line in kept.text("markdown").splitlines()
    ]
    assert cli.main([*words.split(), "--out", "kept"]) == 2


@pytest.mark.parametrize("name", ["", "_mine", "a@b", "a/b", "=SUM(A1)", "+1", "-x", 7])
def test_names_that_files_or_spreadsheets_would_misread_are_rejected(name, mdp):
    with pytest.raises(befrl.InputError, match="of an agent is not allowed: it must be a text without @ and /"):
        befrl.compare(mdp, {name: "psrl"}, **SMALL)


def test_figures_in_axes_and_notebooks(compared):
    """Every label is drawn, also several settings of an agent; a title, not a heading, in an axis of one's own."""
    labels = {"own@eta=1", "own@eta=4", "psrl", "greedy", "random"}
    axes = Figure().subplots(1, 2)
    figures = compared.plot(ax=axes[0]), compared.runs["psrl"].plot(ax=axes[1])
    assert figures[0] is figures[1] is axes[0].figure and figures[0].get_suptitle() == ""
    assert {line.get_label() for line in axes[0].get_lines()} == labels and axes[0].get_title().startswith("chain, ")
    (line,) = axes[1].get_lines()
    assert line.get_ydata()[-1] == pytest.approx(compared.runs["psrl"].cumulative[:, -1].mean())
    assert {line.get_label() for line in compared.plot().axes[0].get_lines()} == labels
    assert len(compared.runs["oracle"].plot("oracle.svg").axes[0].get_lines()) == 1
    row = compared.table().set_index("agent").loc["psrl"]
    assert row[["mean", "low", "high"]].equals(
        compared.runs["psrl"].summary().iloc[0][["mean", "low", "high"]].rename("psrl")
    )
    odd = befrl.Comparison({"<b>": compared.runs["psrl"]})
    for shown in (odd, odd.runs["<b>"]):
        page = shown._repr_html_()
        assert "&lt;b&gt;" in page and "<b>" not in page and page.count("<tr") == 2
