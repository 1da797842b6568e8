"""Tables of a case: every number by hand from the run files, what comes from tuning, and rejected input."""

import io
import re
import weakref
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from befrl import instances
from befrl.analysis import comparisons, intervals, regret_columns
from befrl.analysis.aggregation import aggregate
from befrl.common.errors import InputError
from befrl.experiment import run_file
from cases import Entry, play, play_all, written

SEEDS, K, LEVEL = 6, 12, 0.9
ENTRIES = {
    "bef-rlsvi": Entry("bef-rlsvi", tune={"x": [0.1, 1000], "eta": [0.1, 10]}, sweep={"x": [0.3, 30]}),
    "mine": Entry("lsvi-ucb", {"share": "steps", "lam": 2.0}, tune={"scale": [0.001, 0.1], "lam": 0.5}),
    "exp-psrl": Entry("exp-psrl", sweep={"scale": [0.5, 2]}),
    **{name: Entry(name) for name in ("greedy", "random", "oracle")},
}
# The variants of the two comparisons, but for the oracle, which learns nothing.
BOTH = {"exp-psrl", "greedy", "random"}
FAMILIES = {"tuned": {"bef-rlsvi@tuned", "mine@tuned"} | BOTH, "theory": {"bef-rlsvi", "mine"} | BOTH}


@pytest.fixture(scope="module")
def instance():
    return instances.build("chain", {"bins": 3, "horizon": 4})


@pytest.fixture(scope="module")
def case(instance):
    return play_all(instance, ENTRIES)


def tables_of(folder, case, cuts=(), level=LEVEL):
    texts = aggregate(*written(folder, case, cuts), level)
    return {name: pd.read_csv(io.StringIO(text)) for name, text in texts.items()}


@pytest.fixture(scope="module")
def tables(case, tmp_path_factory):
    return tables_of(tmp_path_factory.mktemp("runs"), case, cuts=(1004,))


def logged(case, label, key="regret"):
    """What a variant logged, (seeds, episodes)."""
    log, meta, _ = case[label.split("@")[0]]
    return log[key][meta["labels"].index(label)]


def row_of(tables, label):
    (row,) = tables["summary"][tables["summary"]["variant"] == label].to_dict("records")
    return row


def reason(paths, outcomes=None, level=LEVEL):
    with pytest.raises(InputError) as raised:
        aggregate(paths, outcomes or {}, level)
    return str(raised.value)


def same(number, truth):
    """Tables have ten digits."""
    assert np.allclose(number, truth, rtol=1e-9, atol=1e-12, equal_nan=True)


def with_regret(played, regret):
    log, meta, outcome = played
    return {**log, "regret": np.full_like(log["regret"], regret)}, meta, outcome


def test_runs_are_read_agent_by_agent(case, tmp_path, monkeypatch):
    """While one is read, only the one before may still be in memory."""
    Log = type("Log", (dict,), {})  # allows weak references, as a dict does not
    paths, outcomes = written(tmp_path, case)
    read, logs, alive = run_file.load, [], []

    def load(path):
        log, meta = read(path)
        log = Log(log)
        logs.append(weakref.ref(log))
        alive.append(sum(each() is not None for each in logs))
        return log, meta

    monkeypatch.setattr(run_file, "load", load)
    aggregate(paths, outcomes, LEVEL)
    assert len(alive) == len(ENTRIES) > 2 and max(alive) == 2


def test_seconds_are_averages_over_rows(case, tmp_path):
    log, meta, _ = case["greedy"]
    paths = [tmp_path / "greedy" / name for name in ("1000-1000.npz", "1001-1002.npz")]
    for path, seconds, seeds in zip(paths, (1.0, 4.0), ([1000], [1001, 1002]), strict=True):
        part = {key: log[key][:, : len(seeds)] if log[key].ndim == 3 else log[key] * 0 + seconds for key in log}
        run_file.save(path, part, meta | {"seeds": seeds, "seconds": 1.5})
    (row,) = pd.read_csv(io.StringIO(aggregate(paths, {}, LEVEL)["timings"])).to_dict("records")
    assert (row["rows"], row["batches"], row["wall_seconds"]) == (3, 2, 3.0)
    assert row["estimating"] == row["planning"] == row["acting"] == 3.0 and row["seconds_per_episode"] == 9.0


@pytest.mark.parametrize("label", ["bef-rlsvi", "mine@tuned", "exp-psrl@scale=2", "random", "oracle"])
def test_a_row_of_the_summary_by_hand(case, tables, instance, label):
    row, regret = row_of(tables, label), logged(case, label)
    final = regret.sum(1)
    assert (row["instance"], row["track"], row["agent"]) == ("tiny", "U", label.split("@")[0])
    assert (row["seeds"], row["episodes"], row["specification"]) == (SEEDS, K, "exact")
    same(row["mean"], sum(final) / SEEDS)
    same([row["q10"], row["q50"], row["q90"]], np.quantile(final, [0.1, 0.5, 0.9]))
    same([row["low"], row["high"]], intervals.mean_interval(final, LEVEL, least=0.0))
    # The last tenth of twelve episodes is one.
    failed = int((regret[:, -1] > (instance.optimal_value - instance.uniform_value) / 2).sum())
    exact = stats.binomtest(failed, SEEDS).proportion_ci(LEVEL, method="exact")
    same([row["failed"], row["failed_low"], row["failed_high"]], [failed / SEEDS, exact.low, exact.high])
    if label == "random":
        assert np.isnan(row["optimistic"]) and np.isnan(row["optimistic_low"])
    else:
        share = (logged(case, label, "optimism").astype(np.float32) >= 0).mean(1)
        ends = intervals.bounded_interval(share, LEVEL)
        same([row["optimistic"], row["optimistic_low"], row["optimistic_high"]], [share.mean(), *ends])
    assert np.isclose(row["saturated"], logged(case, label, "saturated").mean(), rtol=1e-6, equal_nan=True)
    assert np.isclose(row["tied"], logged(case, label, "tied").mean(), rtol=1e-6)
    # In the first episode there is nothing to differ from.
    assert np.isclose(row["changed"], logged(case, label, "changed")[:, 1:].mean(), rtol=1e-6)
    assert row["plans"] == (0 if label in ("random", "oracle") else 1)
    # The slope of the mean curve over the second half is rounded to nine decimals.
    k, curve = np.arange(K // 2, K + 1), regret.mean(0).cumsum()
    slope = np.polyfit(np.log(k), np.log(curve[k - 1]), 1)[0] if label != "oracle" else np.nan
    assert row["slope"] == pytest.approx(slope, abs=6e-10, nan_ok=True)


@pytest.mark.parametrize("label", ["bef-rlsvi@tuned", "mine", "oracle"])
def test_curves_are_cumulative(case, tables, label, instance):
    rows = tables["curves"][tables["curves"]["variant"] == label]
    cumulative = logged(case, label).cumsum(1)
    assert rows["episode"].tolist() == list(range(1, K + 1))
    same(rows["mean"], cumulative.mean(0))
    same(rows[["q10", "q50", "q90"]].T, np.quantile(cumulative, [0.1, 0.5, 0.9], axis=0))
    same(rows[["low", "high"]].T, intervals.mean_interval(cumulative, LEVEL, least=0.0))
    for key in ("role", "mean", "low", "high", "q10", "q50", "q90"):
        assert rows.iloc[-1][key] == row_of(tables, label)[key]
    values = instance.optimal_value - logged(case, label)
    same(rows["return"], values.mean(0))
    # The table has ten digits of what the differences of sums are.
    assert np.allclose(rows[["return_low", "return_high"]].T, intervals.mean_interval(values, LEVEL), atol=1e-8)


def test_regret_of_rounding_errors_is_zero_in_the_tables(case, tmp_path):
    log, meta, _ = case["oracle"]
    errors = np.random.default_rng(0).uniform(-1e-9, 1e-9, log["regret"].shape)
    made = tables_of(tmp_path, {"oracle": ({**log, "regret": errors}, meta, None)})
    for table in ("summary", "curves"):
        assert (made[table][["mean", "low", "high", "q10", "q50", "q90"]] == 0).all(axis=None)


def test_long_curves_are_thinned_but_keep_both_ends(instance, tmp_path):
    points = run_file.POINTS
    K = 9 * points
    log, meta, _ = play_all(instance, {"random": Entry("random")}, seeds=3, episodes=K)["random"]
    regret = np.random.default_rng(0).random((1, 3, K))
    rows = tables_of(tmp_path, {"random": ({**log, "regret": regret}, meta, None)})["curves"]
    assert rows["episode"].is_monotonic_increasing and rows["episode"].is_unique
    assert (rows["episode"].iloc[0], rows["episode"].iloc[-1]) == (1, K)
    assert points <= len(rows) <= 2 * points and rows["episode"].diff().max() <= 10
    same(rows["mean"], regret[0].cumsum(1).mean(0)[rows["episode"] - 1])
    # A return between points is the mean of those since the last one.
    blocks = pairwise([0, *rows["episode"]])
    same(rows["return"], [instance.optimal_value - regret[0, :, a:b].mean() for a, b in blocks])


@pytest.mark.parametrize("family", FAMILIES)
def test_differences_and_gaps_are_paired_by_seed_and_corrected_by_holm_in_the_order_of_the_means(case, tables, family):
    rows = tables["paired"][tables["paired"]["family"] == family]
    pairs = {frozenset(pair) for pair in combinations(FAMILIES[family], 2)}
    assert {frozenset((row.first, row.second)) for row in rows.itertuples()} == pairs and len(rows) == len(pairs) == 10
    plain = []
    for row in rows.itertuples():
        difference = logged(case, row.first).sum(1) - logged(case, row.second).sum(1)
        same([row.difference, row.share_first_better], [difference.mean(), (difference < 0).mean()])
        same([row.low, row.high], intervals.mean_interval(difference, LEVEL))
        plain.append(intervals.p_value(difference))
    same(rows["p"], comparisons.holm(plain))
    order = tables["order"][tables["order"]["family"] == family]
    means = {label: logged(case, label).sum(1).mean() for label in FAMILIES[family]}
    names = sorted(means, key=means.get)
    assert (order["variant"].tolist(), order["place"].tolist()) == (names, [1, 2, 3, 4, 5])
    assert order["agent"].tolist() == [label.split("@")[0] for label in names]
    assert order[["better", "gap", "gap_low", "gap_high", "p"]].iloc[0].isna().all()
    p = {frozenset((row.first, row.second)): row.p for row in rows.itertuples()}
    for better, row in pairwise(order.itertuples()):
        assert row.better == better.variant
        own = logged(case, row.variant).sum(1)
        difference = own - logged(case, better.variant).sum(1)
        same(row.gap, difference.mean() / own.mean())
        same([row.gap_low, row.gap_high], np.array(intervals.mean_interval(difference, LEVEL)) / own.mean())
        assert row.p == p[frozenset((row.variant, better.variant))]
    adjusted = np.array([[p.get(frozenset((one, two)), 1.0) for two in names] for one in names])
    assert order["group"].tolist() == comparisons.groups(adjusted, LEVEL)
    # The summary has the same letters: those of the tuned agents, and of all at their own constants.
    if family == "theory":
        summary = tables["summary"].set_index("variant")["group"]
        assert all(summary[row.variant] == row.group for row in order.itertuples())


def test_an_agent_without_regret_is_first_and_the_oracle_is_not_compared(case, tmp_path):
    chosen = {"random": case["random"], "greedy": with_regret(case["greedy"], 0.0), "oracle": case["oracle"]}
    order = tables_of(tmp_path, chosen)["order"]
    assert order["variant"].tolist() == ["greedy", "random"] * 2 and order["group"].tolist() == ["a", "b"] * 2
    same(order["gap"][1], 1.0)
    # Two without regret are in one group: rounding is not a difference, and the relative gap is finite.
    chosen = {name: with_regret(case[name], tiny) for name, tiny in (("random", 0.0), ("greedy", 1e-13))}
    order = tables_of(tmp_path, chosen)["order"]
    assert set(order["group"]) == {"a"} and abs(order["gap"][1]) < 1e-5


def test_roles_settings_and_swept_values_of_all_variants(instance, case, tables, tmp_path):
    rows = tables["summary"].set_index("variant")
    chosen = {f"{agent}@{role}": role for agent in ("bef-rlsvi", "mine") for role in ("tuned",)}
    swept = ("bef-rlsvi@x=0.3", "bef-rlsvi@x=30", "exp-psrl@scale=0.5", "exp-psrl@scale=2")
    own = {"theory": ("bef-rlsvi", "exp-psrl", "mine"), "baseline": ("greedy", "random", "oracle"), "sweep": swept}
    assert rows["role"].to_dict() == chosen | {name: role for role, names in own.items() for name in names}
    assert rows["setting"]["mine"] == "share=steps lam=2" and rows["setting"]["bef-rlsvi@x=30"] == "x=30"
    assert rows["setting"].isna()["greedy"] and rows["setting"].isna()["bef-rlsvi"]
    outcome = case["mine"][2]
    scale = outcome["configurations"][outcome["chosen"]["tuned"]]["values"]["scale"]
    assert set(rows["setting"]["mine@tuned"].split()) == {"share=steps", "lam=0.5", f"scale={scale:g}"}
    # The agent's own value is that of its theory; tuned variants differ in more than one parameter.
    names = {"bef-rlsvi": "x", "exp-psrl": "scale"} | {label: label.split("@")[1].split("=")[0] for label in swept}
    assert rows["parameter"].dropna().to_dict() == names and rows["value"].notna().equals(rows["parameter"].notna())
    assert rows["value"][["bef-rlsvi@x=0.3", "exp-psrl", "exp-psrl@scale=2"]].tolist() == [0.3, 1.0, 2.0]
    same(rows["value"]["bef-rlsvi"], case["bef-rlsvi"][1]["facts"][0]["x"])
    # Set and surrogate constants are not called theory.
    own = play_all(instance, {"mine": Entry("bef-rlsvi", {"x": 3.0})}, seeds=2)
    assert tables_of(tmp_path / "set", own)["summary"]["role"].tolist() == ["set"]
    log, meta, _ = case["exp-psrl"]
    tables = tables_of(tmp_path, {"exp-psrl": (log, meta | {"constants": ["surrogate"] * 3}, None)})
    assert tables["summary"]["role"].tolist() == ["surrogate", "sweep", "sweep"]
    assert set(tables["curves"]["role"]) == {"surrogate", "sweep"}


def test_configurations_are_chosen_on_the_tuning_seeds_alone(case, tables, tmp_path):
    log, meta, outcome = case["bef-rlsvi"]
    other = tables_of(tmp_path, case | {"bef-rlsvi": ({**log, "regret": log["regret"][::-1] + 7.0}, meta, outcome)})
    columns = ["variant", "setting", "role", "tuning_mean", "at_edge", "edge_matters"]
    assert other["summary"][columns].equals(tables["summary"][columns]) and other["tuning"].equals(tables["tuning"])
    assert (other["summary"]["mean"] - tables["summary"]["mean"])[:4].abs().min() > 1


def test_the_tuning_table_by_hand(case, tables):
    assert tables["tuning"]["agent"].tolist() == ["bef-rlsvi"] * 4 + ["mine"] * 4
    for agent, rows in tables["tuning"].groupby("agent"):
        outcome = case[agent][2]
        firsts = [each["first_mean"] for each in outcome["configurations"]]
        assert rows["rank"].tolist() == [1 + sum(other < mine for other in firsts) for mine in firsts]
        assert rows["configuration"].tolist() == [1, 2, 3, 4]
        for row, each in zip(rows.itertuples(), outcome["configurations"], strict=True):
            same([row.mean, row.first_mean], [each["mean"], each["first_mean"]])
            assert (row.rung, row.seeds) == (each["rung"], each["seeds"])
            values = (ENTRIES[agent].set | each["values"]).items()
            texts = {f"{key}={value}" if key == "share" else f"{key}={value:g}" for key, value in values}
            assert set(row.setting.split()) == texts - {"eta=1", "lam=1"}
        chosen = {role: number for number, role in enumerate(rows["chosen"]) if isinstance(role, str)}
        # A configuration may be the median and the tuned one at once: then it is called tuned.
        assert chosen.items() <= outcome["chosen"].items() and chosen["tuned"] == outcome["chosen"]["tuned"]
        ranks = dict(zip(rows["rank"], rows["configuration"] - 1, strict=True))
        assert (outcome["chosen"]["median"], outcome["chosen"]["worst"]) == (ranks[2], ranks[4])
        best = outcome["configurations"][outcome["chosen"]["tuned"]]
        same(row_of(tables, f"{agent}@tuned")["tuning_mean"], best["mean"])
    assert tables["summary"].set_index("variant")["tuning_mean"][["bef-rlsvi", "greedy"]].isna().all()


# Values of x and eta of all configurations, and regrets of those of the last rung.
GRID = [(1.0, 10.0), (10.0, 1.0), (100.0, 100.0), (20.0, 30.0), (30.0, 20.0)]
CLEAR, LIKE, BEST = [9.0, 8.0, 9.0, 8.0], [1.0, 4.0, 2.0, 3.0], [2.0, 2.0, 2.0, 2.0]
EDGES = [
    ({3: BEST, 0: CLEAR}, "", False),  # inside the ranges
    # At an edge; one inside is clearly worse, is as good as the seeds can tell, or did not get so far.
    ({0: BEST, 3: CLEAR}, "x low", True),
    ({1: BEST, 3: LIKE}, "eta low", False),
    ({1: BEST, 3: LIKE, 4: CLEAR}, "eta low", False),
    ({2: BEST, 0: LIKE, 1: LIKE}, "x high, eta high", True),
]


def test_a_choice_at_the_edge_is_flagged_and_whether_it_matters(instance, tmp_path):
    log, meta, _ = play(instance, "b", Entry("bef-rlsvi"), range(1000, 1003))
    configurations = [
        {"values": {"x": x, "eta": eta}, "rung": 1, "seeds": 2, "mean": 1.0 + i, "first_mean": i}
        for i, (x, eta) in enumerate(GRID)
    ]
    outcome = {"tune": {"x": [1, 100], "eta": [1, 100]}, "seeds": [2, 4], "configurations": configurations}
    outcome |= {key: meta[key] for key in ("algorithm", "instance", "track")}
    meta |= {key: meta[key] * 2 for key in ("settings", "constants", "specification", "facts")}
    meta["labels"] = ["b", "b@tuned"]
    log = {key: np.repeat(value, 2, axis=0) if value.ndim == 3 else value for key, value in log.items()}
    for regrets, edge, matters in EDGES:
        best = next(number for number, each in regrets.items() if each is BEST)
        outcome["regrets"] = {str(number): each for number, each in regrets.items()}
        outcome["chosen"] = {"tuned": best, "median": 1, "worst": 2}
        rows = tables_of(tmp_path, {"b": (log, meta, outcome)})["summary"].set_index("variant")
        assert (rows["at_edge"].fillna("")["b@tuned"], rows["edge_matters"]["b@tuned"]) == (edge, matters)
        others = rows.drop("b@tuned")
        assert others["at_edge"].isna().all() and not others["edge_matters"].any()


def test_tables_do_not_depend_on_the_batches_of_seeds_and_their_order(case, tmp_path):
    texts = aggregate(*written(tmp_path / "a", case), LEVEL)
    paths, outcomes = written(tmp_path / "b", case, cuts=(1001, 1004))
    # Three batches of each agent, the last seeds first.
    other = aggregate([path for i in range(0, len(paths), 3) for path in paths[i : i + 3][::-1]], outcomes, LEVEL)
    assert all(other[name] == texts[name] for name in texts if name != "timings")
    for name, text in texts.items():
        assert text.splitlines()[0].split(",") == list(getattr(regret_columns, name.upper()))


def test_wrong_run_files_are_rejected_with_a_reason(instance, case, tmp_path):
    own = play(instance, "greedy", Entry("greedy"), range(1000, 1003))
    stranger = play(instance, "greedy", Entry("greedy", {"eta": 100.0}), range(1003, 1006))
    paths = [path for each in (own, stranger) for path in written(tmp_path / "mixed", {"greedy": each})[0]]
    assert "differ in settings: a label means one setting" in reason(paths)
    some = {name: case[name] for name in ("mine", "greedy", "random")}
    paths, outcomes = written(tmp_path, some, cuts=(1004,))
    kept = [path for path in paths if path.parts[-2:] != ("random", "1004-1005.npz")]
    assert "'random' are of other evaluation seeds" in reason(kept, outcomes)
    assert "none.npz: there is no such file" in reason([*paths, tmp_path / "greedy/none.npz"], outcomes)
    greedy, random = ([path for path in paths if path.parent.name == name] for name in ("greedy", "random"))
    assert "share seeds" in reason([*greedy, greedy[0]])
    assert "no run files" in reason([])
    for level in (0.0, 1.0, 2.0, float("nan")):
        assert "level = " in reason(greedy, level=level)
    for key in ("algorithm", "instance", "track"):
        other = outcomes | {"mine": outcomes["mine"] | {key: "x"}}
        assert re.search(f"the runs of 'mine' have {key} .* and its tuning has 'x'", reason(paths, other))
    other_seeds = f"it is not a run of the seeds {greedy[0].stem}"
    for source, words in ((random[0], "it is a run of 'random', not of 'greedy'"), (greedy[1], other_seeds)):
        greedy[0].write_bytes(source.read_bytes())
        assert words in reason(paths, outcomes)


OTHERS = {"instance": "other", "track": "K", "episodes": K + 1, "root_seed": 6, "ties": "first"}


@pytest.mark.parametrize("key", [*OTHERS, "instance_parameters"])
def test_runs_of_different_cases_are_not_mixed(instance, case, tmp_path, key):
    values = {"name" if key == "instance" else key: OTHERS[key]} if key in OTHERS else {}
    problem = instance if values else instances.build("chain", {"bins": 3, "horizon": 5})
    stranger = play_all(problem, {"random": Entry("random")}, **values)
    paths, _ = written(tmp_path, {"greedy": case["greedy"]} | stranger)
    assert f"'random' and 'greedy' differ in {key}: aggregate one case only" in reason(paths)
