"""Tables from runs: every number against plain numpy, the choice of the tuned point, and what is refused."""

import io
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from befrl import instances
from befrl.analysis.aggregation import POINTS, aggregate
from befrl.analysis.regret_columns import CURVES, ORDER, PAIRED, SUMMARY, TIMINGS
from befrl.common import tidy
from befrl.common.errors import InputError
from befrl.experiment import run_file, runs
from befrl.experiment.spec import RunSpec

TUNING, SEEDS, K = 3, 9, 12
COLUMNS = {"summary": SUMMARY, "curves": CURVES, "paired": PAIRED, "order": ORDER, "timings": TIMINGS}
# (algorithm, parameters, first seed) by label
CASE = {
    "bef-rlsvi": ("bef-rlsvi", {}, TUNING),
    "bef-rlsvi@x=0.3": ("bef-rlsvi", {"x": 0.3}, 0),
    "bef-rlsvi@x=3": ("bef-rlsvi", {"x": 3}, 0),
    "bef-rlsvi@x=30": ("bef-rlsvi", {"x": 30}, 0),
    "exp-psrl": ("exp-psrl", {}, TUNING),
    "exp-psrl@scale=0.5": ("exp-psrl", {"scale": 0.5}, 0),
    "exp-psrl@scale=2": ("exp-psrl", {"scale": 2}, 0),
    "greedy": ("greedy", {}, TUNING),
    "random": ("random", {}, TUNING),
}


@pytest.fixture(scope="module")
def instance():
    return instances.build("chain", {"bins": 3, "horizon": 4})


def make_run(instance, label, algorithm, values, seeds, **changes):
    """Log and meta of a real run."""
    setting = {"name": "tiny", "track": "U", "episodes": K, "root_seed": 5} | changes
    spec = RunSpec.of(instance, algorithm=algorithm, values=values, seeds=seeds, label=label, **setting)
    log, seconds = runs.run_seeds(spec, lockstep=4)
    return log, runs.describe(spec, seconds)


@pytest.fixture(scope="module")
def case(instance):
    """{label: (log, meta)} of all seeds that a variant needs."""
    return {
        label: make_run(instance, label, algorithm, values, range(first, SEEDS))
        for label, (algorithm, values, first) in CASE.items()
    }


def with_regret(run, regret):
    """The run with other regrets per seed, the same in each episode."""
    log, meta = run
    return {**log, "regret": np.repeat(np.reshape(regret, (-1, 1)), log["regret"].shape[1], axis=1)}, meta


def written(folder, runs_by_label, cuts=(5,)):
    """Run files of a case, split into batches at the seeds `cuts`."""
    paths = []
    for label, (log, meta) in runs_by_label.items():
        seeds = np.array(meta["seeds"])
        for part in np.split(np.arange(len(seeds)), np.searchsorted(seeds, cuts)):
            batch = {key: log[key][part] if key in run_file.LOGGED else log[key] for key in log}
            path = folder / label / f"{seeds[part[0]]}-{seeds[part[-1]]}.npz"
            run_file.save(path, batch, meta | {"seeds": seeds[part].tolist()})
            paths.append(path)
    return paths


def frames(paths, tuning=TUNING, resamples=500, level=0.9):
    """The tables, parsed."""
    texts = aggregate(paths, tuning, resamples, level)
    return {name: pd.read_csv(io.StringIO(text), comment="#") for name, text in texts.items()}


@pytest.fixture(scope="module")
def tables(case, tmp_path_factory):
    return frames(written(tmp_path_factory.mktemp("runs"), case))


def evaluated(case, label, key="regret"):
    """Rows of the evaluation seeds."""
    log, meta = case[label]
    return log[key][np.array(meta["seeds"]) >= TUNING]


def same(number, truth):
    """Tables have ten digits."""
    assert np.allclose(number, truth, rtol=1e-9, atol=1e-12, equal_nan=True)


# Numbers.


@pytest.mark.parametrize("label", CASE)
def test_summary_is_of_the_evaluation_seeds(case, tables, instance, label):
    (row,) = tables["summary"][tables["summary"]["variant"] == label].to_dict("records")
    regret = evaluated(case, label)
    final = regret.sum(1)
    assert (row["instance"], row["track"], row["agent"]) == ("tiny", "U", label.split("@")[0])
    assert (row["seeds"], row["episodes"]) == (SEEDS - TUNING, K)
    same(row["mean"], final.mean())
    same([row["q10"], row["q50"], row["q90"]], np.quantile(final, [0.1, 0.5, 0.9]))
    assert final.min() - 1e-9 <= row["low"] <= row["mean"] <= row["high"] <= final.max() + 1e-9
    same(row["failed"], (regret[:, -1:].mean(1) > (instance.optimal_value - instance.uniform_value) / 2).mean())
    same(row["optimistic"], (evaluated(case, label, "optimism") >= 0).mean() if label != "random" else np.nan)
    same(row["saturated"], evaluated(case, label, "saturated").mean())
    log = case[label][0]
    timing = tables["timings"].set_index("variant").loc[label]
    same(timing["seconds_per_episode"], sum(log[key].mean() for key in run_file.SECONDS))
    same(timing[list(run_file.SECONDS)].astype(float), [log[key].mean() for key in run_file.SECONDS])
    assert row["plans"] == (0 if label == "random" else 1)
    assert row["specification"] == "exact"


@pytest.mark.parametrize("label", CASE)
def test_slope_is_of_the_mean_curve(case, tables, label):
    curve = evaluated(case, label).mean(0).cumsum()
    k = np.arange(K // 2, K + 1)
    row = tables["summary"].set_index("variant").loc[label]
    same(row["slope"], np.polyfit(np.log(k), np.log(curve[k - 1]), 1)[0])


@pytest.mark.parametrize("label", CASE)
def test_curves_are_cumulative(case, tables, label):
    rows = tables["curves"][tables["curves"]["variant"] == label]
    cumulative = evaluated(case, label).cumsum(1)
    assert rows["episode"].tolist() == list(range(1, K + 1))
    same(rows["mean"], cumulative.mean(0))
    same(rows[["q10", "q50", "q90"]].T, np.quantile(cumulative, [0.1, 0.5, 0.9], axis=0))
    last, summary = rows.iloc[-1], tables["summary"].set_index("variant").loc[label]
    for key in ("role", "mean", "low", "high", "q10", "q50", "q90"):
        assert last[key] == summary[key]


def test_long_curves_are_thinned_but_keep_both_ends(instance, tmp_path):
    run = make_run(instance, "random", "random", {}, range(2), episodes=3 * POINTS)
    rows = frames(written(tmp_path, {"random": run}, cuts=()), tuning=0)["curves"]
    assert rows["episode"].is_monotonic_increasing
    assert (rows["episode"].iloc[0], rows["episode"].iloc[-1]) == (1, 3 * POINTS)
    assert POINTS <= len(rows) <= 2 * POINTS
    assert rows["episode"].is_unique and rows["episode"].diff().max() <= 4
    same(rows["mean"], run[0]["regret"].cumsum(1).mean(0)[rows["episode"] - 1])


def test_paired_differences_are_of_the_same_seeds(case, tables):
    paired, summary = tables["paired"], tables["summary"]
    shown = summary[summary["role"] != "grid"]["variant"].tolist()
    assert len(paired) == len(shown) * (len(shown) - 1) / 2
    for row in paired.itertuples():
        difference = evaluated(case, row.first).sum(1) - evaluated(case, row.second).sum(1)
        same(row.difference, difference.mean())
        same(row.share_first_better, (difference < 0).mean())
        assert difference.min() - 1e-9 <= row.low <= row.difference <= row.high <= difference.max() + 1e-9
    assert set(paired["first"]) | set(paired["second"]) == set(shown)


def test_the_order_is_that_of_the_means_and_gaps_are_paired(case, tables):
    """One row for each agent, the tuned variant where there is a grid; gaps in units of the agent's own regret."""
    summary, order = tables["summary"], tables["order"]
    shown = summary[(summary["role"] == "tuned") | summary["agent"].isin(["greedy", "random"])].sort_values("mean")
    assert order["variant"].tolist() == shown["variant"].tolist()
    assert order["agent"].tolist() == shown["agent"].tolist()
    assert order["place"].tolist() == [1, 2, 3, 4]
    assert order[["better", "gap", "gap_low", "gap_high"]].iloc[0].isna().all()
    pairs = {(row.first, row.second): row for row in tables["paired"].itertuples()}
    for better, row in pairwise(order.itertuples()):
        assert row.better == better.variant
        own = evaluated(case, row.variant).sum(1)
        same(row.gap, (own - evaluated(case, better.variant).sum(1)).mean() / own.mean())
        # The interval is that of the table of pairs, whichever of the two comes first there.
        if (row.variant, better.variant) in pairs:
            pair = pairs[row.variant, better.variant]
            ends = [pair.low, pair.high]
        else:
            pair = pairs[better.variant, row.variant]
            ends = [-pair.high, -pair.low]
        same([row.gap_low, row.gap_high], np.array(ends) / own.mean())


def test_an_agent_without_regret_has_no_place(case, tmp_path):
    chosen = {"greedy": with_regret(case["greedy"], np.zeros(6)), "random": case["random"]}
    order = frames(written(tmp_path, chosen))["order"]
    assert order["variant"].tolist() == ["random"] and order["gap"].isna().all()


def test_a_constant_difference_has_no_spread(case, tmp_path):
    """The interval is of the difference, seed by seed, not of two means."""
    worse = np.arange(SEEDS - TUNING) ** 2.0
    chosen = {"greedy": with_regret(case["greedy"], worse), "random": with_regret(case["random"], worse + 1)}
    (row,) = frames(written(tmp_path, chosen))["paired"].to_dict("records")
    same([row["difference"], row["low"], row["high"], row["share_first_better"]], [-K, -K, -K, 1.0])


def test_a_higher_level_is_a_wider_interval(case, tmp_path):
    paths = written(tmp_path, {"greedy": with_regret(case["greedy"], np.arange(6.0))})
    narrow, wide = (frames(paths, level=level)["summary"].iloc[0] for level in (0.5, 0.99))
    assert wide["low"] < narrow["low"] < narrow["mean"] < narrow["high"] < wide["high"]


@pytest.mark.parametrize("label", CASE)
def test_returns_are_values_of_the_policies_that_were_played(case, tables, instance, label):
    rows = tables["curves"][tables["curves"]["variant"] == label]
    values = instance.optimal_value - evaluated(case, label)
    same(rows["return"], values.mean(0))
    assert np.all(rows["return_low"] <= rows["return"] + 1e-12)
    assert np.all(rows["return"] <= rows["return_high"] + 1e-12)
    assert np.all(values.min(0) - 1e-9 <= rows["return_low"]) and np.all(rows["return_high"] <= values.max(0) + 1e-9)


def test_returns_between_points_are_averages(case, instance, tmp_path):
    """With more episodes than points, a return is the mean of those since the last point."""
    K = 900
    run = make_run(instance, "random", "random", {}, range(TUNING, SEEDS), episodes=K)
    regret = np.random.default_rng(0).random((SEEDS - TUNING, K))
    rows = frames(written(tmp_path, {"random": ({**run[0], "regret": regret}, run[1])}))["curves"]
    points = [0, *rows["episode"]]
    assert len(points) < K
    expected = [instance.optimal_value - regret[:, a:b].mean() for a, b in pairwise(points)]
    same(rows["return"], expected)


# Roles and the tuned point.


def test_roles(tables):
    rows = tables["summary"].set_index("variant")
    assert rows["role"]["bef-rlsvi"] == rows["role"]["exp-psrl"] == "theory"
    assert rows["role"]["greedy"] == rows["role"]["random"] == "baseline"
    for agent, points in (("bef-rlsvi", 3), ("exp-psrl", 2)):
        on_grid = rows[rows.index.str.startswith(f"{agent}@")]
        assert sorted(on_grid["role"]) == ["grid"] * (points - 1) + ["tuned"]
        assert on_grid["role"][on_grid["tuning_mean"].idxmin()] == "tuned"
    assert rows["tuning_mean"][["bef-rlsvi", "greedy"]].isna().all()


def test_values_of_the_parameter(case, tables):
    rows = tables["summary"].set_index("variant")
    assert rows["parameter"].dropna().groupby(rows["agent"]).unique().map(list).to_dict() == {
        "bef-rlsvi": ["x"],
        "exp-psrl": ["scale"],
    }
    assert rows["value"]["bef-rlsvi@x=0.3"] == 0.3
    assert rows["value"]["exp-psrl@scale=2"] == 2.0
    same(rows["value"]["bef-rlsvi"], case["bef-rlsvi"][1]["facts"]["x"])
    assert rows["value"]["exp-psrl"] == 1.0


def test_the_setting_is_what_differs_from_the_defaults_off_the_grid(case, instance, tmp_path):
    own = {
        "mine": ("lsvi-ucb", {"share": "steps", "lam": 2.0}),
        "mine@lam=3": ("lsvi-ucb", {"share": "steps", "lam": 3}),
    }
    made = {label: make_run(instance, label, *entry, range(SEEDS)) for label, entry in own.items()}
    rows = frames(written(tmp_path, made | {"greedy": case["greedy"]}))["summary"].set_index("variant")
    assert rows["setting"]["mine"] == "share=steps lam=2.0"
    assert rows["setting"]["mine@lam=3"] == "share=steps"  # what the grid varies has columns of its own
    assert rows["setting"].isna()["greedy"]


def grid_case(case, tuning_regret, evaluation_regret):
    """The x grid with given regrets per point on tuning and on evaluation seeds."""
    labels = ["bef-rlsvi@x=0.3", "bef-rlsvi@x=3", "bef-rlsvi@x=30"]
    return {
        label: with_regret(case[label], [low] * TUNING + [high] * (SEEDS - TUNING))
        for label, low, high in zip(labels, tuning_regret, evaluation_regret, strict=True)
    }


def test_the_tuned_point_is_chosen_on_the_tuning_seeds_alone(case, tmp_path):
    """Best on the tuning seeds is worst on the others; what is shown is of the others."""
    rows = frames(written(tmp_path, grid_case(case, [5, 1, 2], [1, 9, 4])))["summary"].set_index("variant")
    assert rows["role"].tolist() == ["grid", "tuned", "grid"]
    same(rows["tuning_mean"], [5 * K, K, 2 * K])
    same(rows["mean"], [K, 9 * K, 4 * K])


@pytest.mark.parametrize(("tuning_regret", "edge"), [([1, 2, 3], 0), ([3, 1, 2], None), ([3, 2, 1], 2)])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0)])
def test_a_choice_at_the_edge_of_the_grid_is_flagged(case, tmp_path, tuning_regret, edge, order):
    """The edge is that of the values, however the grid is written."""
    made = list(grid_case(case, tuning_regret, [1, 1, 1]).items())
    rows = frames(written(tmp_path, dict(made[i] for i in order)))["summary"]
    flagged = rows[rows["at_edge"]]["variant"].tolist()
    assert flagged == ([] if edge is None else [made[edge][0]])


def test_constants_that_the_user_set_are_not_called_the_theorys(instance, tmp_path):
    """An agent at x = 3 off the grid must not be drawn as 'constants as in the theory'."""
    run = make_run(instance, "mine", "bef-rlsvi", {"x": 3.0}, range(2))
    assert frames(written(tmp_path, {"mine": run}, cuts=()), tuning=0)["summary"]["role"].tolist() != ["theory"]


def test_surrogate_constants_are_not_called_the_theorys(case, tmp_path):
    log, meta = case["exp-psrl"]
    tables = frames(written(tmp_path, {"exp-psrl": (log, meta | {"constants": "surrogate"})}))
    assert set(tables["summary"]["role"]) == set(tables["curves"]["role"]) == {"surrogate"}


# Files.


def test_the_wall_clock_time_of_all_batches_is_added_up(case, tmp_path):
    log, meta = case["greedy"]
    paths = written(tmp_path, {"greedy": (log, meta | {"seconds": 1.5})}, cuts=(4, 6))
    (row,) = frames(paths)["timings"].to_dict("records")
    assert (row["batches"], row["wall_seconds"]) == (3, 4.5)


def test_tables_are_the_same_every_time_and_however_the_seeds_are_cut(case, tmp_path):
    first = written(tmp_path / "a", case)
    texts = aggregate(first, TUNING, 500, 0.9)
    assert aggregate(first, TUNING, 500, 0.9) == texts
    other = aggregate(written(tmp_path / "b", case, cuts=(4, 6)), TUNING, 500, 0.9)
    assert all(other[name] == texts[name] for name in ("summary", "curves", "paired", "order"))
    last = aggregate(written(tmp_path / "c", {"greedy": case["greedy"]})[::-1], TUNING, 500, 0.9)["curves"]
    assert set(last.splitlines()) <= set(texts["curves"].splitlines())


@pytest.mark.parametrize("name", COLUMNS)
def test_the_head_documents_every_column(case, tmp_path, name):
    lines = aggregate(written(tmp_path, case), TUNING, 500, 0.9)[name].splitlines()
    documented = [re.fullmatch(r"# (\w+): (.+)", line) for line in lines if line.startswith("#")]
    header = lines[len(documented)]
    assert [match.group(1) for match in documented] == header.split(",") == list(COLUMNS[name])
    assert all(len(match.group(2)) > 5 for match in documented)


def test_a_table_is_read_back(tmp_path):
    path = tmp_path / "summary.csv"
    path.write_text("# a: text, with a comma\n# b: more\na,b\nname,1.5\n")
    assert tidy.read(path).to_dict("list") == {"a": ["name"], "b": [1.5]}


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\x00", b"a,b\n1,2,3\n4\n5,6,7,8\n"])
def test_a_bad_table_is_refused_with_its_path(tmp_path, content):
    path = tmp_path / "summary.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"summary\.csv: cannot be read as a befrl table"):
        tidy.read(path)


# What is refused.


def test_a_missing_batch_is_noticed(case, tmp_path):
    paths = [path for path in written(tmp_path, case) if path.parts[-2:] != ("random", "5-8.npz")]
    with pytest.raises(InputError, match=r"'random' are of other evaluation seeds.*run the missing batches"):
        aggregate(paths, TUNING, 500, 0.9)


def test_a_missing_file_is_named(case, tmp_path):
    paths = written(tmp_path, {"greedy": case["greedy"]})
    with pytest.raises(InputError, match=r"none\.npz: there is no such file"):
        aggregate([*paths, tmp_path / "none.npz"], TUNING, 500, 0.9)


def test_a_grid_without_tuning_seeds_is_refused(instance, tmp_path):
    run = make_run(instance, "bef-rlsvi@x=3", "bef-rlsvi", {"x": 3}, range(TUNING, SEEDS))
    with pytest.raises(InputError, match="'bef-rlsvi@x=3' have no tuning seeds: run seeds 0-2 too"):
        aggregate(written(tmp_path, {"bef-rlsvi@x=3": run}), TUNING, 500, 0.9)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("instance", {"name": "other"}),
        ("track", {"track": "K"}),
        ("episodes", {"episodes": K + 1}),
        ("root_seed", {"root_seed": 6}),
    ],
)
def test_runs_of_different_cases_are_not_mixed(instance, case, tmp_path, key, change):
    stranger = make_run(instance, "random", "random", {}, range(TUNING, SEEDS), **change)
    paths = written(tmp_path, {"greedy": case["greedy"], "random": stranger})
    with pytest.raises(InputError, match=f"'random' and 'greedy' differ in {key}"):
        aggregate(paths, TUNING, 500, 0.9)


def test_runs_of_different_instances_under_one_name_are_not_mixed(case, tmp_path):
    longer = instances.build("chain", {"bins": 3, "horizon": 5})
    stranger = make_run(longer, "random", "random", {}, range(TUNING, SEEDS))
    with pytest.raises(InputError):
        aggregate(written(tmp_path, {"greedy": case["greedy"], "random": stranger}), TUNING, 500, 0.9)


def test_batches_of_one_label_with_different_parameters_are_not_mixed(instance, case, tmp_path):
    stranger = make_run(instance, "greedy", "greedy", {"eta": 100.0}, range(6, SEEDS))
    own = make_run(instance, "greedy", "greedy", {}, range(TUNING, 6))
    paths = written(tmp_path, {"greedy": own}, cuts=()) + written(tmp_path, {"greedy": stranger}, cuts=())
    with pytest.raises(InputError):
        aggregate(paths, TUNING, 500, 0.9)


def test_batches_that_overlap_are_refused(case, tmp_path):
    """A seed that counts twice makes the interval too narrow."""
    paths = written(tmp_path, {"greedy": case["greedy"]})
    with pytest.raises(InputError):
        aggregate([*paths, paths[0]], TUNING, 500, 0.9)


def test_no_files_and_no_evaluation_seeds_are_refused(case, tmp_path):
    with pytest.raises(InputError):
        aggregate([], TUNING, 500, 0.9)
    with pytest.raises(InputError):
        aggregate(written(tmp_path, {"greedy": case["greedy"]}), SEEDS, 500, 0.9)
