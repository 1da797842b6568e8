"""Figures: the same bytes every time, captions that say what is drawn, and one look for each thing that is drawn."""

import functools
import math
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
from matplotlib.figure import Figure

import befrl
from befrl import agents, figures, instances
from befrl.analysis import components, published, statistics, table1
from befrl.claims.toolbox import ledger
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.common.layout import Layout
from befrl.experiment.settings import setting_text
from befrl.figures.support import newcomers, render, style
from befrl.figures.support.contents import contents
from befrl.learning import estimators
from befrl.planning import planners
from befrl.study import config, provenance
from cases import Entry, play_all, write_tables

SEEDS = 5
# for processes that are to import the code that is tested
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(befrl.__file__).parents[1]), "PYTHONUTF8": "1"}
# In the second case nobody is tuned and nothing is swept.
CASES = {
    ("tiny", "U"): {
        "bef-rlsvi": Entry("bef-rlsvi", tune={"x": [0.1, 100], "eta": [0.1, 10]}, sweep={"x": [0.3, 3, 30]}),
        "lsvi-ucb": Entry("lsvi-ucb", tune={"scale": [0.001, 0.1], "lam": [0.01, 1]}),
        "greedy": Entry("greedy"),
        "random": Entry("random"),
        "oracle": Entry("oracle"),
        "newcomer": Entry("greedy", {"eta": 5.0}),
    },
    ("tiny", "K"): {name: Entry(name) for name in ("exp-psrl", "greedy", "random")},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The tables of a study, made of real runs; by their layout."""
    layout = Layout(tmp_path_factory.mktemp("study"))
    instance = instances.build("chain", {"bins": 3, "horizon": 4})
    for case, entries in CASES.items():
        assert write_tables(layout, play_all(instance, entries, SEEDS, track=case[1], episodes=15)) == case
    return layout


@pytest.fixture(scope="module")
def case_tables(results):
    """The paths of a figure's tables, of some cases or of all."""

    def paths(kind, *cases):
        return [Path(path) for path in figures.tables(results, kind, cases or CASES)]

    return paths


UNKNOWN, KNOWN = CASES


def exploration_tables(seeds, rng, matters):
    rows = []
    for role, agent, share in (("greedy", "greedy", 0.16), ("best", "exp-ucrl", 0.06)):
        ends = {"low": share * rng.uniform(), "high": share + rng.uniform()}
        numbers = {"episodes": 20, "seeds": seeds, "share": share, "matters": matters}
        rows.append({"role": role, "agent": agent} | ends | numbers)
    return {"shares": rows}


def density_tables(kind, curves, rng):
    at = np.arange(4) if kind == "probability" else np.linspace(0, 1, 5)
    rows = [
        {"kind": kind, "transitions": 60, "curve": curve, "state": 0.5 * curve, "action": curve % 2, "next": x}
        | {"true": rng.uniform(), "estimated": rng.uniform()}
        for curve in range(curves)
        for x in at
    ]
    return {"points": rows}


def estimator_tables(names, repetitions, rng):
    keys = [{"estimator": name, "transitions": n} for name in names for n in (100, 1000)]
    points = [key | {"kl": rng.lognormal(), "error": 1.0} for key in keys for _ in range(repetitions)]
    medians = statistics.spread(points, ("estimator", "transitions"), "repetitions", ("kl", "error"))
    return {"medians": medians, "timings": [key | {"seconds": rng.lognormal()} for key in keys]}


def planner_tables(names, repetitions, rng):
    """Errors from 1e-16 to 1e16, about."""
    keys = [
        {"planner": name, "features": count} for name in names for count in ([None] if name == "exact" else [8, 64])
    ]
    points = [
        key | {"value_error": rng.lognormal(sigma=20.0), "regret": rng.lognormal(sigma=5.0)}
        for key in keys
        for _ in range(repetitions)
    ]
    medians = statistics.spread(points, ("planner", "features"), "repetitions", ("value_error", "regret"))
    return {"medians": medians, "timings": [key | {"seconds": rng.lognormal()} for key in keys]}


def trap_tables(seeds, rng):
    """Random shares and curves of all settings that the study runs."""
    never, points = [], []
    for agent, ties, several in components.registry.module("traps").RUNS:
        for values in several:
            key = {"agent": agent, "setting": setting_text(agent, values), "ties": ties, "seeds": seeds}
            share = {"never": rng.uniform(0.3, 0.7), "low": 0.2, "high": 0.8}
            never.append(key | share | {"episodes": 40, "x": values.get("scale")})
            rise = rng.uniform(1, 3)
            points += [key | {"episode": k, "regret": rise * k, "low": 0.9 * k, "high": 4 * k} for k in (1, 20, 40)]
    return {"never": never, "points": points}


def rate_tables(seeds, varied, rng):
    """Envelopes with and without their maximum at an edge, and the slopes of them."""
    envelopes, slopes = [], []
    for what, values, count in varied:
        for agent, setting in (("bef-rlsvi", "x=0"), ("bef-rlsvi", "x=10"), ("bef-rlsvi", ""), ("exp-psrl", "")):
            head = {"agent": agent, "setting": setting, "varied": what, "episodes": count, "seeds": seeds}
            for place, value in enumerate(values):
                mean = value**0.5 * rng.uniform(1, 2)
                ends = {"mean": mean, "low": 0.9 * mean, "high": 1.2 * mean}
                envelopes.append(head | ends | {"value": value, "eps": 0.1, "edge": ("none", "large")[place % 2]})
            slope = {"slope": 0.5, "low": 0.4, "high": 0.6, "first": 2.0, "last": 9.0, "inside": 0.5, "claimed": 0.5}
            slopes.append(head | slope | {"edge": "large" if setting == "x=0" else "none"})
    return {"envelopes": envelopes, "slopes": slopes}


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


def theorem_tables(first):
    """A bound that falls as the root of K and is 1 at K = first."""
    bound = [
        {"K": 10.0**power, "term": term, "value": 1.0, "trivial": 2.0, "ratio": share * math.sqrt(first / 10.0**power)}
        for power in range(13)
        for term, share in (("noise", 0.25), ("all", 1.0))
    ]
    facts = {"first K, trivial": first, "first K, random": 8 * first, "share, noise": 0.25, "share, learning": 0.5}
    facts |= {"x, theorem": 9e4, "x, lemma": 300.0, "x, sketch": 5e3, "K of x": 1000, "eta": 1.0, "delta": 0.05}
    return {"bound": bound, "facts": [{"quantity": key, "value": value} for key, value in facts.items()]}


REPETITIONS = 5


def study_tables(kind, settings):
    """The tables of a component study on a small chain."""
    return components.run(kind, "chain-2", instances.build("chain", {"bins": 2, "horizon": 3}), 0, settings)


@pytest.fixture(scope="module")
def sources(results, case_tables, tmp_path_factory):
    """By kind of figure, the paths of its tables: real ones of cases, made-up ones of two instances of components."""
    rng = np.random.default_rng(20)
    names, planned = estimators.registry.names(), planners.registry.names()
    made = {
        "exploration": [exploration_tables(9, rng, matters=True), exploration_tables(7, rng, matters=False)],
        "densities": [density_tables("density", 3, rng), density_tables("probability", 2, rng)],
        "estimators": [estimator_tables(names, 6, rng), estimator_tables(names[3:5], REPETITIONS, rng)],
        "planners": [planner_tables(planned, REPETITIONS, rng), planner_tables(["exact", "rff"], 8, rng)],
        "theorem": [theorem_tables(1e9), theorem_tables(1e7)],
        "traps": [trap_tables(9, rng), trap_tables(6, rng)],
        "rates": [
            rate_tables(6, [("K", [2, 10, 20], 20), ("d", [4, 8], 7), ("H", [3, 6], 7)], rng),
            rate_tables(8, [("K", [2, 10, 20], 20)], rng),
        ],
        "proof": [study_tables("proof", {"episodes": 5, "seeds": seeds}) for seeds in (3, 4)],
        "repairs": [study_tables("repairs", {"horizons": [horizon]}) for horizon in (1, 2)],
    }
    layout = Layout(tmp_path_factory.mktemp("components"))
    for study, both in made.items():
        for instance, tables in zip(("first", "second"), both, strict=True):
            for table, rows in tables.items():
                timings = layout.component_timings(study, instance)
                path = timings if table == "timings" else layout.component(study, table, instance)
                text = tidy.text([row | {"instance": instance} for row in rows], components.tables(study)[table])
                storage.write_text(path, text)
    for name, rows in zip(("values", "curves"), published_tables(), strict=True):
        storage.write_text(layout.published(name, "ayoub"), tidy.text(rows, published.COLUMNS))
    cases = [UNKNOWN]
    storage.write_text(layout.table1(), tidy.text(table1.rows(results, cases), table1.COLUMNS))
    storage.write_text(layout.table1_timings(), tidy.text(table1.timings(results, cases, []), table1.TIMINGS))
    storage.write_text(layout.ledger(), ledger.table(some_claims()))
    shown = {"component": ["first", "second"], "published": ["ayoub"], "table": ["table1"]}
    return {
        kind: figures.tables(layout, kind, shown[figures.scope(kind)])
        if figures.scope(kind) in shown
        else case_tables(kind, *([UNKNOWN] if figures.scope(kind) == "case" else []))
        for kind in figures.registry.names()
    }


def some_claims():
    """Records of a few claims, one for each verdict."""
    verdicts = {"C37": "holds", "C39": "corrected", "C46": "fails", "C33": "open"}
    rest = {"grade": "search", "worst_case": 0.5, "instance": {}, "correction": "", "second": None}
    return [{"id": id, "verdict": verdict} | rest for id, verdict in verdicts.items()]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def drawn(kind, paths):
    """The figure itself."""
    style.apply()
    return figures.registry.module(kind).draw(render.read_tables(kind, paths))


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
    [
        pytest.param(kind, marks=() if kind in ("regret", "table1") else pytest.mark.slow)
        for kind in figures.registry.names()
    ],
)
def test_drawn_twice_a_figure_has_the_same_bytes(case_tables, sources, rendered, tmp_path, kind):
    before = content(rendered(kind))
    drawn("regret", case_tables("regret", KNOWN))  # what was drawn before must not matter
    render.render(kind, sources[kind], tmp_path / kind, "make reproduce", headline=True)
    assert content(tmp_path / kind) == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", figures.registry.names())
def test_another_process_draws_the_same_bytes(sources, rendered, tmp_path, kind):
    call = [sys.executable, "-m", "befrl", "figure", kind, "--tables", *sources[kind]]
    call += ["--out", tmp_path / kind, "--command", "make reproduce", "--headline", kind]
    subprocess.run(call, check=True, env=ENVIRONMENT | {"PYTHONHASHSEED": "77"})
    assert content(tmp_path / kind) == content(rendered(kind))


@pytest.mark.parametrize("kind", figures.registry.names())
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
    "exploration": (7, "7 seeds", "bars: intervals of the means"),
    "densities": (1, "one seed", "dashed lines and dots: the penalised maximum-likelihood estimate"),
    "estimators": (REPETITIONS, f"{REPETITIONS} samples", "shaded: 10 to 90 % of the samples"),
    "planners": (REPETITIONS, f"{REPETITIONS} draws", "Dashed: exact planning"),
    "traps": (6, "6 to 9 seeds", "95 % interval (shaded)"),
    "rates": (6, "6 to 8 seeds for each gap", "Shaded: bootstrap interval"),
    "bad-rounds": (3, "3 seeds, K = 5", "shaded: interval of the mean"),
    "coverage-regions": (3, "3 seeds, K = 5", "shaded: up to the 0.95 quantile"),
    "optimism-episodes": (3, "3 seeds, K = 5", "shaded: interval of the mean"),
    "repairs": (None, "All that the proof needs holds together on: no instance", "Circles: all red ones hold"),
    "published": (4, "4 seeds", "Dashed: constants of the theory."),
    "claims-map": (None, "85 claims", "Coloured lines"),
    # Formulas alone.
    "bound": (None, "No seeds", "from 1.0e+07 on second to 1.0e+09 on first"),
    "noise-forms": (None, "No seeds", "3.0e+02 to 3.0e+02 times as large"),
    # Measured seconds are of the machine, not of seeds.
    "estimators-cost": (None, "Seconds of one update", "Flat lines"),
    "planners-cost": (None, "Median seconds of one plan", "Dashed: exact planning"),
    "cost": (None, "Processor time", "seeds in lock step"),
}
# Figures with intervals: as thick and thin lines, or as bands or bars.
THICK = {"ordering", "table1"}
BANDS = {"regret", "regret-theory", "noise-scale", "optimism"}


@pytest.mark.parametrize("kind", figures.registry.names())
def test_the_sidecar_says_what_is_drawn(rendered, kind):
    about = storage.read_json(f"{rendered(kind)}.json")
    keys = {"name", "title", "caption", "command", "headline", "section", "seeds", "measured", "plotted"}
    assert set(about) == keys
    assert (about["name"], about["command"], about["headline"]) == (kind, "make reproduce", True)
    with_intervals = "interval of the mean" if kind in THICK | BANDS else ""
    seeds, words, bands = CAPTIONS.get(kind, (SEEDS, f"{SEEDS} seeds", with_intervals))
    assert about["seeds"] == seeds
    assert about["title"]
    assert words in about["caption"] and bands in about["caption"]
    if kind not in CAPTIONS:
        assert "15 episodes" in about["caption"]
    if kind in THICK:
        assert "thick: interval of the mean, thin: 10 to 90 % of the seeds" in about["caption"]
    elif kind in BANDS:
        assert "shaded: " in about["caption"] or "bars: " in about["caption"]


@pytest.mark.parametrize("kind", figures.registry.names())
def test_seconds_are_shown_by_figures_of_timings_alone(rendered, kind):
    """Committed figures must not change from run to run."""
    about = storage.read_json(f"{rendered(kind)}.json")
    tables = figures.registry.module(kind).TABLES
    assert about["measured"] == figures.measured(kind) == (list(tables) == ["timings"])
    columns = {column for columns in tables.values() for column in columns}
    assert about["measured"] == bool(columns & {"seconds", "seconds_per_episode", "exponent_k"})


def test_every_component_study_is_drawn():
    kinds = [kind for kind in figures.registry.names() if figures.scope(kind) == "component"]
    subjects = {figures.registry.module(kind).SUBJECT for kind in kinds}
    # The exponents of scaling are part of the timings of Table 1.
    assert sorted([*subjects, "scaling"]) == components.registry.names()
    for kind in kinds:
        module = figures.registry.module(kind)
        for table, columns in module.TABLES.items():
            assert set(columns) <= set(components.tables(module.SUBJECT)[table])


def test_a_figure_wants_all_its_tables(sources):
    with pytest.raises(InputError, match="figure 'regret' takes one file for each of its tables: summary, curves"):
        render.read_tables("regret", sources["regret"][:1])
    both = [*sources["regret"], *sources["tuning"]]
    with pytest.raises(InputError, match="one file for each of its tables: summary, curves; summary, tuning"):
        render.render_all(["regret", "tuning"], both[:3], ["a", "b"])
    with pytest.raises(InputError, match="once for each of regret, tuning"):
        render.render_all(["regret", "tuning"], both, ["a"])


def test_the_number_of_settings_in_the_caption_is_that_of_the_grids():
    grids = components.registry.module("exploration").GRIDS
    assert [len(values) for _, values in grids.values()] == [4, 4, 4]
    page = Path(befrl.__file__).parent / "report" / "page.html.j2"
    for text in (Path(figures.registry.module("exploration").__file__).read_text(), page.read_text()):
        assert "best of three agents with four settings each" in " ".join(text.split())


def test_the_caption_says_which_track_and_family(case_tables):
    unknown, known = (
        figures.registry.module("regret").describe(render.read_tables("regret", case_tables("regret", case)))
        for case in CASES
    )
    assert "reward unknown" in unknown["title"] and "track U" in unknown["caption"]
    assert "reward known" in known["title"] and "track K" in known["caption"]
    assert "oracle" not in unknown["caption"] and "zero" not in unknown["caption"]
    theory = figures.registry.module("regret-theory").describe(
        render.read_tables("regret-theory", case_tables("regret-theory", UNKNOWN))
    )
    assert "tuned" in unknown["title"] and "Solid: best of the configurations tried" in unknown["caption"]
    assert "constants of the theory" in theory["title"] and "Solid" not in theory["caption"]


@pytest.mark.parametrize(
    ("kind", "words"),
    [("noise-scale", "No sweep over x"), ("optimism", "No sweep over x"), ("tuning", "No agent was tuned")],
)
def test_a_study_without_a_sweep_or_tuning_has_its_figures_too(case_tables, tmp_path, kind, words):
    render.render(kind, case_tables(kind, KNOWN), tmp_path / kind, "")
    assert words in storage.read_json(tmp_path / f"{kind}.json")["caption"]


# What is drawn.


@pytest.mark.parametrize("kind", ["regret", "regret-theory"])
def test_curves_are_those_of_the_table(sources, kind):
    """Of each agent but the oracle: tuned where it is, or at its own constants."""
    figure = drawn(kind, sources[kind])
    (tables,) = render.read_tables(kind, sources[kind])
    summary, curves = tables["summary"].set_index("variant", drop=False), tables["curves"]
    best = "@tuned" if kind == "regret" else ""
    everywhere = {"bef-rlsvi" + best, "greedy", "random"}
    members = {"least squares": {"lsvi-ucb" + best}, "baselines": {"newcomer"}}
    assert [axes.get_title() for axes in figure.axes if axes.get_title()] == list(members)
    for axes, others in zip(figure.axes, members.values(), strict=False):
        # In the order of drawing, the worst first.
        rows = summary.loc[sorted(everywhere | others)].sort_values("mean", ascending=False, kind="stable")
        assert len(axes.collections) == len(axes.get_lines()) == len(rows)
        bottom = axes.get_ylim()[0] / 0.9
        for line, band, row in zip(axes.get_lines(), axes.collections, rows.itertuples(), strict=True):
            curve = curves[curves["variant"] == row.variant]
            assert np.allclose(line.get_ydata(), curve["mean"].clip(lower=bottom), rtol=1e-12)
            assert line.get_label() == row.agent
            edge = band.get_paths()[0].vertices[:, 1]
            for name in ("low", "high"):
                assert np.isclose(curve[name].clip(lower=bottom).to_numpy()[:, None], edge).any(1).all()
        labels = sorted(text.get_text() for text in axes.get_legend().get_texts())
        assert labels == sorted(rows["agent"])


def without_regret(tables, variant):
    """The tables with a variant whose regret is zero from the first episode."""
    found = {name: table.copy() for name, table in tables.items()}
    for table in found.values():
        numbers = [name for name in ("mean", "low", "high", "q10", "q50", "q90") if name in table]
        if "variant" in table:
            table.loc[table["variant"] == variant, numbers] = 0.0
    return found


def test_an_agent_without_regret_is_drawn_and_named(sources):
    """Along the lower edge of the curves, with a word in the legend and the caption; in the order, at the left edge."""
    module = figures.registry.module("regret")
    tables = without_regret(render.read_tables("regret", sources["regret"])[0], "newcomer")
    style.apply()
    axes = next(axes for axes in module.draw([tables]).axes if axes.get_title() == "baselines")
    (line,) = [line for line in axes.get_lines() if line.get_label() == "newcomer (zero)"]
    assert len(set(line.get_ydata())) == 1
    assert line.get_ydata()[0] < min(other.get_ydata().max() for other in axes.get_lines() if other is not line)
    assert "Along the lower edge: newcomer, with zero regret." in module.describe([tables])["caption"]
    tables = without_regret(render.read_tables("ordering", sources["ordering"])[0], "newcomer")
    left = figures.registry.module("ordering").draw([tables]).axes[0]
    arrows = [line for line in left.get_lines() if line.get_marker() == "<"]
    assert [line.get_xdata()[0] for line in arrows] == [pytest.approx(left.get_xlim()[0])]


def crowd(counts, baselines=("greedy",)):
    """Rows of a summary: {algorithm: number of agents}."""
    rows = [(f"{name}-{i}", name) for name, count in counts.items() for i in range(count)]
    rows += [(name, name) for name in baselines]
    return pd.DataFrame(rows, columns=["agent", "algorithm"])


def test_many_agents_are_drawn_in_groups_with_the_references_in_each():
    panels = figures.registry.module("regret").panels(crowd({"exp-ucrl": 2, "psrl": 1, "mine": 1}))
    assert {title: list(rows["algorithm"]) for title, rows in panels.items()} == {
        "exponential family": ["exp-ucrl", "exp-ucrl", "greedy"],
        "mixtures, factors and tables": ["psrl", "greedy"],
        "others": ["mine", "greedy"],
    }
    assert list(figures.registry.module("regret").panels(crowd({}))) == ["baselines"]


def test_a_crowded_group_is_split_and_nobody_is_lost():
    module = figures.registry.module("regret")
    rows = crowd({"bef-rlsvi": 7, "exp-ucrl": 4}, baselines=("bef-rlsvi", "greedy", "random"))
    panels = module.panels(rows)
    assert list(panels) == [f"exponential family ({i})" for i in (1, 2, 3, 4)]
    assert all(len(part) <= module.MOST and set(part["agent"]) >= set(module.REFERENCES) for part in panels.values())
    shown = [agent for part in panels.values() for agent in part["agent"] if agent not in module.REFERENCES]
    assert sorted(shown) == sorted(set(rows["agent"]) - set(module.REFERENCES))


def test_the_order_the_letters_and_the_gaps_are_those_of_the_table(sources):
    (tables,) = render.read_tables("ordering", sources["ordering"])
    order, summary = tables["order"], tables["summary"].set_index("variant")
    order = order[order["family"] == "tuned"]
    left, letters, right = drawn("ordering", sources["ordering"]).axes
    dots = [[line for line in axes.get_lines() if line.get_marker() == "o"] for axes in (left, right)]
    assert [line.get_xdata()[0] for line in dots[0]] == [summary.loc[name, "mean"] for name in order["variant"]]
    assert [line.get_xdata()[0] for line in dots[1]] == list(order["gap"][1:])
    assert [text.get_text() for text in letters.texts] == list(order["group"])
    labels = [label.get_text() for label in left.get_yticklabels()]
    rows = summary.loc[order["variant"]]
    marks = [
        "*" * star + " °" * (changed == 0) for star, changed in zip(rows["edge_matters"], rows["changed"], strict=True)
    ]
    assert any(marks) and labels == [agent + mark for agent, mark in zip(order["agent"], marks, strict=True)]
    ends = [list(line.get_xdata()) for line in right.get_lines() if len(line.get_xdata()) == 2][:-1]
    assert ends == order[["gap_low", "gap_high"]][1:].to_numpy().tolist()
    failed = [text.get_text() for text in left.texts]
    assert failed == [f"{share:.1%}" if share > 0 else "" for share in summary.loc[order["variant"], "failed"]]


def test_tuning_shows_all_configurations_and_those_that_were_evaluated(sources):
    (tables,) = render.read_tables("tuning", sources["tuning"])
    summary, tuning = tables["summary"].set_index("variant"), tables["tuning"]
    (axes,) = drawn("tuning", sources["tuning"]).axes
    agents_shown = [label.get_text() for label in axes.get_yticklabels()]
    assert sorted(agents_shown) == ["bef-rlsvi", "lsvi-ucb"]
    assert summary.loc[f"{agents_shown[0]}@tuned", "mean"] <= summary.loc[f"{agents_shown[1]}@tuned", "mean"]

    def at(marker, line):
        found = [each for each in axes.get_lines() if each.get_marker() == marker and set(each.get_ydata()) == {line}]
        return [x for each in found for x in each.get_xdata()]

    for line, agent in enumerate(agents_shown):
        assert sorted(at(".", line)) == sorted(tuning[tuning["agent"] == agent]["first_mean"])
        for role, marker in (("tuned", "o"), ("median", "|"), ("worst", "s")):
            assert at(marker, line) == [summary.loc[f"{agent}@{role}", "mean"]]
        assert at("x", line) == [summary.loc[agent, "mean"]]


def test_the_authors_numbers_are_stars(sources):
    figure = drawn("published", sources["published"])
    stars = [line for axes in figure.axes for line in axes.get_lines() if line.get_marker() == "*"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in stars] == [(20, 12.0)]
    assert [axes.get_title() for axes in figure.axes] == ["one", "two"]


def test_table1_shows_both_scales_and_the_papers_marks(sources):
    figure = drawn("table1", sources["table1"])
    table = render.read_tables("table1", sources["table1"])[0]["table"]
    words, regret = figure.axes[:2]
    texts = [text.get_text() for text in words.texts]
    assert "√(d³H³K)" in texts and texts.count("✓") == 3
    means = {line.get_xdata()[0] for line in regret.get_lines() if line.get_marker() == "o"}
    rows = table[table["theory_mean"] > 1e-6]
    assert means == {*rows["theory_mean"], *rows["tuned_mean"].dropna()}
    for marker, column in (("|", "median_mean"), ("x", "worst_mean")):
        found = {line.get_xdata()[0] for line in regret.get_lines() if line.get_marker() == marker}
        assert found == set(rows[column].dropna()) and found
    # The oracle's regret is zero: a triangle at the edge.
    assert [line.get_xdata()[0] for line in regret.get_lines() if line.get_marker() == "<"] == [regret.get_xlim()[0]]
    shown = figures.registry.module("table1").shown(table)
    assert shown["agent"].iloc[0] == "bef-rlsvi"


def test_table1_says_who_cannot_be_told_apart_and_who_ties(sources):
    figure = drawn("table1", sources["table1"])
    table = figures.registry.module("table1").shown(render.read_tables("table1", sources["table1"])[0]["table"])
    # The oracle has none.
    letters = ["theory_group", "tuned_group"]
    assert table.loc[table["agent"] == "oracle", letters].isna().all(axis=None)
    table[letters] = table[letters].fillna("")
    texts = [text.get_text() for text in figure.axes[2].texts]
    expected = []
    for row in table.itertuples():
        expected.append("tie" if row.theory_tied > 0.99 else row.theory_group)
        expected += [row.tuned_group] if row.tuned_mean == row.tuned_mean else []
    assert texts == expected and "tie" in texts


def test_cost_shows_the_time_of_an_episode_and_its_growth(sources):
    figure = drawn("cost", sources["cost"])
    table = render.read_tables("cost", sources["cost"])[0]["timings"]
    rows = figures.registry.module("table1").shown(table)
    names, cost, growth = figure.axes
    assert [text.get_text() for text in names.texts] == list(rows["agent"])
    assert [line.get_xdata()[0] for line in cost.get_lines()] == list(1000 * rows["seconds"])
    # With 15 episodes no exponent in k is measured, and without a scaling study none in d and H.
    assert [text.get_text() for text in growth.texts] == ["k", "d", "H"]


def test_marks_are_those_of_the_agent_and_are_explained():
    rows = pd.DataFrame(
        [("ren-ts", "misspecified", "tuned"), ("greedy", "exact", "baseline"), ("smrl", "exact", "surrogate"),
         ("smrl", "exact", "tuned"), ("own", "misspecified", "surrogate")],
        columns=["agent", "specification", "role"],
    )  # fmt: skip
    expected = {"ren-ts": "ren-ts †", "greedy": "greedy", "smrl": "smrl ‡", "own": "own †‡"}
    assert style.names(rows) == expected
    # Table 1 has one row for each agent, which says whose constants it runs with.
    assert style.names(rows.drop(3).rename(columns={"role": "constants"})) == expected
    both = " †: the instance does not satisfy the algorithm's assumptions. ‡: surrogate constants; the source's are "
    assert style.explained(rows) == both + "not known."
    assert "†" not in style.explained(rows[1:4]) and style.explained(rows[1:2]) == ""


def test_line_styles_are_explained_where_they_are_used():
    """Each sentence belongs to a line style, and each role to one sentence."""
    words = {"theory": "Dashed", "surrogate": "Dashed", "tuned": "Solid", "sweep": "Thin", "set": "Dash-dotted"}
    words |= {"baseline": "Dotted", "outside": "Dash-dot-dotted"}
    assert set(words) == set(style.LINES)
    for role, word in words.items():
        text = style.line_styles([role, role])
        assert text.startswith(f"{word}: ") and text.count(".") == 1
    assert style.line_styles(["theory", "surrogate"]) == style.line_styles(["surrogate"])
    assert style.line_styles(style.LINES).count(":") == 6
    assert style.LINES["surrogate"] == style.LINES["theory"]


def test_surrogate_constants_are_drawn_as_the_theorys_and_marked(sources, tmp_path):
    paths = []
    for path in sources["regret-theory"]:
        paths.append(tmp_path / path.name)
        storage.write_text(paths[-1], path.read_text().replace(",theory,", ",surrogate,"))
    both = drawn("regret-theory", paths), drawn("regret-theory", sources["regret-theory"])
    looks = [
        [(line.get_linestyle(), line.get_zorder()) for axes in figure.axes for line in axes.get_lines()]
        for figure in both
    ]
    assert looks[0] == looks[1]
    assert "bef-rlsvi ‡" in [text.get_text() for text in both[0].axes[0].get_legend().get_texts()]
    caption = figures.registry.module("regret").describe(render.read_tables("regret", paths))["caption"]
    assert "‡: surrogate constants; the source's are not known." in caption


def colours(kind, paths):
    """Colours of the lines of a figure."""
    return {to_hex(line.get_color()) for axes in drawn(kind, paths).axes for line in axes.get_lines()}


def test_an_agent_has_the_same_colour_in_all_figures(sources, case_tables):
    own, other, ucb, greedy, random = (
        to_hex(style.colour(name)) for name in ("bef-rlsvi", "exp-psrl", "lsvi-ucb", "greedy", "random")
    )
    # The newcomer runs greedy's algorithm and has its colour.
    assert style.colour("newcomer", "greedy") == style.colour("greedy")
    assert colours("regret", sources["regret"]) == {own, ucb, greedy, random}
    assert colours("regret", case_tables("regret", KNOWN)) == {other, greedy, random}
    assert colours("ordering", sources["ordering"]) == {own, ucb, greedy, random, to_hex("black")}
    assert colours("noise-scale", sources["noise-scale"]) == {own, greedy, random, to_hex("black")}
    assert own in colours("optimism", sources["optimism"])


def test_known_agents_have_looks_of_their_own():
    assert set(style.LOOKS) <= set(agents.registry.names())
    looks = {(to_hex(colour), marker) for colour, marker in style.LOOKS.values()}
    assert len(looks) == len(style.LOOKS)
    assert not {colour for colour, _ in looks} & {to_hex(colour) for colour in newcomers.COLOURS}


@pytest.mark.parametrize("name", ["config", "full", "smoke"])
def test_agents_of_a_panel_look_different(name):
    """In the studies that come with the project: colour and marker tell the agents of each panel apart."""
    study = config.load(config.SCHEMA.parent / f"{name}.yaml", config.SCHEMA)
    for instance, _ in study.compared_cases():
        rows = [(agent, study.agent(instance, agent)["algorithm"]) for agent in study["study"][instance]["agents"]]
        panels = figures.registry.module("regret").panels(pd.DataFrame(rows, columns=["agent", "algorithm"]))
        for title, part in panels.items():
            looks = [tuple(sorted(style.look(row.agent, row.algorithm).items())) for row in part.itertuples()]
            assert len(set(looks)) == len(looks), (instance, title)


# What is drawn of components.


def frames(paths):
    return [pd.read_csv(path) for path in paths]


def lines_of(axes, points=None):
    """Its lines, or those of so many points."""
    return [line for line in axes.get_lines() if points in (None, len(line.get_xdata()))]


def test_exploration_shows_shares_of_the_regret_of_random_play(sources):
    (axes,) = drawn("exploration", sources["exploration"]).axes
    expected = [row for table in frames(sources["exploration"]) for row in table.itertuples()]
    intervals = [line for line in lines_of(axes, 2) if line.get_xdata()[0] != line.get_xdata()[1]]
    means = lines_of(axes, 1)
    for line, point, row in zip(intervals, means, expected, strict=True):
        assert list(line.get_xdata()) == [row.low, row.high]
        assert list(point.get_xdata()) == [row.share]
        assert point.get_ydata()[0] == line.get_ydata()[0]
        assert to_hex(line.get_color()) == to_hex(point.get_color()) == to_hex(style.colour(row.agent))
        assert (to_hex(point.get_markerfacecolor()) == "#ffffff") == (row.agent == "greedy")
    # Exploration matters on the first instance alone.
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second (no)"]


def test_the_bound_of_theorem_1_is_that_of_the_table(sources):
    """In the order of the first K, with a dot where the curve meets the line at 1."""
    (axes,) = drawn("bound", sources["bound"]).axes
    bounds = [table for table in frames(sources["bound"]) if "ratio" in table]
    curves, dots = lines_of(axes, 13), lines_of(axes, 1)
    assert [line.get_label() for line in curves] == ["second: 1.0e+07", "first: 1.0e+09"]
    for line, dot, table in zip(curves, dots, reversed(bounds), strict=True):
        whole = table[table["term"] == "all"]
        assert np.array_equal(line.get_xdata(), whole["K"]) and np.array_equal(line.get_ydata(), whole["ratio"])
        assert np.interp(math.log(dot.get_xdata()[0]), np.log(whole["K"]), whole["ratio"]) == dot.get_ydata()[0] == 1.0


def test_the_forms_of_the_noise_scale_are_those_of_the_table(sources):
    (axes,) = drawn("noise-forms", sources["noise-forms"]).axes
    shown = {line.get_label(): list(line.get_xdata()) for line in lines_of(axes)}
    assert shown == {"theorem": [9e4, 9e4], "sketch": [5e3, 5e3], "lemma": [300.0, 300.0]}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second"]


def test_traps_show_every_share_and_at_most_six_curves(sources):
    axes = drawn("traps", sources["traps"]).axes
    tables = frames(sources["traps"])
    for number, (never, points) in enumerate(zip(tables[::2], tables[1::2], strict=True)):
        shares, curves = axes[2 * number : 2 * number + 2]
        for row, line, point in zip(never.itertuples(), lines_of(shares, 2), lines_of(shares, 1), strict=True):
            assert (list(line.get_xdata()), list(point.get_xdata())) == ([row.low, row.high], [row.never])
            assert to_hex(line.get_color()) == to_hex(point.get_color()) == to_hex(style.colour(row.agent))
        labels = [label.get_text() for label in shares.get_yticklabels()]
        assert len(set(labels)) == len(never) and "bef-rlsvi, x = 1e0 (theory)" in labels
        assert len(curves.get_lines()) <= 6
        for line in curves.get_lines():
            row = never[labels.index(line.get_label()) :].iloc[0]
            same = points["setting"].fillna("").eq(row.fillna("")["setting"]) & (points["ties"] == row["ties"])
            assert list(line.get_ydata()) == list(points[same & (points["agent"] == row["agent"])]["regret"])


def test_rates_show_envelopes_with_their_slopes_and_edges(sources):
    axes = drawn("rates", sources["rates"]).axes
    titles = [axis.get_title() for axis in axes]
    ours, others, *grown = (
        f"first: {words}" for words in ("bef-rlsvi", "other agents", "growth with d", "growth with H")
    )
    assert titles == [ours, others, *grown, "second: bef-rlsvi", "second: other agents"]
    words = [[text.get_text() for text in axis.get_legend().get_texts()] for axis in axes]
    slope = "0.50 [0.40, 0.60]"
    greedy, both, theory = f"x=0 (greedy): {slope}, edge", f"x=10: {slope}", f"theory: {slope}"
    assert words[0] == [f"bef-rlsvi {each}" for each in (greedy, both, theory)]
    assert words[1] == [f"bef-rlsvi {both}", f"exp-psrl {theory}"] and len(words[2]) == 4
    table = tidy.read(sources["rates"][0])
    part = table[(table["varied"] == "K") & (table["setting"] == "x=0")]
    line, inside, edge = axes[0].get_lines()[:3]
    assert list(line.get_ydata()) == list(part["mean"])
    assert to_hex(line.get_color()) == to_hex(style.colour("greedy"))
    assert list(inside.get_xdata()) == [2, 20] and list(edge.get_xdata()) == [10]
    assert to_hex(edge.get_markerfacecolor()) == "#ffffff" != to_hex(inside.get_markerfacecolor())


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


def by_name(table, key, size, column):
    """{name: (sizes, values)} as in the table."""
    return {name: (list(part[size]), list(part[column])) for name, part in table.groupby(key, sort=False)}


def test_bad_rounds_and_optimism_are_shown_by_the_numbers_of_the_tables(sources):
    for kind, names, column in (
        ("bad-rounds", ["multiple", "rounds"], "mean"),
        ("optimism-episodes", "multiple", "share"),
    ):
        figure = drawn(kind, sources[kind])
        for axes, table in zip(figure.axes, frames(sources[kind]), strict=True):
            curves = [line for line in axes.get_lines() if line.get_marker() not in ("None", None)]
            for line, (_, rows) in zip(curves, table.groupby(names, sort=False), strict=True):
                assert list(line.get_xdata()) == list(rows["k"]) and list(line.get_ydata()) == list(rows[column])
            levels = {
                line.get_ydata()[0] for line in axes.get_lines() if line.get_label() in ("Φ(-1)", "printed bound")
            }
            assert levels == {table["promised" if kind == "optimism-episodes" else "printed"].iloc[0]}
            assert len(axes.collections) == len(curves) <= 6


def test_regions_are_shown_for_the_smallest_and_the_largest_penalty_with_their_coverage(sources):
    figure = drawn("coverage-regions", sources["coverage-regions"])
    tables = frames(sources["coverage-regions"])
    shown = [table[table["eta"] == eta] for table in tables for eta in (table["eta"].min(), table["eta"].max())]
    for axes, table in zip(figure.axes, shown, strict=True):
        *curves, one = axes.get_lines()
        assert list(one.get_ydata()) == [1.0, 1.0]
        groups = [rows for _, rows in table.groupby(["parameter", "radius"], sort=False)]
        for line, rows in zip(curves, groups, strict=True):
            assert list(line.get_ydata()) == list(rows["median"])
        shares = ", ".join(f"{100 * rows['covered'].iloc[-1]:.0f}" for rows in groups)
        assert [text.get_text() for text in axes.texts] == [f"covered: {shares} %"]


def test_a_filled_square_is_a_hypothesis_that_holds(sources):
    (axes,) = drawn("repairs", sources["repairs"]).axes
    tables = render.read_tables("repairs", sources["repairs"])
    filled = {
        (line.get_xdata()[0], line.get_ydata()[0]): to_hex(line.get_markerfacecolor()) != "#ffffff"
        for line in axes.get_lines()
    }
    column = 0
    for table in tables:
        for _, answer in table["answers"].iterrows():
            rows = table["hypotheses"][table["hypotheses"]["H"] == answer["H"]]
            last = len(rows) + 1
            assert [filled[column, line] for line in range(len(rows))] == list(rows["holds"])
            assert (filled[column, last], filled[column, last + 1]) == (answer["proof"], answer["printed"])
            column += 1
    assert len(axes.get_xticklabels()) == column == 4 and len(set(filled.values())) == 2


@pytest.mark.parametrize(("kind", "column"), [("estimators", "kl"), ("estimators-cost", "seconds")])
def test_estimators_are_shown_by_the_numbers_of_the_table(sources, kind, column):
    figure = drawn(kind, sources[kind])
    looks = figures.registry.module("estimators").LOOKS
    for axes, table in zip(figure.axes, frames(sources[kind]), strict=True):
        expected = by_name(table, "estimator", "transitions", column)
        for (name, numbers), line in zip(expected.items(), axes.get_lines(), strict=True):
            assert (list(line.get_xdata()), list(line.get_ydata())) == numbers
            assert (line.get_color(), line.get_marker()) == (looks.get(name) or newcomers.look(name))
        assert len(axes.collections) == (len(expected) if column == "kl" else 0)
        for name, band in zip(expected, axes.collections, strict=False):
            (shape,) = band.get_paths()
            for row in table[table["estimator"] == name].itertuples():
                edge = shape.vertices[shape.vertices[:, 0] == row.transitions][:, 1]
                assert [edge.min(), edge.max()] == [row.kl_low, row.kl_high]
        assert axes.get_title() == table["instance"][0]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == estimators.registry.names()


@pytest.mark.parametrize("kind", ["planners", "planners-cost"])
def test_planners_are_shown_by_the_numbers_of_the_table(sources, kind):
    figure, module = drawn(kind, sources[kind]), figures.registry.module("planners")
    columns = list(module.NAMES) if kind == "planners" else ["seconds"]
    at_rim = 0
    for axes, (table, column) in zip(
        figure.axes, [(table, column) for table in frames(sources[kind]) for column in columns], strict=True
    ):
        expected = by_name(table[table["planner"] != "exact"], "planner", "features", column)
        low, high = module.RIMS.get(column, (0.0, np.inf))
        exact = table[table["planner"] == "exact"][column].iloc[0]
        lines = axes.get_lines()
        # The value error of exact planning is zero, which has no place on a logarithmic axis.
        assert len(lines) == len(expected) + (column != "value_error")
        if column != "value_error":
            assert list(lines[-1].get_ydata()) == [min(max(exact, low), high)] * 2
        for (name, (sizes, values)), line in zip(expected.items(), lines, strict=False):
            shown = [min(max(value, low), high) for value in values]
            at_rim += shown != values
            assert (list(line.get_xdata()), list(line.get_ydata())) == (sizes, shown)
            assert (line.get_color(), line.get_marker()) == (module.LOOKS.get(name) or newcomers.look(name))
    assert bool(at_rim) == (kind == "planners")
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == set(planners.registry.names())


@pytest.mark.parametrize(("kind", "known"), [("estimators", estimators.registry), ("planners", planners.registry)])
def test_estimators_and_planners_have_looks_of_their_own(kind, known):
    """Those that are new have the colours of newcomers, which nothing known has."""
    looks = figures.registry.module(kind).LOOKS
    assert set(looks) <= set(known.names())
    assert len(set(looks.values())) == len(looks)
    assert not {colour for colour, _ in looks.values()} & set(newcomers.COLOURS)


@pytest.mark.parametrize("kind", figures.registry.names())
def test_a_figure_computes_no_regret(kind):
    """It depends on no code that makes numbers: editing an agent must not redraw figures by itself."""
    modules = provenance.closure("befrl.figures.support.render", figures.registry.module_name(kind))
    forbidden = ("experiment", "planning", "learning", "instances", "agents", "numerics", "model")
    forbidden += ("analysis.components", "analysis.aggregation", "analysis.table1")
    assert not [name for name in modules if name.startswith(tuple(f"befrl.{room}" for room in forbidden))]


# Contents.


def test_the_contents_of_a_figure_are_the_numbers_that_it_plots():
    """A line, a band, markers, a bar and an axis of names, each with known points; fonts and sizes do not count."""

    def made(shift=0.0, size=3):
        figure = Figure(figsize=(size, size))
        axes = figure.subplots()
        x = np.arange(101.0)
        axes.plot(x, x**2 + shift, label="curve")
        axes.fill_between([0.0, 1.0], [1.0, 2.0], [3.0, 4.0])
        axes.scatter([1.0, 2.0], [5.0, 1 / 3])
        axes.barh([0.5], [7.0], height=1.0)
        axes.set(xlabel="episode", title="panel", yscale="log", xlim=(1, 9), ylim=(1, 1e4))
        axes.set_yticks([1, 10], ["one", "ten"])
        axes.legend()
        return contents(figure)

    first = made()
    (axes,) = first["axes"]
    assert (axes["title"], axes["legend"]) == ("panel", ["curve"])
    assert axes["x"] == {"label": "episode", "scale": "linear", "limits": "1 9", "names": []}
    assert axes["y"] == {"label": "", "scale": "log", "limits": "1 10000", "names": ["one", "ten"]}
    line, band, markers, bar = axes["artists"]
    assert (line["kind"], line["label"], line["points"]) == ("line", "curve", 101)
    assert line["x"] == "0 12 25 38 50 62 75 88 100" and line["y"].endswith("7744 10000")
    assert set(zip(band["x"].split(), band["y"].split(), strict=True)) >= {
        ("0", "1"),
        ("0", "3"),
        ("1", "2"),
        ("1", "4"),
    }
    assert (markers["x"], markers["y"]) == ("1 2", "5 0.333333")
    assert set(bar["x"].split()) == {"0", "7"} and set(bar["y"].split()) == {"0", "1"}
    assert made(size=5) == first and made(shift=1.0) != first


# Names.


def test_figures_of_a_study_are_found_by_name():
    cases = [("a", "U"), ("b", "K")]
    wanted = figures.wanted(cases)
    assert wanted["regret_a_U"] == ("regret", [("a", "U")])
    assert wanted["regret_b_K"] == ("regret", [("b", "K")])
    assert "regret_a_K" not in wanted
    assert wanted["noise-scale"] == ("noise-scale", cases)
    with pytest.raises(InputError, match=r"unknown figure 'pie': choose one of .*noise-scale"):
        figures.registry.module("pie")


def test_published_experiments_have_a_figure_each_and_table1_has_two():
    wanted = figures.wanted([("a", "U")], published=["li", "cho"])
    assert wanted["published_li"] == ("published", ["li"])
    assert wanted["published_cho"] == ("published", ["cho"])
    assert wanted["table1"] == ("table1", ["table1"]) and wanted["cost"] == ("cost", ["table1"])


def test_figures_of_components_show_the_instances_of_their_study():
    cases = [("a", "U")]
    wanted = figures.wanted(cases, [("planners", "b"), ("densities", "a"), ("planners", "a")])
    assert wanted["planners"] == ("planners", ["b", "a"]) and wanted["planners-cost"] == ("planners-cost", ["b", "a"])
    assert wanted["densities"] == ("densities", ["a"])
    # A study without instances has no figure.
    assert set(wanted) - set(figures.wanted(cases)) == {"planners", "planners-cost", "densities"}
