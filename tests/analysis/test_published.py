"""Published experiments: values against the tables that they are read from, and settings against the sources."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from befrl import instances
from befrl.analysis import aggregation, published
from befrl.analysis.published import ayoub, cho, li
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.common.layout import Layout
from befrl.experiment import run_file, runs
from befrl.experiment.spec import RunSpec
from befrl.study import config

EPISODES, SEEDS = 60, 3


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    """A study of one small instance in track K."""
    root = tmp_path_factory.mktemp("study")
    instance = instances.build("riverswim", {"kernel": "cho", "states": 3, "horizon": 4})
    layout = Layout(root)
    instances.save(layout.instance("swim"), "swim", instance, {})
    variants = {
        "ucrl-vtr": ("ucrl-vtr", {}),
        "eps-greedy": ("eps-greedy", {"epsilon": 0.1}),
        "rrl-mnl": ("rrl-mnl", {}),
        "rrl-mnl@scale=0.001": ("rrl-mnl", {"scale": 0.001}),
        "rrl-mnl@scale=0.01": ("rrl-mnl", {"scale": 0.01}),
        "ucrl-mnl": ("ucrl-mnl", {}),
        "ucrl-mnl-visits": ("ucrl-mnl", {"likelihood": "visits"}),
        "ucrl-mnl@scale=0.001": ("ucrl-mnl", {"scale": 0.001}),
        "ucrl-mnl@scale=0.01": ("ucrl-mnl", {"scale": 0.01}),
    }
    paths = []
    for label, (algorithm, values) in variants.items():
        seeds = list(range(0 if "@" in label else 1, 1 + SEEDS))
        spec = RunSpec.of(instance, "swim", algorithm, values, EPISODES, seeds, track="K", root_seed=3, label=label)
        log, seconds = runs.run_seeds(spec, lockstep=4)
        paths.append(root / "runs" / f"{label}.npz")
        run_file.save(paths[-1], log, runs.describe(spec, seconds))
    for name, text in aggregation.aggregate(paths, 1, 200, 0.95).items():
        storage.write_text(path_of(layout, name), text)
    return layout


def path_of(layout, table):
    return layout.regret_timings("swim", "K") if table == "timings" else layout.regret(table, "swim", "K")


# The experiment of each source that is about curves.
CURVES = {"cho": "returns", "ayoub": "regret", "li": "reward"}


def tables(source, layout, experiment=None):
    experiments = {experiment or CURVES[source]: ["swim"]}
    made = published.tables(source, published.read(source, layout, experiments))
    return {name: pd.DataFrame(rows, columns=list(published.COLUMNS)) for name, rows in made.items()}


def test_losers_of_a_grid_are_left_out_unless_they_are_asked_for(layout):
    (rerun,) = published.read("cho", layout, {"returns": ["swim"]})["returns"]
    assert len([row for row in rerun.variants() if row["algorithm"] == "rrl-mnl"]) == 2
    assert {row["role"] for row in rerun.variants("tuned")} == {"tuned"}
    # Cho et al. print no constants: all points of the grids are drawn, and compared are the best of them.
    assert "grid" in set(tables("cho", layout)["curves"]["role"])
    for made in (tables("cho", layout)["values"], tables("cho", layout, "runtime")["timings"]):
        assert len(made) and "grid" not in set(made["role"])
    for made in tables("ayoub", layout).values():
        assert "grid" not in set(made["role"])


@pytest.mark.parametrize("source", published.catalogue.names())
def test_every_row_names_its_source_instance_and_unit(layout, source):
    made = tables(source, layout) | (
        {"timings": tables("cho", layout, "runtime")["timings"]} if source == "cho" else {}
    )
    for table in (part for name, part in made.items() if name != "timings" or source == "cho"):
        assert set(table["source"]) == {source} and set(table["instance"]) == {"swim"}
        assert table["unit"].notna().all() and (table["seeds"] == SEEDS).all()
        assert np.isfinite(table["ours"]).all()


def test_curves_show_what_the_source_shows(layout):
    (rerun,) = published.read("cho", layout, {"returns": ["swim"]})["returns"]
    raw = rerun.curve("eps-greedy")
    k = raw["episode"].to_numpy()
    for source, expected in (
        ("ayoub", raw["mean"].to_numpy()),
        ("li", k * rerun.optimal_value - raw["mean"].to_numpy()),
        ("cho", rerun.curve("rrl-mnl")["return"].to_numpy()),  # what has no constants is not among theirs
    ):
        curves = tables(source, layout)["curves"]
        mine = curves[curves["variant"] == ("eps-greedy" if source != "cho" else "rrl-mnl")]
        assert np.allclose(mine["ours"], expected, rtol=1e-12)
        assert (mine["low"] <= mine["ours"] + 1e-9).all() and (mine["ours"] <= mine["high"] + 1e-9).all()


def test_reward_and_regret_add_up(layout, monkeypatch):
    monkeypatch.setattr(li, "AFTER", 40)
    monkeypatch.setattr(ayoub, "AT", (40,))
    reward = tables("li", layout)["values"].set_index("variant")
    regret = tables("ayoub", layout)["values"].set_index("variant")
    best = reward.loc["the true model", "ours"]
    for variant in ("eps-greedy", "ucrl-vtr"):
        assert reward.loc[variant, "ours"] + regret.loc[variant, "ours"] == pytest.approx(best)
        assert reward.loc[variant, "low"] + regret.loc[variant, "high"] == pytest.approx(best)


@pytest.mark.parametrize(
    ("returns", "expected"),
    [([1.0, 1.0, 1.0], 1), ([0.0, 1.0, 1.0], 20), ([1.0, 0.5, 1.0], 30), ([1.0, 1.0, 0.5], 31), ([0.0] * 3, 31)],
)
def test_a_curve_arrives_where_it_stays(returns, expected):
    curve = pd.DataFrame({"episode": [1, 20, 30], "return": returns})
    assert cho.arrival(curve, 1.0) == expected


def test_places_of_cho(layout):
    values = tables("cho", layout)["values"]
    tuned = values[values["role"] == "tuned"]
    arrivals = tuned[tuned["quantity"] == "arrival at the optimum"].set_index("algorithm")["ours"]
    places = tuned[tuned["quantity"] == "order of arrival"].set_index("algorithm")["ours"]
    for algorithm, place in places.items():
        assert place == 1 + (arrivals < arrivals[algorithm]).sum()


def test_the_comparison_of_runtimes_is_measured_and_nothing_else(layout):
    made = tables("cho", layout, "runtime")
    assert made["curves"].empty and made["values"].empty
    assert all(tables(source, layout)["timings"].empty for source in CURVES)
    values = made["timings"].set_index(["quantity", "variant"])
    timings = tidy.read(path_of(layout, "timings")).set_index("variant")
    for variant in ("rrl-mnl", "ucrl-mnl", "ucrl-mnl-visits"):
        ours = values.loc[("seconds of 1,000 episodes", variant), "ours"]
        assert ours == pytest.approx(1000 * timings.loc[variant, "seconds_per_episode"])
        ratio = timings.loc[variant, "estimating"] / timings.loc["rrl-mnl", "estimating"]
        assert values.loc[("updates over those of rrl-mnl", variant), "ours"] == pytest.approx(ratio)
    ratios = values.loc["seconds over those of rrl-mnl"]
    assert ratios.loc["rrl-mnl", "ours"] == 1 and ratios.loc["rrl-mnl", "authors"] == 1
    # The authors' likelihood goes through all data: their number stands beside the variant that does too.
    assert ratios.loc["ucrl-mnl-visits", "authors"] == pytest.approx(4302.3 / 20.3)
    assert np.isnan(ratios.loc["ucrl-mnl", "authors"])


def without(layout, root, name, variant):
    """A copy of the study's tables of which one lacks a variant."""
    copy = Layout(root)
    for table in ("summary", "curves", "timings"):
        lines = Path(path_of(layout, table)).read_text().splitlines()
        kept = [line for line in lines if table != name or f",{variant}," not in line]
        storage.write_text(path_of(copy, table), "\n".join(kept))
    instances.save(copy.instance("swim"), "swim", instances.build("riverswim", {}), {})
    return copy


def test_a_variant_without_seconds_is_named(layout, tmp_path):
    with pytest.raises(
        InputError, match="summary and timings of 'swim' cannot be joined: variant 'ucrl-mnl' has no row"
    ):
        tables("cho", without(layout, tmp_path, "timings", "ucrl-mnl"), "runtime")


def test_seconds_without_those_to_compare_with_are_refused(layout, tmp_path):
    with pytest.raises(InputError, match="no agent on 'swim' runs 'rrl-mnl'"):
        tables("cho", without(layout, tmp_path, "summary", "rrl-mnl"), "runtime")


def test_curves_with_surrogate_constants_are_shown(layout, tmp_path):
    copy = without(layout, tmp_path, "none", "")
    path = Path(path_of(copy, "summary"))
    text = path.read_text()
    path.write_text(text.replace(",exact,theory,", ",exact,surrogate,"))
    assert path.read_text() != text
    assert "surrogate" in set(tables("cho", copy)["curves"]["role"])


def test_an_unknown_experiment_is_named(layout):
    with pytest.raises(InputError, match="unknown experiment of 'cho' 'time': choose one of returns, runtime"):
        published.read("cho", layout, {"time": ["swim"]})


def test_optimal_values_are_those_that_ayoub_et_al_print():
    """Theirs have two decimals and are averages of ten runs of the optimal policy, hence a few hundredths."""
    for name, printed in ayoub.OPTIMAL.items():
        assert instances.build(name, {}).optimal_value == pytest.approx(printed, abs=0.03)


def test_the_study_runs_the_published_settings():
    study = config.load(config.SCHEMA.parent / "config.yaml", config.SCHEMA)
    assert sorted(study["published"]) == published.catalogue.names()
    for source, experiments in study["published"].items():
        assert set(experiments) == set(published.catalogue.module(source).EXPERIMENTS)
    assert set(ayoub.OPTIMAL) == set(study["published"]["ayoub"]["regret"])
    for source, episodes, seeds in (("cho", 10_000, 10), ("ayoub", 50_000, 10), ("li", 50, 5)):
        for name in study["published"][source][CURVES[source]]:
            assert (study["study"][name]["episodes"], study.seeds(name)["evaluation"]) == (episodes, seeds)
    for name in study["published"]["cho"]["runtime"]:
        assert study["study"][name]["episodes"] == cho.FIRST
    algorithms = {
        source: {
            variant.algorithm
            for names in experiments.values()
            for name in names
            for variant in study.variants(name).values()
        }
        for source, experiments in study["published"].items()
    }
    assert algorithms["cho"] == set(cho.SECONDS)
    assert algorithms["li"] == set(li.REWARD)
    assert algorithms["ayoub"] == {algorithm for _, algorithm, _ in ayoub.REGRET}


def test_a_damaged_table_is_named(layout):
    with pytest.raises(InputError, match=r"nowhere_K/summary\.csv: cannot be read|nowhere\.npz: there is no such file"):
        published.read("li", layout, {"reward": ["nowhere"]})
