"""Figures: the same bytes every time, captions that say what is drawn, and one colour per agent."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

import befrl
from befrl import agents, aggregation, figures, instances, provenance, results, runfile, runs
from befrl.errors import InputError
from befrl.figures import render, style

TUNING, SEEDS = 2, 7
# for processes that are to import the code that is tested
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(befrl.__file__).parents[1]), "PYTHONUTF8": "1"}
# (algorithm, parameters) by label; in the second case there is no grid
CASES = {
    ("tiny", "U"): {
        "bef-rlsvi": ("bef-rlsvi", {}),
        **{f"bef-rlsvi@x={x}": ("bef-rlsvi", {"x": x}) for x in (0.3, 3, 30)},
        "greedy": ("greedy", {}),
        "random": ("random", {}),
        "oracle": ("oracle", {}),
        "newcomer": ("greedy", {"eta": 5.0}),
    },
    ("tiny", "K"): {"exp-psrl": ("exp-psrl", {}), "greedy": ("greedy", {}), "random": ("random", {})},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of tables, made of real runs."""
    root = tmp_path_factory.mktemp("study")
    instance = instances.build("chain", {"bins": 3, "horizon": 4})
    made = []
    for (name, track), variants in CASES.items():
        paths = []
        for label, (algorithm, values) in variants.items():
            seeds = list(range(0 if "@" in label else TUNING, SEEDS))
            common = (algorithm, agents.parameters(algorithm, values), track, 15, seeds, 3)
            log, seconds = runs.run_seeds(name, instance, *common, lockstep=7)
            paths.append(root / track / label / "run.npz")
            runfile.save(paths[-1], log, runs.describe(name, instance, label, *common, seconds))
        folder = root / f"{name}_{track}"
        for table, text in aggregation.aggregate(paths, TUNING, 200, 0.95).items():
            results.write_text(folder / f"{table}.csv", text)
        made.append(folder)
    return made


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def shown_by(kind, folders):
    """The folders that a figure of this kind is drawn from."""
    return folders if figures.scope(kind) == "study" else folders[:1]


def drawn(kind, folders):
    """The figure itself."""
    style.apply()
    return figures.module(kind).draw(render.read_tables(folders))


def content(path):
    return {suffix: path.with_name(f"{path.name}.{suffix}").read_bytes() for suffix in ("svg", "png", "json")}


# Bytes.


@pytest.mark.parametrize("kind", figures.kinds())
def test_drawn_twice_a_figure_has_the_same_bytes(folders, tmp_path, kind):
    for name in ("one", "two"):
        render.render(kind, shown_by(kind, folders), tmp_path / name / kind, "make reproduce")
        drawn("regret", folders[1:])  # what was drawn before must not matter
    assert content(tmp_path / "one" / kind) == content(tmp_path / "two" / kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", figures.kinds())
def test_another_process_draws_the_same_bytes(folders, tmp_path, kind):
    render.render(kind, shown_by(kind, folders), tmp_path / "here" / kind, "make reproduce")
    call = [sys.executable, "-m", "befrl", "figure", kind, "--tables", *shown_by(kind, folders)]
    call += ["--out", tmp_path / "there" / kind, "--command", "make reproduce"]
    subprocess.run(call, check=True, env=ENVIRONMENT | {"PYTHONHASHSEED": "77"})
    assert content(tmp_path / "here" / kind) == content(tmp_path / "there" / kind)


@pytest.mark.parametrize("kind", figures.kinds())
def test_files_are_what_their_names_say(folders, tmp_path, kind):
    render.render(kind, shown_by(kind, folders), tmp_path / kind, "")
    files = content(tmp_path / kind)
    assert ElementTree.fromstring(files["svg"]).tag.endswith("svg")
    assert b"dc:date" not in files["svg"]
    assert files["png"].startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{kind}.{end}" for end in files)


# Words.


@pytest.mark.parametrize("kind", figures.kinds())
def test_the_sidecar_says_what_is_drawn(folders, tmp_path, kind):
    render.render(kind, shown_by(kind, folders), tmp_path / kind, "make reproduce", headline=True)
    about = results.read_json(tmp_path / f"{kind}.json")
    assert set(about) == {"name", "title", "caption", "command", "headline", "seeds"}
    assert (about["name"], about["command"], about["headline"]) == (kind, "make reproduce", True)
    assert about["seeds"] == SEEDS - TUNING
    assert about["title"]
    assert f"{SEEDS - TUNING} seeds" in about["caption"]
    assert "bootstrap interval" in about["caption"]
    assert "shaded: " in about["caption"] or "bars: " in about["caption"]


def test_the_caption_says_which_track_and_who_is_left_out(folders):
    unknown, known = (figures.module("regret").describe(render.read_tables([folder])) for folder in folders)
    assert "reward unknown" in unknown["title"] and "Track U" in unknown["caption"]
    assert "reward known" in known["title"] and "Track K" in known["caption"]
    assert "Zero regret, hence not drawn: oracle." in unknown["caption"]
    assert "oracle" not in known["caption"]


@pytest.mark.parametrize("kind", [kind for kind in figures.kinds() if figures.scope(kind) == "study"])
def test_a_study_without_a_grid_has_its_figures_too(folders, tmp_path, kind):
    render.render(kind, folders[1:], tmp_path / kind, "")
    assert "No grid over x" in results.read_json(tmp_path / f"{kind}.json")["caption"]


# What is drawn.


def test_curves_are_those_of_the_table(folders):
    (axes,) = drawn("regret", folders[:1]).axes
    (tables,) = render.read_tables(folders[:1])
    summary, curves = tables["summary"], tables["curves"]
    expected = summary[(summary["role"] != "grid") & (summary["variant"] != "oracle")]
    lines = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert set(lines) == {style.name(row) for row in expected.itertuples()}
    for row in expected.itertuples():
        mean = curves[curves["variant"] == row.variant]["mean"]
        assert np.array_equal(lines[style.name(row)], mean[mean > 0])
    assert len(axes.collections) == len(lines)


def colours(kind, folders):
    """{agent of a label: colours of its lines} of a figure."""
    found = {}
    for axes in drawn(kind, folders).axes:
        for line in axes.get_lines():
            found.setdefault(line.get_label().split(",")[0], set()).add(to_hex(line.get_color()))
    return found


def test_an_agent_has_the_same_colour_in_all_figures(folders):
    first, second = (colours("regret", [folder]) for folder in folders)
    assert set(first) & set(second) >= {"greedy", "random"}
    for agent, used in [*first.items(), *second.items()]:
        assert used == {to_hex(style.colour(agent))}
    everywhere = set.union(*colours("noise-scale", folders).values())
    lines = {to_hex("black"), *(to_hex(style.colour(agent)) for agent in ("bef-rlsvi", "greedy", "random"))}
    assert lines <= everywhere <= lines.union(*first.values(), *second.values())
    assert to_hex(style.colour("bef-rlsvi")) in set.union(*colours("optimism", folders).values())


def test_known_agents_have_colours_of_their_own():
    assert set(agents.catalogue.names()) <= set(style.AGENTS)
    assert len({to_hex(colour) for colour in style.AGENTS.values()}) == len(style.AGENTS)
    assert not {to_hex(colour) for colour in style.AGENTS.values()} & {to_hex(colour) for colour in style.SPARE}


@pytest.mark.parametrize("name", ["newcomer", "my-agent", "ξ"])
def test_a_new_agent_has_the_same_spare_colour_in_every_process(name):
    code = f"from befrl.figures import style; print(style.colour({name!r}))"
    for seed in ("1", "2"):
        call = [sys.executable, "-c", code]
        env = ENVIRONMENT | {"PYTHONHASHSEED": seed}
        shown = subprocess.run(call, check=True, capture_output=True, text=True, env=env).stdout.strip()
        assert shown == style.colour(name)
        assert shown in style.SPARE


@pytest.mark.parametrize("kind", figures.kinds())
def test_a_figure_computes_no_regret(kind):
    modules = provenance.closure("befrl.figures.render", figures.module_name(kind))
    assert not modules & {"befrl.runs", "befrl.interaction", "befrl.planning", "befrl.instances", "befrl.agents"}


# Names.


def test_figures_of_a_study_are_found_by_name():
    cases = [("a", "U"), ("b", "K")]
    wanted = figures.wanted(cases)
    assert wanted["regret_a_U"] == ("regret", [("a", "U")])
    assert wanted["noise-scale"] == ("noise-scale", cases)
    assert figures.parse("regret_b_K", cases) == ("regret", [("b", "K")])
    with pytest.raises(InputError, match=r"unknown figure 'regret_a_K': choose one of .*regret_a_U"):
        figures.parse("regret_a_K", cases)
    with pytest.raises(InputError, match=r"unknown figure 'pie': choose one of noise-scale"):
        figures.module("pie")
