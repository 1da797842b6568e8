"""Figures: the same bytes every time, captions that say what is drawn, and one look for each thing that is drawn."""

import functools
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

import befrl
from befrl import agents, figures, instances
from befrl.analysis import aggregation, components, published, table1
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.experiment import run_file, runs
from befrl.figures import render, style
from befrl.learning import estimators
from befrl.planning import planners
from befrl.study import config, provenance

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
            run_file.save(paths[-1], log, runs.describe(name, instance, label, *common, seconds))
        folder = root / "regret" / f"{name}_{track}"
        for table, text in aggregation.aggregate(paths, TUNING, 200, 0.95).items():
            storage.write_text(folder / f"{table}.csv", text)
        made.append(folder)
    return made


def exploration_table(name, seeds, rng, low):
    """`low` is the lower end of the interval of greedy less best."""
    numbers = {"episodes": 20, "seeds": seeds}
    rows = [
        ("tried", "exp-psrl", 5.0),
        ("greedy", "greedy", 8.0),
        ("best", "exp-ucrl", 3.0),
        ("random", "random", 50.0),
    ]
    table = [
        {"role": role, "agent": agent, "mean": mean, "low": mean - rng.uniform(), "high": mean + rng.uniform()}
        | numbers
        for role, agent, mean in rows
    ]
    return [*table, {"role": "difference", "agent": "exp-ucrl", "mean": 5.0, "low": low, "high": 6.0} | numbers]


def density_table(kind, curves, rng):
    at = np.arange(4) if kind == "probability" else np.linspace(0, 1, 5)
    return [
        {"kind": kind, "transitions": 60, "curve": curve, "state": 0.5 * curve, "action": curve % 2, "next": x}
        | {"true": rng.uniform(), "estimated": rng.uniform()}
        for curve in range(curves)
        for x in at
    ]


def estimator_table(names, repetitions, rng):
    return [
        {"estimator": name, "transitions": n, "repetition": i, "kl": rng.lognormal(), "seconds": rng.lognormal()}
        for name in names
        for n in (100, 1000)
        for i in range(repetitions)
    ]


def planner_table(names, repetitions, rng):
    """Errors from 1e-16 to 1e16, about."""
    return [
        {"planner": name, "features": count, "repetition": i, "value_error": rng.lognormal(sigma=20.0)}
        | {"regret": rng.lognormal(sigma=5.0), "seconds": rng.lognormal()}
        for name in names
        for count in ([None] if name == "exact" else [8, 64])
        for i in range(repetitions)
    ]


def published_tables():
    """Values and curves of an experiment on two instances; the authors have a number for one of them."""
    common = {"source": "ayoub", "seeds": 4, "algorithm": "ucrl-vtr", "variant": "ucrl-vtr", "role": "theory"}
    values = [
        {**common, "instance": "one", "quantity": "regret", "episode": 20, "ours": 9.0, "authors": 12.0},
        {**common, "instance": "two", "quantity": "regret", "episode": 20, "ours": 8.0},
    ]
    curves = [
        {
            **common,
            "instance": name,
            "quantity": "cumulative regret",
            "episode": k,
            "ours": 2.0 * k,
            "low": k,
            "high": 3 * k,
        }
        for name in ("one", "two")
        for k in (1, 10, 20)
    ]
    return values, curves


REPETITIONS = 5


@pytest.fixture(scope="module")
def sources(folders, tmp_path_factory):
    """By kind of figure, what it is drawn from: folders of cases, or made-up tables of the library of two instances."""
    rng = np.random.default_rng(20)
    names, planned = estimators.catalogue.names(), planners.catalogue.names()
    made = {
        "exploration": [exploration_table("a", 9, rng, low=2.0), exploration_table("b", 7, rng, low=0.0)],
        "densities": [density_table("density", 3, rng), density_table("probability", 2, rng)],
        "estimators": [estimator_table(names, 6, rng), estimator_table(names[3:5], REPETITIONS, rng)],
        "planners": [planner_table(planned, REPETITIONS, rng), planner_table(["exact", "rff"], 8, rng)],
    }
    root, found = tmp_path_factory.mktemp("library"), {}
    for kind, tables in made.items():
        found[kind] = [root / kind / f"{name}.csv" for name in ("first", "second")]
        columns = components.catalogue.module(kind).COLUMNS
        for path, rows in zip(found[kind], tables, strict=True):
            storage.write_text(path, tidy.text([{"instance": path.stem} | row for row in rows], columns))
    found["published"] = [root / f"published/{name}.csv" for name in ("values", "curves")]
    for path, rows in zip(found["published"], published_tables(), strict=True):
        storage.write_text(path, tidy.text(rows, published.COLUMNS))
    found["table1"] = [root / "table1.csv"]
    made = table1.rows(folders[0].parents[1], [("tiny", "U")], [])
    storage.write_text(found["table1"][0], tidy.text(made, table1.COLUMNS))
    for kind in figures.kinds():
        if kind not in found:
            found[kind] = folders if figures.scope(kind) == "study" else folders[:1]
    return found


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def drawn(kind, paths):
    """The figure itself."""
    style.apply()
    return figures.module(kind).draw(render.read_tables(kind, paths))


def content(path):
    return {suffix: path.with_name(f"{path.name}.{suffix}").read_bytes() for suffix in ("svg", "png", "json")}


@pytest.fixture(scope="module")
def rendered(sources, tmp_path_factory):
    """Path of a figure's files by its kind; drawn once."""

    @functools.cache
    def path(kind):
        out = tmp_path_factory.mktemp("drawn") / kind
        render.render(kind, sources[kind], out, "make reproduce", headline=True)
        return out

    return path


# Bytes.


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=() if kind in ("regret", "table1") else pytest.mark.slow) for kind in figures.kinds()],
)
def test_drawn_twice_a_figure_has_the_same_bytes(folders, sources, rendered, tmp_path, kind):
    before = content(rendered(kind))
    drawn("regret", folders[1:])  # what was drawn before must not matter
    render.render(kind, sources[kind], tmp_path / kind, "make reproduce", headline=True)
    assert content(tmp_path / kind) == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", figures.kinds())
def test_another_process_draws_the_same_bytes(sources, rendered, tmp_path, kind):
    call = [sys.executable, "-m", "befrl", "figure", kind, "--tables", *sources[kind]]
    call += ["--out", tmp_path / kind, "--command", "make reproduce", "--headline"]
    subprocess.run(call, check=True, env=ENVIRONMENT | {"PYTHONHASHSEED": "77"})
    assert content(tmp_path / kind) == content(rendered(kind))


@pytest.mark.parametrize("kind", figures.kinds())
def test_files_are_what_their_names_say(rendered, kind):
    path = rendered(kind)
    files = content(path)
    assert ElementTree.fromstring(files["svg"]).tag.endswith("svg")
    assert b"dc:date" not in files["svg"]
    assert files["png"].startswith(b"\x89PNG")
    assert sorted(path.name for path in path.parent.iterdir()) == sorted(f"{kind}.{end}" for end in files)


# Words.


# By kind of figure: how many seeds its caption states and in which words, and what it says about bands and lines.
CAPTIONS = {
    "exploration": (7, "7 seeds", "bars: bootstrap intervals of the means"),
    "densities": (1, "one seed", "dashed lines and dots: the penalised maximum-likelihood estimate"),
    "estimators": (REPETITIONS, f"{REPETITIONS} samples", "shaded: 10 to 90 % of the samples"),
    "planners": (REPETITIONS, f"{REPETITIONS} draws", "Dashed: exact planning"),
    "published": (4, "4 seeds", "Stars: the authors' numbers. Dashed: constants as in the theory."),
}
# What is drawn in the place of bands or bars.
THICK = {"ordering", "table1"}
SHOWN = SEEDS - TUNING


@pytest.mark.parametrize("kind", figures.kinds())
def test_the_sidecar_says_what_is_drawn(rendered, kind):
    about = storage.read_json(f"{rendered(kind)}.json")
    assert set(about) == {"name", "title", "caption", "command", "headline", "seeds"}
    assert (about["name"], about["command"], about["headline"]) == (kind, "make reproduce", True)
    seeds, words, bands = CAPTIONS.get(kind, (SHOWN, f"{SHOWN} seeds", "bootstrap interval"))
    assert about["seeds"] == seeds
    assert about["title"]
    assert words in about["caption"] and bands in about["caption"]
    if kind in THICK:
        assert "thick: bootstrap interval of the mean, thin: 10 to 90 % of the seeds" in about["caption"]
    elif kind not in CAPTIONS:
        assert "shaded: " in about["caption"] or "bars: " in about["caption"]


def test_every_figure_of_the_library_has_its_caption_checked():
    drawn_studies = [kind for kind in figures.kinds() if figures.scope(kind) == "library"]
    assert set(drawn_studies) <= set(CAPTIONS)
    # Table 1 shows what scaling measures.
    assert sorted([*drawn_studies, "scaling"]) == components.catalogue.names()


def test_the_number_of_settings_in_the_caption_is_that_of_the_grids():
    grids = components.catalogue.module("exploration").GRIDS
    words = {12: "twelve"}[sum(len(values) for _, values in grids.values())]
    page = Path(befrl.__file__).parent / "report" / "page.html.j2"
    for text in (Path(figures.module("exploration").__file__).read_text(), page.read_text()):
        assert f"best of {words} agents and settings" in text


def test_the_caption_says_which_track_and_who_is_left_out(folders):
    unknown, known = (figures.module("regret").describe(render.read_tables("regret", [folder])) for folder in folders)
    assert "reward unknown" in unknown["title"] and "Track U" in unknown["caption"]
    assert "reward known" in known["title"] and "Track K" in known["caption"]
    assert "Zero regret, hence not drawn: oracle." in unknown["caption"]
    assert "oracle" not in known["caption"]


@pytest.mark.parametrize("kind", [kind for kind in figures.kinds() if figures.scope(kind) == "study"])
def test_a_study_without_a_grid_has_its_figures_too(folders, tmp_path, kind):
    render.render(kind, folders[1:], tmp_path / kind, "")
    assert "No grid over x" in storage.read_json(tmp_path / f"{kind}.json")["caption"]


# What is drawn.


def test_curves_are_those_of_the_table(folders):
    (axes,) = drawn("regret", folders[:1]).axes
    (tables,) = render.read_tables("regret", folders[:1])
    summary, curves = tables["summary"], tables["curves"]
    expected = summary[(summary["role"] != "grid") & (summary["variant"] != "oracle")]
    lines = axes.get_lines()
    assert len(axes.collections) == len(lines) == len(expected)
    # In the order of drawing, the worst first; theory's curve has no entry of its own where there is a tuned one.
    for line, row in zip(lines, expected.sort_values("mean", ascending=False).itertuples(), strict=True):
        mean = curves[curves["variant"] == row.variant]["mean"]
        assert np.array_equal(line.get_ydata(), mean[mean > 0])
        assert line.get_label().startswith("_" if row.variant == "bef-rlsvi" else row.agent)
    for band, row in zip(axes.collections, expected.sort_values("mean", ascending=False).itertuples(), strict=True):
        curve = curves[(curves["variant"] == row.variant) & (curves["mean"] > 0)]
        edge = band.get_paths()[0].vertices[:, 1]
        assert np.isin(curve["high"], edge).all()
        assert np.isin(curve["low"].clip(lower=axes.get_ylim()[0]), edge).all()
    labels = sorted(text.get_text() for text in axes.get_legend().get_texts())
    assert labels == ["bef-rlsvi", "greedy", "newcomer", "random"]


def crowd(counts, baselines=("greedy",)):
    """Rows of a summary: {algorithm: number of agents}."""
    rows = [(f"{name}-{i}", name) for name, count in counts.items() for i in range(count)]
    rows += [(name, name) for name in baselines]
    return pd.DataFrame(rows, columns=["agent", "algorithm"])


def test_many_agents_are_drawn_in_groups_with_the_baselines_in_each():
    panels = figures.module("regret").panels(crowd({"exp-ucrl": 2, "psrl": 1, "mine": 1}))
    assert {title: list(rows["algorithm"]) for title, rows in panels.items()} == {
        "exponential family": ["exp-ucrl", "exp-ucrl", "greedy"],
        "mixtures, factors and tables": ["psrl", "greedy"],
        "others": ["mine", "greedy"],
    }
    assert list(figures.module("regret").panels(crowd({}))) == ["baselines"]


def test_a_crowded_group_is_split_into_its_algorithms():
    limit = figures.module("regret").CROWD
    panels = figures.module("regret").panels(crowd({"bef-rlsvi": limit - 1, "exp-ucrl": 2}))
    assert {title: len(rows) for title, rows in panels.items()} == {"bef-rlsvi": limit, "exp-ucrl": 3}


def test_the_order_is_that_of_the_means_and_differences_are_paired(folders):
    (tables,) = render.read_tables("ordering", folders[:1])
    module = figures.module("ordering")
    rows = module.ordered(tables["summary"])
    assert list(rows["mean"]) == sorted(rows["mean"])
    # One row for each agent that has regret: the tuned one where there is a grid.
    assert sorted(rows["agent"]) == ["bef-rlsvi", "greedy", "newcomer", "random"]
    assert rows.set_index("agent").loc["bef-rlsvi", "role"] == "tuned"
    better, worse = rows["variant"].iloc[:2]
    mean, low, high = module.difference(tables["paired"], worse, better)
    assert mean == pytest.approx(rows["mean"].iloc[1] - rows["mean"].iloc[0])
    assert low <= mean <= high
    assert module.difference(tables["paired"], better, worse) == pytest.approx((-mean, -high, -low))


def test_the_authors_numbers_are_stars(sources):
    figure = drawn("published", sources["published"])
    stars = [line for axes in figure.axes for line in axes.get_lines() if line.get_marker() == "*"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in stars] == [(20, 12.0)]
    assert [axes.get_title() for axes in figure.axes] == ["one", "two"]


def test_table1_shows_both_scales_and_the_papers_marks(sources):
    figure = drawn("table1", sources["table1"])
    (table,) = render.read_tables("table1", sources["table1"])
    words, regret = figure.axes[:2]
    texts = [text.get_text() for text in words.texts]
    assert "√(d³H³K)" in texts and texts.count("✓") == 3
    means = {line.get_xdata()[0] for line in regret.get_lines() if line.get_marker() == "o"}
    rows = table[table["theory_mean"] > 1e-6]
    assert means == {*rows["theory_mean"], *rows["tuned_mean"].dropna()}
    assert figures.module("table1").shown(table)["agent"].iloc[0] == "bef-rlsvi"


def test_a_misspecified_agent_is_marked_and_the_mark_explained():
    row = pd.DataFrame([{"agent": "ren-ts", "fit": "misspecified"}, {"agent": "greedy", "fit": "exact"}])
    assert [style.name(each) for each in row.itertuples()] == ["ren-ts †", "greedy"]
    assert "†: the instance is not in the class" in style.misspecified(row) and style.misspecified(row[1:]) == ""


def colours(kind, folders):
    """Colours of the lines of a figure."""
    return {to_hex(line.get_color()) for axes in drawn(kind, folders).axes for line in axes.get_lines()}


def test_an_agent_has_the_same_colour_in_all_figures(folders):
    (own, other), greedy, random = (
        [to_hex(style.colour(name)) for name in ("bef-rlsvi", "exp-psrl")],
        *(to_hex(style.colour(name)) for name in ("greedy", "random")),
    )
    # The newcomer runs greedy's algorithm and has its colour.
    assert style.colour("newcomer", "greedy") == style.colour("greedy")
    assert colours("regret", folders[:1]) == {own, greedy, random}
    assert colours("regret", folders[1:]) == {other, greedy, random}
    assert colours("ordering", folders[:1]) == {own, greedy, random, to_hex("black")}
    assert colours("noise-scale", folders) == {own, greedy, random, to_hex("black")}
    assert own in colours("optimism", folders)


def test_known_agents_have_looks_of_their_own():
    assert set(agents.catalogue.names()) <= set(style.LOOKS)
    looks = {(to_hex(colour), marker) for colour, marker in style.LOOKS.values()}
    assert len(looks) == len(style.LOOKS)
    assert not {colour for colour, _ in looks} & {to_hex(colour) for colour in style.SPARE}


@pytest.mark.parametrize("path", sorted(config.SCHEMA.parent.glob("*.yaml")), ids=lambda path: path.stem)
def test_agents_of_a_panel_look_different(path):
    """In the configs that come with the project: colour and marker tell the agents of each panel apart."""
    if path == config.SCHEMA:
        assert path.stem == "schema"
        return
    study = config.load(path, config.SCHEMA)
    for instance, _ in study.compared_cases():
        rows = [(v.agent, v.algorithm) for v in study.variants(instance).values() if v.grid is None]
        panels = figures.module("regret").panels(pd.DataFrame(rows, columns=["agent", "algorithm"]))
        for title, part in panels.items():
            looks = [tuple(sorted(style.look(row.agent, row.algorithm).items())) for row in part.itertuples()]
            assert len(set(looks)) == len(looks), (instance, title)


@pytest.mark.parametrize("name", ["newcomer", "my-agent", "ξ"])
def test_a_new_agent_has_the_same_spare_colour_in_every_process(name):
    code = f"from befrl.figures import style; print(style.colour({name!r}))"
    for seed in ("1", "2"):
        call = [sys.executable, "-c", code]
        env = ENVIRONMENT | {"PYTHONHASHSEED": seed}
        shown = subprocess.run(call, check=True, capture_output=True, text=True, env=env).stdout.strip()
        assert shown == style.colour(name)
        assert shown in style.SPARE


# What is drawn of the library.


def frames(paths):
    return [pd.read_csv(path, comment="#") for path in paths]


def lines_of(axes, points=None):
    """Its lines, or those of so many points."""
    return [line for line in axes.get_lines() if points in (None, len(line.get_xdata()))]


def test_exploration_shows_shares_of_the_regret_of_random_play(sources):
    (axes,) = drawn("exploration", sources["exploration"]).axes
    tables = [table.set_index("role") for table in frames(sources["exploration"])]
    expected = [(table.loc[role], table.loc["random", "mean"]) for table in tables for role in ("greedy", "best")]
    intervals = [line for line in lines_of(axes, 2) if line.get_xdata()[0] != line.get_xdata()[1]]
    means = lines_of(axes, 1)
    for line, point, (row, scale) in zip(intervals, means, expected, strict=True):
        assert line.get_xdata() == pytest.approx([row["low"] / scale, row["high"] / scale])
        assert point.get_xdata() == pytest.approx([row["mean"] / scale])
        assert point.get_ydata()[0] == line.get_ydata()[0]
        assert to_hex(line.get_color()) == to_hex(point.get_color()) == to_hex(style.colour(row["agent"]))
        assert (to_hex(point.get_markerfacecolor()) == "#ffffff") == (row["agent"] == "greedy")
    # Exploration matters on the first instance, not on the second, whose interval begins at zero.
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second (no)"]


def test_densities_are_those_of_the_table(sources):
    continuous, finite = drawn("densities", sources["densities"]).axes
    density, probability = frames(sources["densities"])
    assert (continuous.get_title(), finite.get_title()) == ("first", "second")
    lines = lines_of(continuous)
    assert len(lines) == 2 * 3
    for curve, part in density.groupby("curve"):
        for line, column in zip(lines[2 * curve : 2 * curve + 2], ("true", "estimated"), strict=True):
            assert np.array_equal(line.get_xdata(), part["next"]) and np.array_equal(line.get_ydata(), part[column])
    heights = [bar.get_height() for bar in finite.patches]
    assert heights == list(probability["true"])
    dots = np.concatenate([line.get_ydata() for line in lines_of(finite)])
    assert list(dots) == list(probability["estimated"])
    # Bars of one next state stand side by side around it.
    centres = np.array([bar.get_x() + bar.get_width() / 2 for bar in finite.patches])
    assert np.array_equal(centres.round(), probability["next"]) and len(set(centres.round(6))) == len(centres)


def medians(table, names, key, size, column):
    """{name: (sizes, medians)} in loops."""
    found = {}
    for name in names:
        part = table[table[key] == name]
        sizes = sorted(set(part[size]))
        found[name] = (sizes, [np.median(part[part[size] == n][column]) for n in sizes])
    return found


def test_estimators_are_shown_by_their_medians(sources):
    figure = drawn("estimators", sources["estimators"])
    tables = frames(sources["estimators"])
    looks = figures.module("estimators").LOOKS
    for axes, (table, column) in zip(
        figure.axes, [(table, column) for table in tables for column in ("kl", "seconds")], strict=True
    ):
        names = list(dict.fromkeys(table["estimator"]))
        expected = medians(table, names, "estimator", "transitions", column)
        for name, line in zip(names, axes.get_lines(), strict=True):
            assert (list(line.get_xdata()), list(line.get_ydata())) == expected[name]
            assert (line.get_color(), line.get_marker()) == looks[name]
        bands = axes.collections
        assert len(bands) == (len(names) if column == "kl" else 0)
        for name, band in zip(names, bands, strict=False):
            (shape,) = band.get_paths()
            for n in (100, 1000):
                values = table[(table["estimator"] == name) & (table["transitions"] == n)]["kl"]
                edge = shape.vertices[shape.vertices[:, 0] == n][:, 1]
                assert [edge.min(), edge.max()] == pytest.approx(np.quantile(values, [0.1, 0.9]))
        assert axes.get_title() == table["instance"][0]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == estimators.catalogue.names()


def test_planners_are_shown_by_their_medians(sources):
    figure = drawn("planners", sources["planners"])
    module, tables = figures.module("planners"), frames(sources["planners"])
    at_rim = 0
    for axes, (table, column) in zip(
        figure.axes, [(table, column) for table in tables for column in module.NAMES], strict=True
    ):
        names = [name for name in dict.fromkeys(table["planner"]) if name != "exact"]
        expected = medians(table, names, "planner", "features", column)
        low, high = module.RIMS[column]
        exact = np.median(table[table["planner"] == "exact"][column])
        lines = axes.get_lines()
        if column == "value_error":
            # That of exact planning is zero, which has no place on a logarithmic axis.
            assert len(lines) == len(names)
        else:
            assert lines[-1].get_ydata() == [max(exact, low or 0.0)] * 2
        for name, line in zip(names, lines, strict=False):
            sizes, values = expected[name]
            shown = [min(max(value, low or value), high or value) for value in values]
            at_rim += shown != values
            assert (list(line.get_xdata()), list(line.get_ydata())) == (sizes, shown)
            assert (line.get_color(), line.get_marker()) == module.look(name)
    assert at_rim
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == set(planners.catalogue.names())


def test_estimators_and_planners_have_looks_of_their_own():
    estimators = figures.module("estimators").LOOKS
    assert sorted(estimators) == estimators.catalogue.names()
    assert len(set(estimators.values())) == len(estimators)
    planners = figures.module("planners").LOOKS
    # Exact planning is a line without a marker.
    assert sorted([*planners, "exact"]) == planners.catalogue.names()
    assert len(set(planners.values())) == len(planners)


@pytest.mark.parametrize("kind", figures.kinds())
def test_a_figure_computes_no_regret(kind):
    modules = provenance.closure("befrl.figures.render", figures.module_name(kind))
    forbidden = ("runs", "interaction", "planning", "estimation", "instances", "agents", "library", "aggregation")
    assert not modules & {f"befrl.{name}" for name in forbidden}


# Names.


def test_figures_of_a_study_are_found_by_name():
    cases = [("a", "U"), ("b", "K")]
    wanted = figures.wanted(cases)
    assert wanted["regret_a_U"] == ("regret", [("a", "U")])
    assert wanted["regret_b_K"] == ("regret", [("b", "K")])
    assert "regret_a_K" not in wanted
    assert wanted["noise-scale"] == ("noise-scale", cases)
    with pytest.raises(InputError, match=r"unknown figure 'pie': choose one of .*noise-scale"):
        figures.module("pie")


def test_published_experiments_have_a_figure_each_and_table1_its_own():
    wanted = figures.wanted([("a", "U")], published=["li", "cho"])
    assert wanted["published_li"] == ("published", ["li"])
    assert wanted["published_cho"] == ("published", ["cho"])
    assert wanted["table1"] == ("table1", ["table1"])


def test_figures_of_the_library_show_the_instances_of_their_study():
    cases = [("a", "U")]
    wanted = figures.wanted(cases, [("planners", "b"), ("densities", "a"), ("planners", "a")])
    assert wanted["planners"] == ("planners", ["b", "a"])
    assert wanted["densities"] == ("densities", ["a"])
    # A study without instances has no figure.
    assert set(wanted) - set(figures.wanted(cases)) == {"planners", "densities"}
