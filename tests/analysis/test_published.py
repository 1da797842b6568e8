"""Published experiments: values against the tables that they are read from, and settings against the sources."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from befrl import instances
from befrl.analysis import published
from befrl.analysis.published import ayoub, cho, lee, li, tiapkin
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.common.layout import Layout
from befrl.experiment.tuning import Halving
from befrl.numerics import bellman
from befrl.study import config
from cases import Entry, play_all, write_tables

RIVER = ("riverswim", {"kernel": "cho", "states": 3, "horizon": 4})
EPISODES, SEEDS = 60, 3
# The experiment of each source that is about curves.
CURVES = {"cho": "returns", "ayoub": "code", "li": "reward", "tiapkin": "baselines", "lee": "regret"}


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    instance, layout = instances.build(*RIVER), Layout(tmp_path_factory.mktemp("study"))
    instances.save(layout.instance("swim"), "swim", instance, {})
    entries = {
        "ucrl-vtr": Entry("ucrl-vtr"),
        "eps-greedy": Entry("eps-greedy", {"epsilon": 0.1}),
        "rrl-mnl": Entry("rrl-mnl", tune={"scale": [0.001, 0.01], "kappa": 0.1}),
        "ucrl-mnl": Entry("ucrl-mnl", tune={"scale": [0.001, 0.01], "kappa": 1}),
        "ucrl-mnl-visits": Entry("ucrl-mnl", {"likelihood": "visits"}),
    }
    options = {"name": "swim", "episodes": EPISODES, "root_seed": 3, "track": "K", "halving": Halving(2, 0, (1,), ())}
    write_tables(layout, play_all(instance, entries, seeds=SEEDS, **options))
    unknown = {"opsrl": Entry("opsrl", {"kappa": 1.0}), "psrl": Entry("psrl"), "eqo": Entry("eqo", {"scale": 0.01})}
    write_tables(layout, play_all(instance, unknown, seeds=SEEDS, **options | {"track": "U"}))
    return layout


def path_of(layout, table):
    return layout.regret_timings("swim", "K") if table == "timings" else layout.regret(table, "swim", "K")


def tables(source, layout, experiment=None):
    experiments = {experiment or CURVES[source]: ["swim"]}
    made = published.tables(source, published.read(source, layout, experiments))
    return {name: pd.DataFrame(rows, columns=list(published.COLUMNS)) for name, rows in made.items()}


@pytest.fixture(scope="module")
def made(layout):
    return {source: tables(source, layout) for source in CURVES} | {"runtime": tables("cho", layout, "runtime")}


def test_variants_are_those_of_the_roles_that_are_asked_for(layout):
    (rerun,) = published.read("cho", layout, {"returns": ["swim"]})["returns"]
    assert len([row for row in rerun.variants() if row["algorithm"] == "rrl-mnl"]) == 2
    assert {row["role"] for row in rerun.variants("tuned")} == {"tuned"}


def test_a_number_is_compared_with_uniform_play_and_with_the_authors():
    for low, high, told in ((1.0, 2.0, "yes"), (1.0, 3.0, "no"), (3.5, 4.0, "yes")):
        assert published.against({"ours": 1.5, "low": low, "high": high}, uniform=3.0)["told_from_uniform"] == told
    found = published.against({"ours": 110.0}, authors=100.0, runs=7)
    assert found == {"ours": 110.0, "authors": 100.0, "deviation": pytest.approx(0.1), "authors_runs": 7}


def test_every_row_names_its_source_instance_and_unit(made):
    assert sorted(CURVES) == published.registry.names()
    found = [(source, made[source][name]) for source in CURVES for name in ("values", "curves")]
    for source, table in [*found, ("cho", made["runtime"]["timings"])]:
        assert len(table) and set(table["source"]) == {source} and set(table["instance"]) == {"swim"}
        assert table["unit"].notna().all() and (table["seeds"] == SEEDS).all() and np.isfinite(table["ours"]).all()


def test_curves_are_those_of_the_regret_tables_and_of_uniform_play(layout, made):
    (rerun,) = published.read("cho", layout, {"returns": ["swim"]})["returns"]
    instance = instances.build(*RIVER)
    value = bellman.evaluate(np.full((1, 1, 4, 3, 2), 0.5), instance.R, instance.P)[0, 0] @ instance.start_masses
    raw = rerun.curve("eps-greedy")
    k, regret = raw["episode"].to_numpy(), raw["mean"].to_numpy()
    for source, variant, expected, uniform in (
        ("ayoub", "eps-greedy", regret, k * (instance.optimal_value - value)),
        ("li", "eps-greedy", k * rerun.optimal_value - regret, k * value),
        # An agent without constants is not among those of Cho et al.
        ("cho", "rrl-mnl", rerun.curve("rrl-mnl")["return"], np.full(len(k), value)),
    ):
        curves = made[source]["curves"].set_index("variant")
        assert np.allclose(curves.loc[variant, "ours"], expected, rtol=1e-12)
        assert (curves["low"] <= curves["ours"] + 1e-9).all() and (curves["ours"] <= curves["high"] + 1e-9).all()
        for column in ("ours", "low", "high"):
            assert np.allclose(curves.loc["uniform play", column], uniform, rtol=1e-12)


def test_reward_and_regret_add_up(layout, monkeypatch):
    monkeypatch.setattr(li, "AFTER", 40)
    monkeypatch.setattr(ayoub, "AT", (40,))
    reward = tables("li", layout)["values"].set_index("variant")
    regret = tables("ayoub", layout)["values"].set_index("variant")
    best = reward.loc["the true model", "ours"]
    for variant in ("eps-greedy", "ucrl-vtr", "uniform play"):
        assert reward.loc[variant, "ours"] + regret.loc[variant, "ours"] == pytest.approx(best)
        if variant != "uniform play":
            assert reward.loc[variant, "low"] + regret.loc[variant, "high"] == pytest.approx(best)


def test_arrival_is_where_a_curve_stays_above_the_threshold_and_gives_the_places(made):
    for returns, expected in (([1, 1, 1], 1), ([0, 1, 1], 20), ([1, 0.5, 1], 30), ([1, 1, 0.5], 31), ([0, 0, 0], 31)):
        assert cho.arrival(pd.DataFrame({"episode": [1, 20, 30], "return": returns}), 1.0) == expected
    ours = made["cho"]["values"].query("role == 'tuned'").set_index(["quantity", "algorithm"])["ours"]
    arrivals, places = ours["arrival at the optimum"], ours["order of arrival"]
    assert places.to_dict() == {name: 1 + (arrivals < arrivals[name]).sum() for name in ("rrl-mnl", "ucrl-mnl")}


def test_the_comparison_of_runtimes_has_seconds_and_their_ratios(layout, made):
    assert made["runtime"]["curves"].empty and made["runtime"]["values"].empty
    assert all(made[source]["timings"].empty for source in CURVES if source != "lee")
    values = made["runtime"]["timings"].set_index(["quantity", "variant"])
    timings = tidy.read(path_of(layout, "timings")).set_index("agent")
    for variant in ("rrl-mnl", "ucrl-mnl", "ucrl-mnl-visits"):
        ours = values.loc[("seconds of 1,000 episodes", variant), "ours"]
        assert ours == pytest.approx(1000 * timings.loc[variant, "seconds_per_episode"])
        ratio = timings.loc[variant, "estimating"] / timings.loc["rrl-mnl", "estimating"]
        assert values.loc[("updates over those of rrl-mnl", variant), "ours"] == pytest.approx(ratio)
    ratios = values.loc["seconds over those of rrl-mnl"]
    assert ratios.loc["rrl-mnl", "ours"] == ratios.loc["rrl-mnl", "authors"] == 1
    # The authors' likelihood goes through all data: their number stands beside the variant that does too.
    assert ratios.loc["ucrl-mnl-visits", "authors"] == pytest.approx(4302.3 / 20.3)
    assert np.isnan(ratios.loc["ucrl-mnl", "authors"])


def test_seconds_of_lee_and_oh_are_over_those_of_eqo(layout, made):
    ours = made["lee"]["timings"].set_index("variant")["ours"]
    timings = tidy.read(layout.regret_timings("swim", "U")).set_index("agent")["seconds_per_episode"]
    assert ours.to_dict() == pytest.approx((timings / timings["eqo"]).to_dict())
    (rerun,) = published.read("lee", layout, {"regret": ["swim"]})["regret"]
    without = replace(rerun, summary=rerun.summary[rerun.summary["algorithm"] != "eqo"])
    without = replace(without, timings=rerun.timings[rerun.timings["agent"] != "eqo"])
    with pytest.raises(InputError, match="no agent on 'swim' runs 'eqo'"):
        list(lee.timings("regret", without))


def replaced(layout, root, name, pattern, text):
    copy = Layout(root)
    for table in ("summary", "curves", "timings"):
        before = Path(path_of(layout, table)).read_text()
        after = re.sub(pattern, text, before) if table == name else before
        assert (after != before) == (table == name)
        storage.write_text(path_of(copy, table), after)
    instances.save(copy.instance("swim"), "swim", instances.build("riverswim", {}), {})
    return copy


@pytest.mark.parametrize("source", [tiapkin, lee])
def test_regret_without_numbers_of_the_authors_is_that_of_the_curves_at_the_listed_episodes(
    source, layout, monkeypatch
):
    monkeypatch.setattr(source, "AT", (40, EPISODES, EPISODES + 1))
    name = source.__name__.rsplit(".", 1)[-1]
    (rerun,) = published.read(name, layout, {CURVES[name]: ["swim"]})[CURVES[name]]
    made = tables(name, layout)["values"]
    assert made["authors"].isna().all() and made["ours"].iloc[0] == rerun.optimal_value
    regret = made[made["quantity"] == "regret"].set_index(["variant", "episode"])
    assert set(regret.index) == {(name, k) for name in ("opsrl", "psrl", "eqo", "uniform play") for k in (40, EPISODES)}
    ends = rerun.summary.set_index("variant")["mean"]
    for variant in ("opsrl", "psrl", "eqo"):
        assert regret.loc[(variant, EPISODES), "ours"] == pytest.approx(ends[variant])
    assert regret.loc[("uniform play", 40), "ours"] == pytest.approx(rerun.uniform_regret(40))


def test_scales_and_priors_of_tiapkin_et_al_give_the_bonuses_and_means_of_their_code():
    agents = config.load(config.included() / "full.yaml")["agents"]
    setting = {name: agents[f"tiapkin-{name}"]["set"] for name in tiapkin.ALGORITHMS}
    S, A, H, K = 100, 4, 50, tiapkin.EPISODES
    L = np.log(5 * S * A * K * H / 0.05)
    assert setting["ucbvi"]["scale"] * 7 * H * L == pytest.approx(H / 2, rel=1e-3)
    assert setting["ucbvi-bf"]["scale"] * 14 / 3 * H * L == pytest.approx(H, rel=1e-3)
    assert setting["psrl"]["alpha_0"] == 1 / S
    for name in ("opsrl", "psrl"):
        mu_0, tau_0, tau = (setting[name][key] for key in ("mu_0", "tau_0", "tau"))
        assert 1 / tau_0 == pytest.approx(1 / 12)  # the variance of a uniform variable
        for n, r in ((0, 0), (3, 0), (3, 1), (50, 1)):
            assert (tau_0 * mu_0 + tau * n * r) / (tau_0 + tau * n) == pytest.approx((1 + n * r) / (2 + n))


def test_instances_of_lee_and_oh_have_their_sizes_and_the_kernel_of_osband():
    for S, H in ((30, 120), (40, 160)):
        problem = instances.build(f"riverswim-lee-{S}", {})
        assert problem.P.shape == (S, 2, S) and problem.horizon == H
        assert np.allclose(problem.P[1, 1, :3], (0.05, 0.6, 0.35)) and np.allclose(problem.P[0, 1, :2], (0.4, 0.6))
        assert np.allclose(problem.P[-1, 1, -2:], (0.4, 0.6))
        assert problem.R[0, 0] == pytest.approx(0.005) and problem.R[-1, 1] == pytest.approx(1.0)


def test_missing_rows_and_unknown_names_are_rejected(layout, tmp_path):
    for table, variant, words in (
        ("timings", "ucrl-mnl", "summary and timings of 'swim' cannot be joined: agent 'ucrl-mnl' has no row"),
        ("summary", "rrl-mnl", "no agent on 'swim' runs 'rrl-mnl'"),
    ):
        with pytest.raises(InputError, match=words):
            tables("cho", replaced(layout, tmp_path, table, rf"(?m)^.*,{variant},.*\n", ""), "runtime")
    with pytest.raises(InputError, match=r"experiment of 'cho' 'time' .*'runtime'.*: choose one of returns, runtime"):
        published.read("cho", layout, {"time": ["swim"]})
    with pytest.raises(InputError, match=r"nowhere(_K/summary\.csv|\.npz): there is no such file"):
        published.read("li", layout, {"reward": ["nowhere"]})


def test_curves_with_surrogate_constants_are_shown(layout, tmp_path):
    copy = replaced(layout, tmp_path, "summary", ",exact,theory,", ",exact,surrogate,")
    assert "surrogate" in set(tables("cho", copy)["curves"]["role"])


def test_optimal_values_of_ayoub_et_al_are_those_of_the_larger_small_reward():
    """The printed values, and all digits of those in the plotting notebook, are exact for 0.05, not for 0.005."""
    notebook = {3: 5.724564081209499, 4: 5.660391430300687, 5: 5.60134945831638}
    for (S, H), printed in ayoub.OPTIMAL.items():
        text, code = (instances.build(f"riverswim-ayoub-{S}{ending}", {}) for ending in ("-text", ""))
        assert text.horizon == code.horizon == H
        assert text.optimal_value == pytest.approx(notebook[S], rel=1e-12)
        assert text.optimal_value == pytest.approx(printed, abs=0.006)
        assert 0 < text.optimal_value - code.optimal_value < 0.02


def test_on_the_density_of_li_et_al_one_action_is_optimal_everywhere():
    """So does their planner play, which compares five steps of +1 throughout with five of -1, in the true model."""
    instance = instances.build("custom-sin", {})
    H, (N, A) = instance.horizon, instance.R.shape
    constant = np.broadcast_to(np.eye(A)[:, None, None, :], (A, H, N, A))[None]
    lost, kept = instance.start_masses @ bellman.evaluate(constant, instance.R, instance.P)[0].T
    assert kept == pytest.approx(instance.optimal_value, rel=1e-9) and lost < instance.uniform_value < kept
    ahead = bellman.evaluate(constant[:, :, :5], instance.R, instance.P)[0]
    assert (ahead[1] > ahead[0]).all()
    # The band that the authors draw around their Gaussian model contains uniform play.
    assert 160 < li.AFTER * instance.uniform_value < 183


def test_sources_whose_curves_show_nothing_have_no_figure():
    study = config.load(config.included() / "config.yaml")
    named = {name for name, (kind, _) in study.figures.items() if kind == "published"}
    assert named == {f"published_{source}" for source in CURVES if source != "cho"}


@pytest.mark.parametrize("name", ["config.yaml", "full.yaml"])
def test_studies_run_the_published_settings(name):
    """The study has the authors' length where a number of theirs is read, and the full study everywhere."""
    study = config.load(config.included() / name)
    experiments = {name: set(published.registry.module(name).EXPERIMENTS) for name in published.registry.names()}
    assert {source: set(each) for source, each in study["published"].items()} == experiments
    # At least as many runs as the authors have, by their text or their code.
    runs_of = {"cho": cho.RUNS, "li": li.RUNS, "tiapkin": tiapkin.RUNS}
    runs_of["ayoub"] = max(runs for by in ayoub.RUNS.values() for runs in by.values())
    for source, experiment in CURVES.items():
        for each in study["published"][source][experiment] if source in runs_of else ():  # not known of lee
            assert study["study"][each].get("seeds", study["seeds"]) >= runs_of[source]
    lengths = {"riverswim-ayoub-5": ayoub.EPISODES, "custom-sin": li.AFTER, "riverswim-cho-time": cho.FIRST}
    if name == "full.yaml":
        lengths |= {f"riverswim-cho-{S}": 10_000 for S in (4, 8)}
        lengths["grid-tiapkin-10"] = tiapkin.EPISODES
        assert study["published"]["lee"]["regret"] == ["riverswim-lee-30", "riverswim-lee-40"]
        lengths |= {f"riverswim-ayoub-{ending}": ayoub.EPISODES for ending in ("3", "4", "5-text")}
    assert {each: study["study"][each]["episodes"] for each in lengths} == lengths
    for source, expected in (
        ("cho", cho.SECONDS),
        ("li", li.REWARD),
        ("ayoub", ayoub.REGRET),
        ("tiapkin", tiapkin.ALGORITHMS),
        ("lee", lee.ALGORITHMS + lee.ADDED),
    ):
        played = [study["study"][each]["agents"] for names in study["published"][source].values() for each in names]
        assert {study["agents"][agent]["algorithm"] for agents in played for agent in agents} == set(expected)
    for agent, setting in study["agents"].items():
        if agent.startswith("ayoub") and setting["algorithm"] != "eps-greedy":
            assert setting["set"]["delta"] == 1 / ayoub.EPISODES
